import * as THREE from "three";
import type { Shape } from "./format";

// A shape as triangles in its own frame. Planar shapes are given a thickness, half of it on either side of the plane.
// `reach` is how far endless shapes (planes, plates around holes) are drawn.
export function geometryOf(shape: Shape, planar: boolean, reach: number, depth: number): THREE.BufferGeometry | null {
  return planar ? planarGeometry(shape, reach, depth) : spatialGeometry(shape, reach);
}

// Whether a shape has no end, so that it is drawn as ground and says nothing about the size of the scene.
export function isEndless(shape: Shape): boolean {
  return shape.kind === "plane" || shape.kind === "halfplane";
}

// Radius of a ball around the shape's origin that holds it; 0 for endless ones.
export function reachOf(shape: Shape): number {
  switch (shape.kind) {
    case "box": return 0.5 * Math.hypot(...(shape.size as number[]));
    case "ellipsoid": return Math.max(...(shape.size as number[]));
    case "capsule": return shape.radius! + 0.5 * shape.length!;
    case "cylinder": return Math.hypot(shape.radius!, 0.5 * shape.length!);
    case "sphere":
    case "disc": return shape.radius!;
    case "hole": return 2 * shape.radius! + 0.5 * (shape.length ?? 0);
    case "mesh":
    case "polygon": return Math.max(0, ...shape.points!.map((p) => Math.hypot(...p)));
    default: return 0;
  }
}

function spatialGeometry(shape: Shape, reach: number): THREE.BufferGeometry | null {
  const size = shape.size ?? [1, 1, 1];
  switch (shape.kind) {
    case "point": return new THREE.SphereGeometry(0.008 * reach, 12, 8);
    case "sphere": return new THREE.SphereGeometry(shape.radius, 32, 20);
    case "box": return new THREE.BoxGeometry(size[0], size[1], size[2]);
    case "capsule": return new THREE.CapsuleGeometry(shape.radius, shape.length, 8, 24).rotateX(Math.PI / 2);
    case "cylinder": return new THREE.CylinderGeometry(shape.radius, shape.radius, shape.length, 32).rotateX(Math.PI / 2);
    case "ellipsoid": return new THREE.SphereGeometry(1, 32, 20).scale(size[0], size[1], size[2]);
    case "mesh": return hullGeometry(shape);
    case "hole": return boreGeometry(shape.radius!, shape.length!).translate(0, 0, -0.5 * shape.length!);
    case "plane": return planeGeometry(shape, reach);
    default: return null;
  }
}

function planarGeometry(shape: Shape, reach: number, depth: number): THREE.BufferGeometry | null {
  const outline = planarOutline(shape, reach);
  if (!outline) {
    return null;
  }
  const thickness = isEndless(shape) ? 1.6 * depth : depth;
  const options = { depth: thickness, bevelEnabled: false, curveSegments: 32 };
  return new THREE.ExtrudeGeometry(outline, options).translate(0, 0, -0.5 * thickness);
}

function planarOutline(shape: Shape, reach: number): THREE.Shape | null {
  const outline = new THREE.Shape();
  const [lx, ly] = shape.size ?? [0, 0];
  switch (shape.kind) {
    case "point": return outline.absarc(0, 0, 0.008 * reach, 0, 2 * Math.PI) as THREE.Shape;
    case "disc": return outline.absarc(0, 0, shape.radius!, 0, 2 * Math.PI) as THREE.Shape;
    case "box": return rectangle(outline, -lx / 2, -ly / 2, lx / 2, ly / 2);
    case "polygon":
      shape.points!.forEach((p, i) => (i === 0 ? outline.moveTo(p[0], p[1]) : outline.lineTo(p[0], p[1])));
      outline.closePath();
      return outline;
    case "capsule": {
      const r = shape.radius!, half = 0.5 * shape.length!;
      outline.moveTo(-half, -r);
      outline.lineTo(half, -r);
      outline.absarc(half, 0, r, -Math.PI / 2, Math.PI / 2);
      outline.lineTo(-half, r);
      outline.absarc(-half, 0, r, Math.PI / 2, 1.5 * Math.PI);
      return outline;
    }
    case "halfplane": return halfplane(outline, shape, reach);
    case "hole": return plateAroundBore(shape.radius!);
    default: return null;
  }
}

function rectangle(outline: THREE.Shape, x0: number, y0: number, x1: number, y1: number): THREE.Shape {
  outline.moveTo(x0, y0);
  outline.lineTo(x1, y0);
  outline.lineTo(x1, y1);
  outline.lineTo(x0, y1);
  outline.closePath();
  return outline;
}

function halfplane(outline: THREE.Shape, shape: Shape, reach: number): THREE.Shape {
  const [nx, ny] = shape.normal as number[];
  const at = (along: number, deep: number): [number, number] => [
    shape.offset! * nx + along * ny - deep * nx, shape.offset! * ny - along * nx - deep * ny,
  ];
  outline.moveTo(...at(-reach, 0));
  outline.lineTo(...at(-reach, 0.6 * reach));
  outline.lineTo(...at(reach, 0.6 * reach));
  outline.lineTo(...at(reach, 0));
  outline.closePath();
  return outline;
}

// Solid all around the bore; a ring of it is drawn.
function plateAroundBore(radius: number): THREE.Shape {
  const outline = new THREE.Shape();
  outline.absarc(0, 0, 2 * radius, 0, 2 * Math.PI);
  const bore = new THREE.Path();
  bore.absarc(0, 0, radius, 0, 2 * Math.PI, true);
  outline.holes.push(bore);
  return outline;
}

function boreGeometry(radius: number, length: number): THREE.BufferGeometry {
  return new THREE.ExtrudeGeometry(plateAroundBore(radius), { depth: length, bevelEnabled: false, curveSegments: 32 });
}

function planeGeometry(shape: Shape, reach: number): THREE.BufferGeometry {
  const normal = new THREE.Vector3(...(shape.normal as [number, number, number]));
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
  const at = normal.multiplyScalar(shape.offset!);
  return new THREE.PlaneGeometry(2 * reach, 2 * reach).applyQuaternion(turn).translate(at.x, at.y, at.z);
}

function hullGeometry(shape: Shape): THREE.BufferGeometry {
  const points = shape.points!, triangles = shape.triangles!;
  const positions = new Float32Array(3 * triangles.length);
  triangles.forEach((corner, i) => positions.set(points[corner], 3 * i));
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.computeVertexNormals();
  return geometry;
}
