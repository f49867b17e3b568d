import { decompress } from "fzstd";
import { columnBytes, decodeColumn, fromBase64 } from "./decode";
import { FORMAT, type Column, type ContactHeader, type Header } from "./format";

export const OPEN = 0, STICK = 1, LIMIT = 2, SLIDE = 3;
const NOT_UNIQUE = 6; // in the column of verdicts
const APART = 4; // listed since the frame before, not at this one
export const MODE_NAMES = ["open", "stick", "limit", "slide"];

// One contact at one frame, as the log has it. Forces in N, lengths in m.
export interface Sample {
  contact: number;
  row: number;
  mode: number;
  phi: number;
  fn: number;
  ft: [number, number];
  used: number; // of the friction, in the measure of the cone
  limit: number; // the most of it that there is
  slip: [number, number];
  point: [number, number, number];
  normal: [number, number, number];
  tangents: [number, number, number][];
}

type V3 = [number, number, number];
const dot = (a: V3, b: V3) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: V3, b: V3): V3 => [
  a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
];

// The frame that the contracts define: t along x as far as the normal lets it, or along what the pair says.
export function tangentsOf(n: V3, planar: boolean, tangent: number[] | null): V3[] {
  if (planar && n[2] === 0) { // else the plane that a body rests on
    return [[n[1], -n[0], 0]];
  }
  const along = (e: V3): V3 => {
    const d = dot(e, n);
    return [e[0] - d * n[0], e[1] - d * n[1], e[2] - d * n[2]];
  };
  let t = tangent ? along(tangent as V3) : [0, 0, 0] as V3;
  if (Math.hypot(...t) < 1e-6) {
    t = along(Math.abs(n[0]) > 0.9 ? [0, 1, 0] : [1, 0, 0]);
  }
  const size = Math.hypot(...t);
  t = [t[0] / size, t[1] / size, t[2] / size];
  return [t, cross(n, t)];
}

// A series of one contact over all frames, with null where the contact is not listed.
export type Series = (number | null)[];

export class Run {
  readonly frames: number;
  readonly t: Float64Array; // s, at each frame; of an instant, whose frames are solutions, their numbers
  readonly step: Int32Array; // number in the log, or of the solution
  readonly contactCount: number;
  private readonly columns = new Map<string, Float32Array | Uint8Array>();
  private readonly firstRow: Int32Array; // of each contact
  private readonly frameStart: Int32Array; // into frameContacts
  private readonly frameContacts: Int32Array;
  private readonly frameRows: Int32Array;
  private readonly rowCount: number;
  private readonly firstElement: Int32Array; // of each contact, in the column of elements
  readonly mostPressure: number; // of an element in the whole run, as pressure() has it; 0: there are no patches
  private readonly whyByContact = new Map<number, { step: number; text: string }[]>();

  constructor(readonly header: Header, bytes: Uint8Array, readonly index: number) {
    if (header.format !== FORMAT) {
      throw new Error(`this page reads format ${FORMAT}, and the data are of format ${header.format}`);
    }
    this.frames = header.frames;
    let at = 0;
    for (const column of header.columns) {
      const size = columnBytes(column);
      this.columns.set(column.name, decodeColumn(column, bytes.subarray(at, at + size)));
      at += size;
    }
    this.step = Int32Array.from(this.float("step"));
    this.t = Float64Array.from(this.step, (k) => header.instant ? k : header.t0 + k * header.h);
    this.contactCount = header.contacts.length;
    this.firstRow = new Int32Array(this.contactCount + 1);
    const perFrame = new Int32Array(this.frames + 1);
    header.contacts.forEach((c, i) => {
      let rows = 0;
      for (let r = 0; r < c.runs.length; r += 2) {
        rows += c.runs[r + 1];
        for (let f = c.runs[r]; f < c.runs[r] + c.runs[r + 1]; f++) {
          perFrame[f + 1]++;
        }
      }
      this.firstRow[i + 1] = this.firstRow[i] + rows;
    });
    for (let f = 0; f < this.frames; f++) {
      perFrame[f + 1] += perFrame[f];
    }
    this.frameStart = perFrame;
    this.rowCount = this.firstRow[this.contactCount];
    this.frameContacts = new Int32Array(this.rowCount);
    this.frameRows = new Int32Array(this.rowCount);
    this.listFrames();
    this.firstElement = new Int32Array(this.contactCount + 1);
    header.contacts.forEach((c, i) => {
      const rows = this.firstRow[i + 1] - this.firstRow[i];
      this.firstElement[i + 1] = this.firstElement[i] + (c.patch ? (c.patch.offsets.length / 2) * rows : 0);
    });
    this.mostPressure = this.findMostPressure();
    for (const w of header.whys) {
      const list = this.whyByContact.get(w.contact) ?? [];
      list.push({ step: w.step, text: header.texts[w.text] });
      this.whyByContact.set(w.contact, list);
    }
  }

