import * as THREE from "three";
import { OPEN, type Run, type Sample } from "./run";
import { MODE_COLOURS, NORMAL_COLOUR, TOTAL_COLOUR, type Theme } from "./palette";

export interface Layers {
  points: boolean;
  normals: boolean;
  totals: boolean;
  cones: boolean;
  labels: boolean;
}

const Z = new THREE.Vector3(0, 0, 1);

// Arrows as two instanced meshes, so that a thousand of them are two draw calls.
class Arrows {
  private readonly shafts: THREE.InstancedMesh;
  private readonly heads: THREE.InstancedMesh;
  private count = 0;
  private readonly matrix = new THREE.Matrix4();
  private readonly turn = new THREE.Quaternion();
  private readonly along = new THREE.Vector3();
  private readonly at = new THREE.Vector3();
  private readonly scale = new THREE.Vector3();

  constructor(capacity: number, colour: string, private readonly width: number, order: number) {
    const material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.95 });
    const shaft = new THREE.CylinderGeometry(1, 1, 1, 8, 1, true).translate(0, 0.5, 0).rotateX(Math.PI / 2);
    const head = new THREE.ConeGeometry(1, 1, 12).translate(0, 0.5, 0).rotateX(Math.PI / 2);
    this.shafts = new THREE.InstancedMesh(shaft, material, Math.max(1, capacity));
    this.heads = new THREE.InstancedMesh(head, material, Math.max(1, capacity));
    for (const mesh of [this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = order;
    }
  }

  addTo(group: THREE.Group) {
    group.add(this.shafts, this.heads);
  }

  begin() {
    this.count = 0;
  }

  add(point: number[], force: number[], metresPerNewton: number) {
    const length = Math.hypot(force[0], force[1], force[2]) * metresPerNewton;
    if (length <= 0.02 * this.width || this.count >= this.shafts.instanceMatrix.count) {
      return;
    }
    this.along.set(force[0], force[1], force[2]).normalize();
    this.turn.setFromUnitVectors(Z, this.along);
    const head = Math.min(4.5 * this.width, 0.5 * length), thick = Math.min(this.width, 0.25 * length);
    this.at.set(point[0], point[1], point[2]);
    this.matrix.compose(this.at, this.turn, this.scale.set(0.5 * thick, 0.5 * thick, length - head));
    this.shafts.setMatrixAt(this.count, this.matrix);
    this.at.addScaledVector(this.along, length - head);
    this.matrix.compose(this.at, this.turn, this.scale.set(1.5 * thick, 1.5 * thick, head));
    this.heads.setMatrixAt(this.count++, this.matrix);
  }

  end(visible: boolean) {
    for (const mesh of [this.shafts, this.heads]) {
      mesh.count = this.count;
      mesh.visible = visible && this.count > 0;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}

// A cone whose tip is the contact and whose axis is the normal: radius 1 at height 1. In the plane a wedge.
function coneGeometry(run: Run): THREE.BufferGeometry {
  if (run.header.planar) {
    const wedge = new THREE.BufferGeometry();
    wedge.setAttribute("position", new THREE.Float32BufferAttribute([0, 0, 0, 1, 0, 1, -1, 0, 1], 3));
    return wedge;
  }
  const box = run.header.cone === "box", rays = run.header.cone === "rays" ? run.header.rays : box ? 4 : 28;
  const radius = box ? Math.SQRT2 : 1, from = box ? Math.PI / 4 : 0;
  const points: number[] = [];
  for (let i = 0; i < rays; i++) {
    const a = from + (2 * Math.PI * i) / rays, b = from + (2 * Math.PI * (i + 1)) / rays;
    points.push(0, 0, 0, radius * Math.cos(a), radius * Math.sin(a), 1, radius * Math.cos(b), radius * Math.sin(b), 1);
  }
  const cone = new THREE.BufferGeometry();
  cone.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return cone;
}

// The contacts of one run at a frame: points, arrows, cones, and a ring around the selected one.
export class Forces {
  readonly group = new THREE.Group();
  samples: Sample[] = [];
  readonly largest: number; // N: largest normal force of the run
  private readonly points: THREE.InstancedMesh;
  private readonly cones: THREE.InstancedMesh;
  private readonly normals: Arrows;
  private readonly totals: Arrows;
  private readonly ring: THREE.Mesh;
  private readonly matrix = new THREE.Matrix4();
  private readonly colour = new THREE.Color();
  private readonly modeColours = MODE_COLOURS.map((c) => new THREE.Color(c));

  constructor(readonly run: Run, private readonly size: number) {
    let most = 1;
    for (let f = 0; f < run.frames; f++) {
      most = Math.max(most, run.contactsAt(f).length);
    }
    this.largest = run.rows("fn").reduce((a, b) => Math.max(a, b), 0);
    const dot = new THREE.SphereGeometry(1, 12, 8);
    const overlay = { depthTest: false, transparent: true };
    this.points = new THREE.InstancedMesh(dot, new THREE.MeshBasicMaterial(overlay), most);
    this.cones = new THREE.InstancedMesh(coneGeometry(run),
      new THREE.MeshBasicMaterial({ ...overlay, opacity: 0.3, side: THREE.DoubleSide, depthWrite: false }), most);
    // The total is the wider one and beneath, so that both are seen where there is no friction.
    this.normals = new Arrows(most, NORMAL_COLOUR, 0.0065 * size, 13);
    this.totals = new Arrows(most, TOTAL_COLOUR, 0.0115 * size, 12);
    this.ring = new THREE.Mesh(new THREE.TorusGeometry(1, 0.16, 8, 32), new THREE.MeshBasicMaterial(overlay));
    this.points.frustumCulled = this.cones.frustumCulled = false;
    this.cones.renderOrder = 10;
    this.points.renderOrder = 14;
    this.ring.renderOrder = 15;
    this.group.add(this.cones, this.points, this.ring);
    this.normals.addTo(this.group);
    this.totals.addTo(this.group);
  }

  paint(theme: Theme) {
    (this.ring.material as THREE.MeshBasicMaterial).color.set(theme.text);
  }

  show(frame: number, layers: Layers, metresPerNewton: number, selected: number, camera: THREE.Camera) {
    this.samples = this.run.contactsAt(frame).map(({ contact, row }) => this.run.sample(contact, row));
    this.normals.begin();
    this.totals.begin();
    this.ring.visible = false;
    let cones = 0;
    this.samples.forEach((s, i) => {
      const chosen = s.contact === selected;
      const r = this.size * (s.mode === OPEN ? 0.006 : 0.0095) * (chosen ? 1.25 : 1);
      this.points.setMatrixAt(i, this.matrix.makeScale(r, r, r).setPosition(...s.point));
      this.points.setColorAt(i, this.colour.copy(this.modeColours[s.mode]));
      if (chosen && layers.points) {
        this.ring.visible = true;
        this.ring.position.set(...s.point);
        this.ring.scale.setScalar(this.size * 0.02);
        this.ring.quaternion.copy(camera.quaternion);
      }
      if (s.mode !== OPEN) {
        this.addForces(s, metresPerNewton);
        cones += this.addCone(s, cones, metresPerNewton) ? 1 : 0;
      }
    });
    this.points.count = this.samples.length;
    this.points.visible = layers.points && this.samples.length > 0;
    this.points.instanceMatrix.needsUpdate = true;
    if (this.points.instanceColor) {
      this.points.instanceColor.needsUpdate = true;
    }
    this.cones.count = cones;
    this.cones.visible = layers.cones && cones > 0;
    this.cones.instanceMatrix.needsUpdate = true;
    if (this.cones.instanceColor) {
      this.cones.instanceColor.needsUpdate = true;
    }
    this.normals.end(layers.normals);
    this.totals.end(layers.totals);
  }

  private addForces(s: Sample, metresPerNewton: number) {
    const normal = s.normal.map((x) => s.fn * x);
    const total = normal.map((x, k) => x + s.tangents.reduce((sum, t, j) => sum + s.ft[j] * t[k], 0));
    this.normals.add(s.point, normal, metresPerNewton);
    this.totals.add(s.point, total, metresPerNewton);
  }

  private addCone(s: Sample, at: number, metresPerNewton: number): boolean {
    const mu = this.run.header.contacts[s.contact].mu, height = s.fn * metresPerNewton;
    if (mu <= 0 || height < 1e-3 * this.size) {
      return false;
    }
    const t = new THREE.Vector3(...s.tangents[0]), n = new THREE.Vector3(...s.normal);
    const o = s.tangents[1] ? new THREE.Vector3(...s.tangents[1]) : new THREE.Vector3(0, 0, 1);
    this.matrix.makeBasis(t.multiplyScalar(mu * height), o.multiplyScalar(mu * height), n.multiplyScalar(height));
    this.cones.setMatrixAt(at, this.matrix.setPosition(...s.point));
    this.cones.setColorAt(at, this.colour.copy(this.modeColours[s.mode]));
    return true;
  }
}
