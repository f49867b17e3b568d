import * as THREE from "three";

// Triangles that are written anew for every frame, in one draw call. Instancing would be the usual way, but a software
// renderer takes each instance for a draw of its own.
export class Triangles {
  readonly mesh: THREE.Mesh;
  private readonly corners: THREE.BufferAttribute;
  private readonly colours: THREE.BufferAttribute | null;
  private count = 0; // corners

  constructor(capacity: number, options: THREE.MeshBasicMaterialParameters, order: number) {
    const geometry = new THREE.BufferGeometry();
    this.corners = new THREE.BufferAttribute(new Float32Array(9 * capacity), 3).setUsage(THREE.DynamicDrawUsage);
    this.colours = options.vertexColors ? new THREE.BufferAttribute(new Float32Array(9 * capacity), 3).setUsage(THREE.DynamicDrawUsage) : null;
    geometry.setAttribute("position", this.corners);
    if (this.colours) {
      geometry.setAttribute("color", this.colours);
    }
    this.mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ depthTest: false, depthWrite: false, transparent: true, ...options }));
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = order;
  }

  begin() {
    this.count = 0;
  }

  // False: there is no room for that many more.
  room(triangles: number): boolean {
    return this.count + 3 * triangles <= this.corners.count;
  }

  corner(x: number, y: number, z: number, colour?: THREE.Color) {
    const values = this.corners.array, at = 3 * this.count++;
    values[at] = x;
    values[at + 1] = y;
    values[at + 2] = z;
    if (this.colours && colour) {
      const colours = this.colours.array;
      colours[at] = colour.r;
      colours[at + 1] = colour.g;
      colours[at + 2] = colour.b;
    }
  }

  end(visible: boolean) {
    this.mesh.visible = visible && this.count > 0;
    this.mesh.geometry.setDrawRange(0, this.count);
    for (const attribute of [this.corners, this.colours]) {
      if (attribute) {
        attribute.clearUpdateRanges();
        attribute.addUpdateRange(0, 3 * this.count);
        attribute.needsUpdate = true;
      }
    }
  }
}
