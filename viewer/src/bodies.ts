import * as THREE from "three";
import type { Body, Shape } from "./format";
import type { Run } from "./run";
import { geometryOf, isEndless, reachOf } from "./shapes";
import { AXIS_COLOUR, BODY_COLOURS, FIXED_COLOUR, type Theme } from "./palette";

export interface Extent {
  centre: THREE.Vector3;
  size: number; // diagonal of the box around all that is bounded, over the whole run
  arrow: number; // length of the arrow of the largest force, to suit the bodies
}

const SHIFT = 0.05; // of the scene: how far a ghost moves
const ROD = 0.006; // of the scene: radius of the rods of a skeleton
const MOST_OUTLINED = 100; // shapes; of more, edges are not drawn: they double the work
const GROUND = 6; // times larger than most shapes: a table, which does not say how large the scene is

// Where a shape is in its body, and how far it goes from there: points may be all on one side of their origin.
function ballOf(shape: Shape): { centre: THREE.Vector3; reach: number } {
  const at = new THREE.Vector3(...(shape.position as [number, number, number])), [w, x, y, z] = shape.quat;
  const points = shape.points?.map((p) => new THREE.Vector3(p[0], p[1], p[2] ?? 0)) ?? [];
  if (points.length === 0) {
    return { centre: at, reach: reachOf(shape) };
  }
  const middle = new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3());
  return { centre: middle.clone().applyQuaternion(new THREE.Quaternion(x, y, z, w)).add(at), reach: Math.max(...points.map((p) => p.distanceTo(middle))) };
}

// Around every bounded shape over the run; looks at some thirty frames.
export function extentOf(runs: Run[]): Extent {
  const box = new THREE.Box3();
  const pose: number[] = [];
  const reaches = runs[0].header.bodies.flatMap((b) => b.shapes.map((s) => ballOf(s).reach)).filter((r) => r > 0).sort((a, b) => a - b);
  const usual = reaches[reaches.length >> 1] ?? 0;
  for (const run of runs) {
    const stride = Math.max(1, Math.floor(run.frames / 30));
    run.header.bodies.forEach((body, b) => {
      const balls = body.shapes.filter((s) => !isEndless(s)).map(ballOf).filter((ball) => ball.reach <= GROUND * usual);
      for (let f = 0; f < run.frames; f += stride) {
        run.pose(b, f, pose);
        const at = new THREE.Vector3(pose[0], pose[1], run.header.planar ? 0 : pose[2]);
        const turn = quaternionOf(pose, run.header.planar);
        for (const ball of balls) {
          const centre = ball.centre.clone().applyQuaternion(turn).add(at);
          const r = Math.max(1e-9, ball.reach * 0.8);
          const z = run.header.planar ? 0 : r;
          box.expandByPoint(centre.clone().add(new THREE.Vector3(r, r, z)));
          box.expandByPoint(centre.clone().sub(new THREE.Vector3(r, r, z)));
        }
        for (const line of body.lines) {
          for (const end of [0, 3]) {
            box.expandByPoint(new THREE.Vector3(line[end], line[end + 1], line[end + 2]).applyQuaternion(turn).add(at));
          }
        }
      }
    });
  }
  if (box.isEmpty()) {
    box.set(new THREE.Vector3(-0.5, -0.5, 0), new THREE.Vector3(0.5, 0.5, 0));
  }
  const size = Math.max(1e-6, box.getSize(new THREE.Vector3()).length());
  return { centre: box.getCenter(new THREE.Vector3()), size, arrow: Math.min(0.22 * size, usual > 0 ? 3 * usual : size) };
}

export function quaternionOf(pose: number[], planar: boolean): THREE.Quaternion {
  return planar
    ? new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, 0, 1), pose[2])
    : new THREE.Quaternion(pose[4], pose[5], pose[6], pose[3]);
}

// The bodies of one run as meshes that `show` moves to a frame.
export class Bodies {
  readonly group = new THREE.Group();
  readonly nodes: THREE.Group[] = [];
  private readonly edges: THREE.LineBasicMaterial;
  private readonly grids: THREE.LineBasicMaterial;
  private readonly outlined: boolean;
  private readonly size: number;
  private readonly grounds: THREE.MeshBasicMaterial[] = [];