  private listFrames() {
    const next = this.frameStart.slice();
    this.header.contacts.forEach((c, i) => {
      let row = this.firstRow[i];
      for (let r = 0; r < c.runs.length; r += 2) {
        for (let f = c.runs[r]; f < c.runs[r] + c.runs[r + 1]; f++) {
          this.frameContacts[next[f]] = i;
          this.frameRows[next[f]++] = row++;
        }
      }
    });
  }

  private findMostPressure(): number {
    const forces = this.float("element_fn");
    return this.header.contacts.reduce((most, c, i) => c.patch ? Math.max(most,
      forces.subarray(this.firstElement[i], this.firstElement[i + 1]).reduce((a, b) => Math.max(a, b), 0) / this.area(i)) : most, 0);
  }

  // m^2 of an element of a contact's patch; in the plane m.
  private area(contact: number): number {
    const { cell } = this.header.contacts[contact].patch!;
    return this.header.planar ? cell : cell * cell;
  }

  // Of each element of a contact's patch, Pa; in the plane N/m. Null: it has none.
  pressure(contact: number, row: number): number[] | null {
    const { patch } = this.header.contacts[contact], forces = this.float("element_fn");
    if (!patch) {
      return null;
    }
    const rows = this.firstRow[contact + 1] - this.firstRow[contact], area = this.area(contact);
    return Array.from({ length: patch.offsets.length / 2 },
      (_, e) => forces[this.firstElement[contact] + e * rows + row - this.firstRow[contact]] / area);
  }

  private float(name: string): Float32Array {
    return this.columns.get(name) as Float32Array;
  }

  get name(): string {
    return this.header.scene || "scene";
  }

  get duration(): number {
    return this.t[this.frames - 1] - this.t[0];
  }

  // The most contacts that a frame lists.
  get mostContacts(): number {
    let most = 0;
    for (let f = 0; f < this.frames; f++) {
      most = Math.max(most, this.frameStart[f + 1] - this.frameStart[f]);
    }
    return most;
  }

  get envelopes(): boolean {
    return this.header.stride > 1;
  }

  // The frame in force at time t: the last one that is not later.
  frameAt(t: number): number {
    let low = 0, high = this.frames - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.t[middle] <= t + 1e-12) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  pose(body: number, frame: number, out: number[]) {
    const poses = this.float("poses");
    const size = this.header.planar ? 3 : 7;
    for (let k = 0; k < size; k++) {
      out[k] = poses[(body * size + k) * this.frames + frame];
    }
  }

  // Of a planar body with the plane that it lies on, seen from above: with itself, as the plane is no body.
  isSupport(contact: number): boolean {
    return this.header.contacts[contact].a === this.header.contacts[contact].b;
  }

  contactName(contact: number): string {
    const c = this.header.contacts[contact];
    return this.isSupport(contact) ? `${this.header.bodies[c.a].name} on the table` : `${this.header.bodies[c.a].name} – ${this.header.bodies[c.b].name}`;
  }

  // The same contact in another run of the same bodies; -1: there is none.
  findContact(other: Run, contact: number): number {
    const c = other.header.contacts[contact];
    const a = other.header.bodies[c.a].name, b = other.header.bodies[c.b].name;
    return this.header.contacts.findIndex((d) => d.feature === c.feature && this.header.bodies[d.a].name === a &&
      this.header.bodies[d.b].name === b);
  }

  contactsAt(frame: number): { contact: number; row: number }[] {
    const out = [];
    for (let i = this.frameStart[frame]; i < this.frameStart[frame + 1]; i++) {
      if (this.mode(this.frameRows[i]) !== APART) {
        out.push({ contact: this.frameContacts[i], row: this.frameRows[i] });
      }
    }
    return out;
  }

  private mode(row: number): number {
    return (this.columns.get("mode") as Uint8Array)[row];
  }

  // -1: the contact is not listed at this frame.
  rowAt(contact: number, frame: number): number {
    const runs = this.header.contacts[contact].runs;
    let row = this.firstRow[contact];
    for (let r = 0; r < runs.length; r += 2) {
      if (frame < runs[r]) {
        return -1;
      }
      if (frame < runs[r] + runs[r + 1]) {
        const found = row + frame - runs[r];
        return this.mode(found) === APART ? -1 : found;
      }
      row += runs[r + 1];
    }
    return -1;
  }

