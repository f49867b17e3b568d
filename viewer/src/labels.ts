import * as THREE from "three";
import type { Bodies } from "./bodies";
import type { Run } from "./run";
import type { Part } from "./view";

const CROWD = 30; // bodies from which on only those that matter now are named

// Names beside the bodies, as text of the page. One that would cover another moves up or down, or waits.
export class Labels {
  private readonly items: { body: number; element: HTMLElement; width: number }[] = [];

  constructor(box: HTMLElement, run: Run) {
    run.header.bodies.forEach((body, index) => {
      if (body.shapes.length + body.lines.length > 0) {
        const element = document.createElement("div");
        element.className = "label";
        element.textContent = body.name;
        box.append(element);
        this.items.push({ body: index, element, width: 0 });
      }
    });
    // What moves is named first; the ground finds another place.
    const last = (item: { body: number }) => Number(run.header.bodies[item.body].kind === "fixed");
    this.items.sort((a, b) => last(a) - last(b) || a.body - b.body);
  }

  hide() {
    this.items.forEach((item) => (item.element.style.visibility = "hidden"));
  }

  // `named`: the bodies that are named in a crowd.
  place(bodies: Bodies, camera: THREE.Camera, part: Part, named: number[]) {
    const height = part.height;
    const taken: { x: number; y: number; w: number }[] = [];
    const at = new THREE.Vector3();
    for (const item of this.items) {
      const node = bodies.nodes[item.body];
      let below = 0;
      let shown = (this.items.length <= CROWD || named.includes(item.body)) && node !== undefined && node.children.length > 0;
      if (shown) {
        below = this.anchor(node, at, camera, height);
        shown = Math.abs(at.x) < 1 && Math.abs(at.y) < 1 && at.z < 1;
      }
      if (shown) {
        item.width ||= item.element.offsetWidth || 7 * item.element.textContent!.length + 10;
        const x = Math.max(part.x + 4, Math.min(part.x + part.width - item.width - 4,
          part.x + (0.5 + 0.5 * at.x) * part.width - 0.5 * item.width));
        const y = [0, -18, 18, -36, 36].map((d) => part.y + (0.5 - 0.5 * at.y) * height - 9 + below + d)
          .find((c) => c > part.y + 2 && c < part.y + height - 20 &&
            taken.every((q) => Math.abs(q.y - c) >= 18 || x + item.width < q.x || x > q.x + q.w));
        shown = y !== undefined;
        if (shown) {
          taken.push({ x, y: y!, w: item.width });
          item.element.style.transform = `translate(${x.toFixed(1)}px, ${y!.toFixed(1)}px)`;
        }
      }
      item.element.style.visibility = shown ? "visible" : "hidden";
    }
  }

  // Small bodies have their name below them, large ones inside, above the middle where the arrows are; an endless one at
  // a place within the picture. Leaves the anchor in `at`, in the picture's coordinates, and returns the pixels below it.
  private anchor(node: THREE.Group, at: THREE.Vector3, camera: THREE.Camera, height: number): number {
    const mesh = node.children[0] as THREE.Mesh;
    mesh.geometry.boundingSphere ?? mesh.geometry.computeBoundingSphere();
    const sphere = mesh.geometry.boundingSphere!;
    if (mesh.userData.anchor) {
      at.copy(mesh.userData.anchor as THREE.Vector3).applyMatrix4(mesh.matrixWorld).project(camera);
      return 0;
    }
    at.copy(sphere.center);
    if (mesh.userData.part) { // of a skeleton: thin, so that its name stands beside its middle
      at.applyMatrix4(mesh.matrixWorld).project(camera);
      return 14;
    }
    at.applyMatrix4(mesh.matrixWorld);
    const side = new THREE.Vector3(0, sphere.radius, 0).applyQuaternion(camera.quaternion).add(at).project(camera);
    at.project(camera);
    const pixels = 0.5 * height * Math.abs(side.y - at.y);
    return pixels < 62 ? Math.max(14, pixels + 6) : -0.45 * pixels;
  }
}
