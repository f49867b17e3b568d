import * as THREE from "three";
import { Arrows } from "./arrows";
import { Dots } from "./dots";
import { MODE_COLOURS, NORMAL_COLOUR, TOTAL_COLOUR, type Theme } from "./palette";
import { OPEN, type Run, type Sample } from "./run";
import { Patches } from "./pressure";
import { Triangles } from "./triangles";

export interface Layers {
  points: boolean;
  normals: boolean;
  totals: boolean;
  cones: boolean;
  pressure: boolean;
  ghost: boolean;
  labels: boolean;
}

export const MANY = 120; // contacts from which on the picture is simpler, so that software renderers keep up

// Section of a cone of height 1 and friction 1: where its rim is along t and o. In the plane its two edges, as where
// friction has one direction.
function rimOf(run: Run, many: boolean): [number, number][] {
  if (run.header.planar) {
    return [[1, 0], [-1, 0]];
  }
  if (run.header.cone === "box") {
    return [[1, 1], [-1, 1], [-1, -1], [1, -1], [1, 1]];
  }
  const sides = run.header.cone === "rays" ? run.header.rays : many ? 10 : 28;
  return Array.from({ length: sides + 1 }, (_, i) => [Math.cos((2 * Math.PI * i) / sides), Math.sin((2 * Math.PI * i) / sides)]);
}

// The contacts of one run at a frame: points, arrows, cones, and a ring around the selected one.
export class Forces {
  readonly group = new THREE.Group();
  samples: Sample[] = [];
  readonly largest: number; // N: largest normal force of the run
  private readonly points: Dots;
  private readonly cones: Triangles;
  private readonly patches: Patches;
  private readonly normals: Arrows;
  private readonly totals: Arrows;
  private readonly ring: THREE.Mesh;
  private readonly rim: [number, number][];
  private readonly many: boolean;
  private readonly modeColours = MODE_COLOURS.map((c) => new THREE.Color(c));

  // `size`: of a scene that the arrows suit.
  constructor(readonly run: Run, private readonly size: number) {
    const most = Math.max(1, run.mostContacts);
    this.many = most > MANY;
    this.rim = rimOf(run, this.many);
    this.largest = run.rows("fn").reduce((a, b) => Math.max(a, b), 0);
    this.points = new Dots(most, 14);
    this.cones = new Triangles(most * (this.rim.length - 1),
      { vertexColors: true, opacity: 0.3, side: this.many && !run.header.planar ? THREE.BackSide : THREE.DoubleSide }, 10);
    this.patches = new Patches(run, size);
    // The total is the wider one and beneath, so that both are seen where there is no friction.
    this.normals = new Arrows(most, NORMAL_COLOUR, 0.0065 * size, 13);
    this.totals = new Arrows(most, TOTAL_COLOUR, 0.0115 * size, 12);
    this.ring = new THREE.Mesh(new THREE.TorusGeometry(1, 0.16, 8, 32), new THREE.MeshBasicMaterial({ depthTest: false, transparent: true }));
    this.ring.renderOrder = 15;
    this.group.add(this.patches.mesh, this.cones.mesh, this.totals.mesh, this.normals.mesh, this.points.mesh, this.ring);
  }

  paint(theme: Theme) {
    this.points.paint(theme.dark ? "#0b0e12" : "#1d2733");
    (this.ring.material as THREE.MeshBasicMaterial).color.set(theme.text);
  }

  show(frame: number, layers: Layers, metresPerNewton: number, selected: number, camera: THREE.Camera) {
    this.samples = this.run.contactsAt(frame).map(({ contact, row }) => this.run.sample(contact, row));
    this.normals.begin(camera);
    this.totals.begin(camera);
    this.cones.begin();
    this.patches.begin();
    this.ring.visible = false;
    this.samples.forEach((s, i) => {
      const chosen = s.contact === selected, touching = s.mode !== OPEN;
      this.points.set(i, s.point, this.modeColours[s.mode], (touching ? 11 : 7) - (this.many ? 4 : 0) + (chosen ? 2 : 0));
      if (chosen && layers.points) {
        this.ring.visible = true;
        this.ring.position.set(...s.point);
        this.ring.scale.setScalar(this.size * 0.02);
        this.ring.quaternion.copy(camera.quaternion);
      }
      this.patches.add(s);
      if (touching) {
        this.addForces(s, metresPerNewton);
        this.addCone(s, metresPerNewton);
      }
    });
    this.points.end(this.samples.length, layers.points);
    this.cones.end(layers.cones);
    this.patches.end(layers.pressure);
    this.normals.end(layers.normals);
    this.totals.end(layers.totals);
  }

  private addForces(s: Sample, metresPerNewton: number) {
    const normal = s.normal.map((x) => s.fn * x);
    const total = normal.map((x, k) => x + s.tangents.reduce((sum, t, j) => sum + s.ft[j] * t[k], 0));
    this.normals.add(s.point, normal, metresPerNewton);
    this.totals.add(s.point, total, metresPerNewton);
  }

  // The cone's tip is the contact, its axis the normal, its height the normal force: the total force ends within it.
  private addCone(s: Sample, metresPerNewton: number) {
    const high = s.fn * metresPerNewton, wide = high * this.run.header.contacts[s.contact].mu;
    const along = this.run.header.contacts[s.contact].along;
    const rim: [number, number][] = along ? [[along[0], along[1]], [-along[0], -along[1]]] : this.rim;
    if (wide <= 0 || high < 1e-3 * this.size || !this.cones.room(rim.length - 1)) {
      return;
    }
    const [t, o] = s.tangents[1] ? s.tangents : [s.tangents[0], [0, 0, 1]], p = s.point, n = s.normal, colour = this.modeColours[s.mode];
    const put = ([a, b]: [number, number]) => this.cones.corner(p[0] + high * n[0] + wide * (a * t[0] + b * o[0]),
      p[1] + high * n[1] + wide * (a * t[1] + b * o[1]), p[2] + high * n[2] + wide * (a * t[2] + b * o[2]), colour);
    for (let i = 1; i < rim.length; i++) {
      this.cones.corner(p[0], p[1], p[2], colour);
      put(rim[i - 1]);
      put(rim[i]);
    }
  }
}