  sample(contact: number, row: number): Sample {
    const c = this.header.contacts[contact];
    const three = (name: string): V3 => {
      const values = this.float(name);
      return [values[row], values[this.rowCount + row], values[2 * this.rowCount + row]];
    };
    const pair = (name: string): [number, number] => {
      const values = this.float(name);
      return [values[row], values.length > this.rowCount ? values[this.rowCount + row] : 0];
    };
    const normal = three("normal");
    const size = Math.hypot(...normal) || 1;
    normal.forEach((_, k) => (normal[k] /= size));
    return {
      contact, row, normal,
      mode: this.mode(row),
      phi: this.float("phi")[row],
      fn: this.float("fn")[row],
      ft: pair("ft"),
      used: this.used(row),
      limit: this.limit(contact, row),
      slip: pair("slip"),
      point: three("point"),
      tangents: tangentsOf(normal, this.header.planar, c.tangent),
    };
  }

  // The gravest mode between this frame and the one before: of a decimated run no slip is lost.
  ribbonMode(row: number): number {
    return (this.columns.get(this.envelopes ? "mode_gravest" : "mode") as Uint8Array)[row];
  }

  // `spans`: the value is one of the time since the frame before, so that it counts where the contact is apart by now.
  series(contact: number, value: (row: number) => number, spans = false): Series {
    const out: Series = new Array(this.frames).fill(null);
    const runs = this.header.contacts[contact].runs;
    let row = this.firstRow[contact];
    for (let r = 0; r < runs.length; r += 2) {
      for (let f = runs[r]; f < runs[r] + runs[r + 1]; f++) {
        out[f] = spans || this.mode(row) !== APART ? value(row) : null;
        row++;
      }
    }
    return out;
  }

  rows(name: string): Float32Array {
    return this.float(name);
  }

  // N: friction in the measure of the run's cone, which is what reaches µ fn where a contact slips; of a disc it is |ft|.
  used(row: number): number {
    const ft = this.float("ft"), used = this.float("used");
    if (used) {
      return used[row];
    }
    return ft.length > this.rowCount ? Math.hypot(ft[row], ft[this.rowCount + row]) : Math.abs(ft[row]);
  }

  // N: the most friction there is: µ fn, but of patches with a smoothed cone what the log says.
  limit(contact: number, row: number): number {
    return this.float("limit")?.[row] ?? this.header.contacts[contact].mu * this.float("fn")[row];
  }

  has(name: string): boolean {
    return this.columns.has(name);
  }

  // A column that has one series per joint, residual or the like.
  column(name: string, series: number): Float32Array {
    return this.float(name).subarray(series * this.frames, (series + 1) * this.frames);
  }

  // The verdicts of the step that ends at this frame, of a decimated run the gravest since the frame before; null: it has none.
  trust(frame: number): number[] | null {
    const column = this.columns.get("trust");
    return column && column[frame] > 0 ? [0, 1, 2].map((k) => column[k * this.frames + frame]) : null;
  }

  trustText(frame: number): string {
    return this.header.trust?.texts[this.float("trust_text")[frame]] ?? "";
  }

  // The motion that costs nothing, where there is one: twists (vx vy vz wx wy wz) of all bodies, the largest number 1. Of many in a
  // row some are left out, and the one before stands for them.
  ghost(frame: number): { frame: number; twists: Float32Array; bothWays: boolean } | null {
    const { ghosts = [], bothWays = [] } = this.header.trust ?? {};
    const number = ghosts.filter((f) => f <= frame).length - 1;
    for (let f = ghosts[number]; number >= 0 && f <= frame; f++) {
      if (this.trust(f)?.[1] !== NOT_UNIQUE) {
        return null;
      }
    }
    const column = this.float("ghost");
    return number < 0 ? null : {
      frame: ghosts[number], bothWays: bothWays[number],
      twists: Float32Array.from({ length: 6 * this.header.bodies.length }, (_, k) => column[k * ghosts.length + number]),
    };
  }

  // What the log says of this contact at this step, else at the nearest step that it explains, of two the earlier; null:
  // nothing at all.
  why(contact: number, step: number): { step: number; text: string } | null {
    let found: { step: number; text: string } | null = null;
    for (const w of this.whyByContact.get(contact) ?? []) {
      if (found === null || Math.abs(w.step - step) < Math.abs(found.step - step)) {
        found = w;
      }
    }
    return found;
  }
}

export function readRuns(document: Document): Run[] {
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  const headers = JSON.parse(text("perp-headers")) as Header[];
  const packed = fromBase64(text("perp-data"));
  const total = headers.reduce((sum, h) => sum + h.bytes, 0);
  const bytes = packed.length > 0 ? decompress(packed, new Uint8Array(total)) : new Uint8Array(0);
  let at = 0;
  return headers.map((header, index) => {
    const run = new Run(header, bytes.subarray(at, at + header.bytes), index);
    at += header.bytes;
    return run;
  });
}

export type { Column, ContactHeader };
