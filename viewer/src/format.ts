// What the file holds: one JSON header per run and one block of packed columns. src/report/replay_*.c writes it; the two
// change together (FORMAT).
export const FORMAT = 5;

export interface Shape {
  kind: string;
  name?: string;
  position: number[]; // of the shape in its body
  quat: number[]; // wxyz; planar shapes turn about z too
  radius?: number;
  length?: number;
  size?: number[];
  normal?: number[];
  offset?: number;
  points?: number[][];
  triangles?: number[]; // of a mesh's hull, triples of points
}

export interface Body {
  name: string;
  kind: "free" | "fixed" | "driven" | "jointed";
  shapes: Shape[];
  lines: number[][]; // from and to, of a skeleton, where the body or what it carries has no shapes
  axis: { kind: string; at: number[]; along: number[] } | null; // of the joint that moves it, likewise
}

export interface ContactHeader {
  a: number;
  b: number;
  feature: string;
  mu: number;
  tangent: number[] | null; // of the pair, where it sets one
  along: number[] | null; // t and o of the one direction that friction has; null: all of the tangent plane
  patch: { cell: number; offsets: number[] } | null; // m: side of an element, and t and o of each
  runs: number[]; // pairs (first frame, frames): where the contact is listed
}

export interface JointHeader {
  name: string;
  unit: string;
  commanded: boolean;
}

export interface Why {
  step: number;
  contact: number;
  text: number; // in `texts`
}

// Certificates. The column `trust` has three series, of existence, uniqueness and rigidity: 0 where a step has none, else 1 and
// the number of perp_verdict; `trust_text` the number of a text; `ghost` six series of each body, a number for each ghost.
export interface Trust {
  texts: string[]; // the first is empty
  ghosts: number[]; // frames
  bothWays: boolean[]; // of each ghost
}

export interface Column {
  name: string;
  coding: "float" | "fixed" | "byte";
  quantum: number; // of `fixed`
  series: number; // how many series, one behind the other
  length: number; // numbers in all
}

// What a model that speaks of an instant has answered. Frame k is solution k: the bodies are where they are in all of them.
export interface Instant {
  answers: string; // "acceleration" or "velocity"
  rates: Record<string, number[]>[]; // of each solution, by body or joint
  sets: boolean[]; // of each solution: it is a set of rates, of which this is the smallest
  complete: boolean; // false: there may be others
  why: string; // where there is none
  leftOut: string; // contacts that nearly took part
}

export interface Header {
  format: number;
  version: string;
  scene: string;
  model: string;
  cone: "quadratic" | "rays" | "box" | "none";
  rays: number;
  h: number; // s; step k ends at t0 + k h
  t0: number;
  planar: boolean;
  readIn?: { length: string; angle: string }; // units of the scene's file, where they are not m and rad; all numbers are SI
  gravity: number[];
  stepsAsked: number;
  steps: number; // in the log, the initial state counted
  frames: number; // shown
  stride: number; // steps per frame; 1: every step is here
  complete: boolean;
  lostBytes: number;
  damaged: number;
  instant: Instant | null; // null: steps were taken
  end: { known: boolean; failed: boolean; code: string; message: string; hash: string };
  bodies: Body[];
  contacts: ContactHeader[];
  joints: JointHeader[];
  events: { t: number; contact: number; from: number; to: number }[];
  eventsLeftOut: number;
  fallbacks: string[];
  texts: string[];
  whys: Why[];
  trust: Trust | null; // null: the run was not certified
  columns: Column[];
  bytes: number; // of this run's columns, before compression
}
