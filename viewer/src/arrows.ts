import * as THREE from "three";
import { Triangles } from "./triangles";

// Arrows as flat strips turned towards whoever looks: three triangles each.
export class Arrows {
  private readonly triangles: Triangles;
  private readonly along = new THREE.Vector3();
  private readonly side = new THREE.Vector3();
  private readonly view = new THREE.Vector3();
  private readonly eye = new THREE.Vector3();
  private flat = false;

  constructor(capacity: number, colour: string, private readonly width: number, order: number) {
    this.triangles = new Triangles(3 * capacity, { color: colour, side: THREE.DoubleSide }, order);
  }

  get mesh(): THREE.Mesh {
    return this.triangles.mesh;
  }

  begin(camera: THREE.Camera) {
    this.triangles.begin();
    this.flat = camera instanceof THREE.OrthographicCamera;
    if (this.flat) {
      camera.getWorldDirection(this.view).negate();
    } else {
      camera.getWorldPosition(this.eye);
    }
  }

  add(point: readonly number[], force: readonly number[], metresPerNewton: number) {
    const length = Math.hypot(force[0], force[1], force[2]) * metresPerNewton;
    if (length <= 0.02 * this.width || !this.triangles.room(3)) {
      return;
    }
    const { along, side, view } = this;
    along.set(force[0], force[1], force[2]).normalize();
    if (!this.flat) {
      view.set(this.eye.x - point[0], this.eye.y - point[1], this.eye.z - point[2]).normalize();
    }
    side.crossVectors(along, view);
    if (side.lengthSq() < 1e-12) { // seen from its tip: any side will do
      side.set(along.z, along.x, along.y).cross(along);
    }
    side.normalize();
    const head = Math.min(4.5 * this.width, 0.5 * length), thick = 0.5 * Math.min(this.width, 0.25 * length);
    const put = (at: number, aside: number) => this.triangles.corner(point[0] + at * along.x + aside * side.x,
      point[1] + at * along.y + aside * side.y, point[2] + at * along.z + aside * side.z);
    const neck = length - head;
    put(0, -thick);
    put(0, thick);
    put(neck, thick);
    put(0, -thick);
    put(neck, thick);
    put(neck, -thick);
    put(neck, -3 * thick);
    put(neck, 3 * thick);
    put(length, 0);
  }

  end(visible: boolean) {
    this.triangles.end(visible);
  }
}
