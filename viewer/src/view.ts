import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Bodies, extentOf, type Extent } from "./bodies";
import { Forces, MANY, type Layers } from "./forces";
import { Labels } from "./labels";
import { GHOST_COLOUR, RUN_COLOURS, type Theme } from "./palette";
import type { Run } from "./run";

// Where one looks from, in metres.
export interface Camera {
  from: number[];
  at: number[];
  flatFrom: number[];
  flatAt: number[];
  flatScale: number; // zoom over the extent of the scene
}

export type Arrangement = "one" | "overlay" | "split";

// Where the picture is seen from: along an axis of the world, or the usual place at an angle.
export type Preset = "angle" | "top" | "front" | "side";
const FROM: Record<Preset, [number, number, number]> = {
  angle: [0.75, -1.15, 0.62], top: [0, 0, 1.5], front: [0, -1.5, 0], side: [1.5, 0, 0],
};
const FIELD = 38; // degrees: of view, upright; of a picture that is higher than wide across

// A part of the canvas, px from its upper left corner.
export interface Part {
  run: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface ViewState {
  frames: number[]; // of each run
  primary: number;
  arrangement: Arrangement;
  flat: boolean;
  layers: Layers;
  selected: number; // contact of the primary run
  arrowScale: number;
  follow: number; // body, -1: none
  ghostWay: number; // how far ghosts are along their motion: -1 to 1
}

// The most contacts that any frame has.
function mostContacts(runs: Run[]): number {
  return Math.max(0, ...runs.map((run) => run.mostContacts));
}

// The picture. One renderer; runs side by side are parts of its canvas.
export class View {
  readonly extent: Extent;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly solid: Bodies[];
  private readonly ghosts: Bodies[];
  private readonly forces: Forces[];
  private readonly perspective = new THREE.PerspectiveCamera(FIELD, 1, 0.01, 100);
  private readonly flatCamera = new THREE.OrthographicCamera();
  private readonly orbit: OrbitControls;
  private readonly slide: OrbitControls;
  private readonly labels: Labels;
  private readonly planar: boolean;
  private flat = false;
  private drawnHeight = 1; // px, of a part of the canvas
  private followed: THREE.Vector3 | null = null;
  private moved = false; // by hand, since the last home()
  private theme: Theme | null = null;
  readonly metresPerNewton: number;

  constructor(private readonly box: HTMLElement, private readonly runs: Run[], private readonly redraw: () => void) {
    this.planar = runs[0].header.planar;
    this.renderer = new THREE.WebGLRenderer({ antialias: mostContacts(runs) <= MANY, powerPreference: "low-power", preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.autoClear = false;
    const canvas = this.renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "the bodies and their contact forces at the time shown");
    box.prepend(canvas);
    this.extent = extentOf(runs);
    this.solid = runs.map((run) => new Bodies(run, this.extent, false));
    this.ghosts = runs.map((run) => new Bodies(run, this.extent, true));
    this.forces = runs.map((run) => new Forces(run, this.extent.arrow / 0.22));
    for (const part of [...this.solid, ...this.ghosts, ...this.forces]) {
      this.scene.add(part.group);
    }
    const largest = Math.max(...this.forces.map((f) => f.largest));
    this.metresPerNewton = largest > 0 ? this.extent.arrow / largest : 0;
    const key = new THREE.DirectionalLight(0xffffff, 1.7);
    key.position.set(0.5, -0.8, 1.4);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8c96a3, 1.9), key);
    this.orbit = new OrbitControls(this.perspective, canvas);
    this.slide = new OrbitControls(this.flatCamera, canvas);
    this.slide.enableRotate = false;
    this.slide.mouseButtons = { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.PAN };
    for (const control of [this.orbit, this.slide]) {
      control.addEventListener("change", this.redraw);
      control.addEventListener("start", () => { this.moved = true; });
    }
    this.labels = new Labels(box, runs[0]);
    this.home();
    this.setFlat(this.planar);
  }

