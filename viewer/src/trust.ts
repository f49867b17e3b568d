import { TRUST_COLOURS, type Theme } from "./palette";
import { INSET } from "./ribbon";
import { type Run } from "./run";
import { number } from "./words";

// By the numbers of the column `trust`: of each verdict its grade and how it is said. 0: the step has no certificate.
const GRADE = { none: 0, refuted: 1, borderline: 2, unknown: 3, nothing: 4, partly: 5, proven: 6 };
export const GRADES: [number, string][] = [
  [GRADE.proven, "proven"], [GRADE.partly, "at these normal forces"], [GRADE.unknown, "not decided"], [GRADE.borderline, "borderline"],
  [GRADE.refuted, "none, not unique, not valid"], [GRADE.nothing, "nothing in force"],
];
const LANES = ["existence", "uniqueness", "rigidity"];
const VERDICTS: [number, string][] = [
  [GRADE.none, ""], [GRADE.unknown, "not decided"], [GRADE.proven, "a solution exists"], [GRADE.refuted, "there is no solution"],
  [GRADE.proven, "its motion is the only one"], [GRADE.partly, "its motion is the only one at these normal forces"],
  [GRADE.refuted, "its motion is not the only one"], [GRADE.borderline, "borderline"], [GRADE.proven, "the rigid model is valid"],
  [GRADE.refuted, "the rigid model is not valid"], [GRADE.nothing, "no contact is in force"],
];

function sayVerdict(lane: number, code: number): string {
  const [grade, words] = VERDICTS[code];
  return grade === GRADE.unknown || grade === GRADE.borderline ? `${LANES[lane]} ${grade === GRADE.unknown ? "is not decided" : "is borderline"}` : words;
}

// Verdicts of a frame in a line, then why.
export function trustWords(run: Run, frame: number): string {
  const codes = run.trust(frame);
  if (!codes) {
    return run.step[frame] === 0 && !run.header.instant ? "the initial state has no certificate" : "this step has no certificate";
  }
  const ghost = run.ghost(frame);
  const ways = ghost ? `, it can be moved ${ghost.bothWays ? "to and fro" : "one way"}` : "";
  const verdicts = codes.map((code, lane) => sayVerdict(lane, code) + (lane === 1 ? ways : "")).join(" · ");
  const when = run.header.instant ? "at this instant" : run.header.stride > 1 && frame > 0
    ? `steps ${run.step[frame - 1] + 1} to ${run.step[frame]}, the gravest` : `step ${run.step[frame]}, to ${number(run.t[frame])} s`;
  return `${when}: ${verdicts}\n${run.trustText(frame)}`.trim();
}

// The certificates along time, in the ribbon's columns: three lanes, of existence, uniqueness and rigidity.
export class TrustRow {
  private readonly canvas = document.createElement("canvas");
  private readonly cursor = document.createElement("div");
  private run: Run | null = null;
  private time: [number, number] = [0, 1];
  private frame = 0;
  private pointed = -1; // the frame under the pointer

  constructor(private readonly box: HTMLElement, private readonly words: HTMLElement, seek: (t: number) => void) {
    const name = document.createElement("div"), field = document.createElement("div");
    name.className = "trust-name";
    name.textContent = "trust";
    name.title = "from above: does a solution exist, is its motion the only one, is the rigid model valid";
    field.className = "trust-field";
    this.cursor.className = "trust-cursor";
    field.append(this.canvas, this.cursor);
    box.append(name, field);
    this.canvas.addEventListener("pointerdown", (event) => seek(this.run!.t[this.point(event)]));
    this.canvas.addEventListener("pointermove", (event) => {
      this.point(event);
      if (event.buttons & 1) {
        seek(this.run!.t[this.pointed]);
      }
    });
    this.canvas.addEventListener("pointerleave", () => { this.pointed = -1; this.say(); });
  }

  // The step that the pointer is in: a frame's verdicts are of the time since the frame before.
  private point(event: PointerEvent): number {
    const run = this.run!, at = this.canvas.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - at.left - INSET) / Math.max(1, at.width - 2 * INSET)));
    const t = this.time[0] + part * (this.time[1] - this.time[0]), before = run.frameAt(t);
    this.pointed = Math.min(run.frames - 1, run.t[before] < t - 1e-12 ? before + 1 : before);
    this.say();
    return this.pointed;
  }

  private say() {
    const frame = this.pointed >= 0 ? this.pointed : this.frame;
    this.words.textContent = this.run?.header.trust ? trustWords(this.run, frame) : "";
    this.canvas.title = this.pointed >= 0 ? this.words.textContent : "";
  }

  // An instant has words, but no course.
  setRun(run: Run, time: [number, number]) {
    this.run = run;
    this.time = time;
    this.pointed = -1;
    this.words.hidden = run.header.trust === null;
    this.box.hidden = run.header.trust === null || run.header.instant !== null;
  }

  draw(theme: Theme) {
    const run = this.run;
    if (!run || this.box.hidden) {
      return;
    }
    const width = Math.max(1, this.canvas.parentElement!.clientWidth), lane = 7, height = LANES.length * lane + 2;
    const scale = Math.min(2, window.devicePixelRatio), pen = this.canvas.getContext("2d")!;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = `${height}px`;
    pen.scale(scale, scale);
    pen.clearRect(0, 0, width, height);
    LANES.forEach((_, k) => this.drawLane(pen, run, k, lane, width, theme));
  }

  private drawLane(pen: CanvasRenderingContext2D, run: Run, lane: number, tall: number, width: number, theme: Theme) {
    const stretches: { grade: number; from: number; to: number }[] = [];
    for (let from = 1, to; from < run.frames; from = to) {
      const grade = this.grade(run, from, lane);
      for (to = from + 1; to < run.frames && this.grade(run, to, lane) === grade; to++);
      stretches.push({ grade, from, to });
    }
    // The gravest last, and a pixel wide at least: one bad step of thousands is seen.
    for (const { grade, from, to } of stretches.filter((s) => s.grade > 0).sort((a, b) => b.grade - a.grade)) {
      const x0 = this.x(run.t[from - 1], width), x1 = this.x(run.t[to - 1], width);
      pen.fillStyle = TRUST_COLOURS[theme.dark ? "dark" : "light"][grade];
      pen.fillRect(Math.min(x0, Math.floor(x1)), 1 + lane * tall, Math.max(1, x1 - x0), tall - 1);
    }
  }

  private grade(run: Run, frame: number, lane: number): number {
    const codes = run.trust(frame);
    return codes ? VERDICTS[codes[lane]][0] : 0;
  }

  private x(t: number, width: number): number {
    const span = this.time[1] - this.time[0];
    return INSET + (span > 0 ? (t - this.time[0]) / span : 0) * (width - 2 * INSET);
  }

  show(t: number, frame: number) {
    this.cursor.style.transform = `translateX(${this.x(t, this.canvas.parentElement!.clientWidth).toFixed(1)}px)`;
    this.frame = frame;
    this.say();
  }
}

// The frame at which some verdict is another one than before, next in that direction; -1: there is none.
export function nextVerdict(run: Run, frame: number, direction: number): number {
  const same = (a: number, b: number) => String(run.trust(a)) === String(run.trust(b));
  for (let f = frame + direction; f > 0 && f < run.frames; f += direction) {
    if (!same(f, f - 1)) {
      return f;
    }
  }
  return -1;
}