  constructor(readonly run: Run, extent: Extent, private readonly ghost: boolean) {
    this.size = extent.size;
    this.edges = new THREE.LineBasicMaterial({ transparent: true, opacity: ghost ? 0.9 : 0.55 });
    this.grids = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.55 });
    this.outlined = run.header.bodies.reduce((sum, body) => sum + body.shapes.length, 0) <= MOST_OUTLINED;
    let moving = 0;
    let ground = false;
    run.header.bodies.forEach((body) => {
      const node = new THREE.Group();
      const colour = body.kind === "fixed" ? FIXED_COLOUR : BODY_COLOURS[moving++ % BODY_COLOURS.length];
      for (const shape of body.shapes) {
        ground ||= isEndless(shape);
        this.addShape(node, shape, colour, extent);
      }
      this.addSkeleton(node, body, colour, extent);
      this.nodes.push(node);
      this.group.add(node);
    });
    if (!ground && !ghost && !run.header.planar) {
      this.group.add(this.grid(2 * extent.size));
    }
  }

  private addShape(node: THREE.Group, shape: Run["header"]["bodies"][0]["shapes"][0], colour: string, extent: Extent) {
    const endless = isEndless(shape);
    if (endless && this.ghost) {
      return; // the ground of the first run is ground enough
    }
    const geometry = geometryOf(shape, this.run.header.planar, 2 * extent.size, 0.12 * extent.size);
    if (!geometry) {
      return;
    }
    const options = {
      color: colour, side: THREE.DoubleSide, transparent: this.ghost || endless,
      opacity: this.ghost ? 0.22 : endless ? (this.run.header.planar ? 0.5 : 0.28) : 1, depthWrite: !this.ghost && !endless,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
    };
    // What fills the picture behind everything is not shaded: that is calmer, and half the work in software.
    const ground = endless || reachOf(shape) > extent.size;
    const mesh = new THREE.Mesh(geometry, ground ? new THREE.MeshBasicMaterial(options)
      : new THREE.MeshLambertMaterial({ ...options, flatShading: shape.kind === "mesh" }));
    if (ground) {
      this.grounds.push(mesh.material as THREE.MeshBasicMaterial);
    }
    mesh.position.set(shape.position[0], shape.position[1], shape.position[2]);
    mesh.quaternion.set(shape.quat[1], shape.quat[2], shape.quat[3], shape.quat[0]);
    if (endless) {
      mesh.userData.anchor = this.groundAnchor(shape, extent);
    }
    if (shape.kind === "plane") {
      const grid = this.grid(2 * extent.size);
      const normal = new THREE.Vector3(...(shape.normal as [number, number, number]));
      grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
      grid.position.copy(normal.multiplyScalar(shape.offset! + 1e-4 * extent.size));
      mesh.add(grid);
    } else if (this.outlined) {
      mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 35), this.edges));
    }
    node.add(mesh);
  }

  // Rods between the anchors of joints, and the axes of these: a bolt about which a joint turns, a thin rail along which
  // it slides, a ball.
  private addSkeleton(node: THREE.Group, body: Body, colour: string, extent: Extent) {
    const material = (tint: string) => new THREE.MeshLambertMaterial({
      color: tint, transparent: this.ghost, opacity: this.ghost ? 0.3 : 1, depthWrite: !this.ghost });
    const thick = ROD * extent.size;
    const add = (geometry: THREE.BufferGeometry, tint: string, part: string) => {
      const mesh = new THREE.Mesh(geometry, material(tint));
      mesh.userData.part = part;
      node.add(mesh);
      return mesh;
    };
    for (const [x, y, z, toX, toY, toZ] of body.lines) {
      const from = new THREE.Vector3(x, y, z), along = new THREE.Vector3(toX, toY, toZ).sub(from);
      const rod = add(new THREE.CylinderGeometry(thick, thick, along.length(), 12), colour, "rod");
      rod.position.copy(from).addScaledVector(along, 0.5);
      rod.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
    }
    if (body.axis) {
      const slides = body.axis.kind === "prismatic", ball = body.axis.kind === "ball";
      const radius = slides ? 0.5 * thick : 1.8 * thick, length = slides ? 14 * thick : 5 * thick;
      const bolt = add(ball ? new THREE.SphereGeometry(2.2 * thick, 16, 12) : new THREE.CylinderGeometry(radius, radius, length, 16), AXIS_COLOUR, "axis");
      bolt.position.set(body.axis.at[0], body.axis.at[1], body.axis.at[2]);
      const along = new THREE.Vector3(body.axis.along[0], body.axis.along[1], body.axis.along[2]);
      bolt.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.lengthSq() > 0 ? along.normalize() : new THREE.Vector3(0, 0, 1));
    }
  }

  // A place on an endless shape beside the middle of the scene, for its name; in the plane a little below the surface.
  private groundAnchor(shape: Run["header"]["bodies"][0]["shapes"][0], extent: Extent): THREE.Vector3 {
    const normal = new THREE.Vector3(...(shape.normal as [number, number, number]));
    const aside = this.run.header.planar ? new THREE.Vector3(normal.y, -normal.x, 0)
      : Math.abs(normal.x) > 0.9 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(1, 0, 0);
    const depth = normal.dot(extent.centre) - shape.offset! + (this.run.header.planar ? 0.06 * extent.size : 0);
    return extent.centre.clone().addScaledVector(normal, -depth).addScaledVector(aside, 0.4 * extent.size);
  }

  // Lines at a round distance from each other, in the plane z = 0.
  private grid(reach: number): THREE.LineSegments {
    const raw = reach / 10, power = 10 ** Math.floor(Math.log10(raw));
    const gap = [1, 2, 5, 10].map((k) => k * power).find((g) => g >= raw)!;
    const count = Math.floor(reach / gap);
    const points: number[] = [];
    for (let i = -count; i <= count; i++) {
      points.push(i * gap, -count * gap, 0, i * gap, count * gap, 0, -count * gap, i * gap, 0, count * gap, i * gap, 0);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    const lines = new THREE.LineSegments(geometry, this.grids);
    lines.renderOrder = 1;
    return lines;
  }

  paint(theme: Theme, ghostColour: string) {
    this.edges.color.set(this.ghost ? ghostColour : theme.edge);
    this.grids.color.set(theme.grid);
    this.grounds.forEach((material) => material.color.set(theme.ground));
  }

  show(frame: number) {
    const pose: number[] = [];
    const planar = this.run.header.planar;
    this.nodes.forEach((node, b) => {
      this.run.pose(b, frame, pose);
      node.visible = true;
      node.position.set(pose[0], pose[1], planar ? 0 : pose[2]);
      node.quaternion.copy(quaternionOf(pose, planar));
    });
  }

  // Only what a motion moves, `way` (of what can be seen well) along it.
  showMoved(frame: number, twists: Float32Array, way: number) {
    this.show(frame);
    const step = (way * SHIFT * this.size) / this.fastest(twists);
    this.nodes.forEach((node, b) => {
      const [vx, vy, vz, wx, wy, wz] = twists.subarray(6 * b, 6 * b + 6), turning = Math.hypot(wx, wy, wz);
      node.visible = turning > 0 || Math.hypot(vx, vy, vz) > 0;
      node.position.add(new THREE.Vector3(vx, vy, vz).multiplyScalar(step));
      if (turning > 0) {
        node.quaternion.premultiply(new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(wx, wy, wz).divideScalar(turning), turning * step));
      }
    });
  }

  // How fast the farthest point of any body moves.
  private fastest(twists: Float32Array): number {
    return this.run.header.bodies.reduce((most, body, b) => {
      const reach = Math.max(0, ...body.shapes.filter((s) => !isEndless(s)).map((s) => Math.hypot(...s.position) + reachOf(s)),
        ...body.lines.map((l) => Math.max(Math.hypot(l[0], l[1], l[2]), Math.hypot(l[3], l[4], l[5]))));
      const [vx, vy, vz, wx, wy, wz] = twists.subarray(6 * b, 6 * b + 6);
      return Math.max(most, Math.hypot(vx, vy, vz) + reach * Math.hypot(wx, wy, wz));
    }, 1e-9);
  }
}
