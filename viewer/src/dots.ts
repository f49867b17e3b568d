import * as THREE from "three";

// Round dots of a size in pixels, facing whoever looks: one draw call and one vertex each, however many.
export class Dots {
  readonly mesh: THREE.Points;
  private readonly positions: THREE.BufferAttribute;
  private readonly colours: THREE.BufferAttribute;
  private readonly sizes: THREE.BufferAttribute;

  constructor(capacity: number, order: number) {
    const geometry = new THREE.BufferGeometry();
    this.positions = new THREE.BufferAttribute(new Float32Array(3 * capacity), 3);
    this.colours = new THREE.BufferAttribute(new Float32Array(3 * capacity), 3);
    this.sizes = new THREE.BufferAttribute(new Float32Array(capacity), 1);
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("colour", this.colours);
    geometry.setAttribute("size", this.sizes);
    const material = new THREE.ShaderMaterial({
      transparent: true, depthTest: false, depthWrite: false,
      uniforms: { ratio: { value: Math.min(window.devicePixelRatio, 2) }, rim: { value: new THREE.Color() } },
      vertexShader: `attribute vec3 colour; attribute float size; uniform float ratio; varying vec3 tint;
        void main() { tint = colour; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); gl_PointSize = size * ratio; }`,
      fragmentShader: `uniform vec3 rim; varying vec3 tint;
        void main() { float r = 2.0 * length(gl_PointCoord - 0.5); if (r > 1.0) discard;
          gl_FragColor = vec4(mix(tint, rim, smoothstep(0.62, 0.78, r) * 0.75), 1.0);
          #include <colorspace_fragment>
        }`,
    });
    this.mesh = new THREE.Points(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = order;
  }

  paint(rim: string) {
    ((this.mesh.material as THREE.ShaderMaterial).uniforms.rim.value as THREE.Color).set(rim);
  }

  set(index: number, point: readonly number[], colour: THREE.Color, pixels: number) {
    this.positions.setXYZ(index, point[0], point[1], point[2]);
    this.colours.setXYZ(index, colour.r, colour.g, colour.b);
    this.sizes.setX(index, pixels);
  }

  end(count: number, visible: boolean) {
    this.mesh.geometry.setDrawRange(0, count);
    this.mesh.visible = visible && count > 0;
    this.positions.needsUpdate = this.colours.needsUpdate = this.sizes.needsUpdate = true;
  }
}