  private get camera(): THREE.Camera {
    return this.flat ? this.flatCamera : this.perspective;
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  setFlat(flat: boolean) {
    this.flat = flat && this.planar;
    this.orbit.enabled = !this.flat;
    this.slide.enabled = this.flat;
  }

  home(preset: Preset = "angle") {
    const { centre, size } = this.extent;
    this.perspective.up.set(0, this.planar ? 1 : 0, this.planar ? 0 : 1);
    const from = this.planar ? new THREE.Vector3(0.35, 0.35, 1.5) : new THREE.Vector3(...FROM[preset]);
    this.perspective.position.copy(centre).addScaledVector(from, 1.12 * size);
    this.perspective.near = 0.01 * size;
    this.perspective.far = 40 * size;
    this.orbit.target.copy(centre);
    this.flatCamera.position.copy(centre).add(new THREE.Vector3(0, 0, 10 * size));
    this.flatCamera.near = 0.1 * size;
    this.flatCamera.far = 40 * size;
    this.flatCamera.zoom = 1;
    this.slide.target.copy(centre);
    this.followed = null;
    this.moved = false;
    this.orbit.update();
    this.slide.update();
  }

  // For another page of the same scene; null: nobody has moved it, so that the other is to show its own whole scene.
  keepCamera(): Camera | null {
    return this.moved ? {
      from: this.perspective.position.toArray(), at: this.orbit.target.toArray(), flatFrom: this.flatCamera.position.toArray(),
      flatAt: this.slide.target.toArray(), flatScale: this.flatCamera.zoom / this.extent.size,
    } : null;
  }

  restoreCamera(camera: Camera) {
    this.perspective.position.fromArray(camera.from);
    this.orbit.target.fromArray(camera.at);
    this.flatCamera.position.fromArray(camera.flatFrom);
    this.slide.target.fromArray(camera.flatAt);
    this.flatCamera.zoom = camera.flatScale * this.extent.size;
    this.moved = true;
    this.orbit.update();
    this.slide.update();
  }

  paint(theme: Theme) {
    this.theme = theme;
    this.renderer.setClearColor(theme.background);
    this.solid.forEach((b) => b.paint(theme, theme.edge));
    this.forces.forEach((f) => f.paint(theme));
  }

  resize() {
    const width = Math.max(1, this.box.clientWidth), height = Math.max(1, this.box.clientHeight);
    this.renderer.setSize(width, height, false);
  }

  // Where the parts of the canvas are: one, or one for each run, side by side or, where it is narrow, below each other.
  parts(state: ViewState): Part[] {
    const width = this.box.clientWidth, height = this.box.clientHeight;
    if (state.arrangement !== "split") {
      return [{ run: state.primary, x: 0, y: 0, width, height }];
    }
    const count = this.runs.length;
    return this.runs.map((_, run) => (width >= height
      ? { run, x: (run * width) / count, y: 0, width: width / count, height }
      : { run, x: 0, y: (run * height) / count, width, height: height / count }));
  }

  draw(state: ViewState) {
    const height = this.box.clientHeight;
    this.setFlat(state.flat);
    this.drawnHeight = Math.max(1, this.parts(state)[0].height);
    this.renderer.setScissorTest(true);
    this.follow(state);
    for (const part of this.parts(state)) {
      this.shape(part.width / Math.max(1, part.height));
      this.show(state, part.run);
      const bottom = height - part.y - part.height;
      this.renderer.setViewport(part.x, bottom, part.width, part.height);
      this.renderer.setScissor(part.x, bottom, part.width, part.height);
      this.renderer.clear();
      this.renderer.render(this.scene, this.camera);
    }
    const first = this.parts(state).find((p) => p.run === state.primary)!;
    this.shape(first.width / Math.max(1, first.height));
    const contact = this.runs[state.primary].header.contacts[state.selected];
    const named = [state.follow, ...(contact ? [contact.a, contact.b] : [])];
    if (state.layers.labels) {
      this.labels.place(this.solid[state.primary], this.camera, first, named);
    } else {
      this.labels.hide();
    }
  }

  private shape(aspect: number) {
    this.perspective.aspect = aspect;
    this.perspective.fov = (360 / Math.PI) * Math.atan(Math.tan((FIELD * Math.PI) / 360) / Math.min(1, aspect));
    this.perspective.updateProjectionMatrix();
    const half = 0.56 * this.extent.size / Math.min(1, aspect), c = this.flatCamera;
    c.left = -half * aspect;
    c.right = half * aspect;
    c.top = half;
    c.bottom = -half;
    c.updateProjectionMatrix();
  }

  private follow(state: ViewState) {
    if (state.follow < 0) {
      this.followed = null;
      return;
    }
    const pose: number[] = [];
    this.runs[state.primary].pose(state.follow, state.frames[state.primary], pose);
    const at = new THREE.Vector3(pose[0], pose[1], this.planar ? 0 : pose[2]);
    const shift = at.clone().sub(this.followed ?? (this.flat ? this.slide.target : this.orbit.target));
    for (const control of [this.orbit, this.slide]) {
      control.target.add(shift);
      control.object.position.add(shift);
    }
    this.followed = at;
    this.camera.updateMatrixWorld();
  }

  private show(state: ViewState, run: number) {
    this.solid.forEach((bodies, i) => {
      bodies.group.visible = i === run;
      this.ghosts[i].group.visible = state.arrangement === "overlay" && i !== run;
      this.forces[i].group.visible = i === run;
      const shown = bodies.group.visible ? bodies : this.ghosts[i];
      shown.show(state.frames[i]);
      this.ghosts[i].paint(this.theme!, i === run ? GHOST_COLOUR[this.theme!.dark ? "dark" : "light"] : RUN_COLOURS[i % RUN_COLOURS.length]);
    });
    const motion = state.layers.ghost ? this.runs[run].ghost(state.frames[run]) : null;
    if (motion) {
      this.ghosts[run].group.visible = true;
      this.ghosts[run].showMoved(state.frames[run], motion.twists, state.ghostWay);
    }
    const selected = run === state.primary || state.selected < 0
      ? state.selected : this.runs[run].findContact(this.runs[state.primary], state.selected);
    this.forces[run].show(state.frames[run], state.layers, this.metresPerNewton * state.arrowScale, selected, this.camera);
  }

  // Pixels on the screen of one metre at the middle of the picture: for the legend of the arrows.
  pixelsPerMetre(): number {
    const height = this.drawnHeight;
    if (this.flat) {
      return (height * this.flatCamera.zoom) / (this.flatCamera.top - this.flatCamera.bottom);
    }
    const distance = this.perspective.position.distanceTo(this.orbit.target);
    return height / (2 * distance * Math.tan((this.perspective.fov * Math.PI) / 360));
  }

  // The contact of the primary run nearest to a place of the canvas, within a finger's breadth; -1: none.
  pick(state: ViewState, x: number, y: number): number {
    const part = this.parts(state).find((p) => p.run === state.primary)!;
    this.shape(part.width / Math.max(1, part.height));
    let best = -1, nearest = 16;
    const at = new THREE.Vector3();
    for (const s of this.forces[state.primary].samples) {
      at.set(...s.point).project(this.camera);
      const d = Math.hypot(part.x + (0.5 + 0.5 * at.x) * part.width - x, part.y + (0.5 - 0.5 * at.y) * part.height - y);
      if (d < nearest) {
        nearest = d;
        best = s.contact;
      }
    }
    return best;
  }

  // Waits until the picture is there: for measuring.
  finish() {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}
