import { LIMIT, MODE_NAMES, OPEN, SLIDE, type Run, type Sample } from "./run";

// Numbers as a person reads them: five figures, no noise behind them.
export function number(value: number): string {
  if (value === 0 || !Number.isFinite(value)) {
    return Object.is(value, -0) ? "0" : String(value);
  }
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    return value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
  }
  return String(Number(value.toPrecision(5)));
}

// Below a piconewton is rounding.
export function newtons(value: number): string {
  if (Math.abs(value) < 1e-12) {
    return "0 N";
  }
  return `${number(value)} N`;
}

// Below a picometre, and a picometre a second, is rounding.
export function metres(value: number): string {
  const size = Math.abs(value);
  if (size < 1e-12) {
    return "0 mm";
  }
  if (size < 1e-4) {
    return `${number(value * 1e6)} µm`;
  }
  return size < 0.1 ? `${number(value * 1e3)} mm` : `${number(value)} m`;
}

// Of patches: pascals in space, newtons per metre in the plane.
export function pressureWords(value: number, planar: boolean): string {
  const size = Math.abs(value), [unit, factor] = size >= 1e6 ? ["M", 1e-6] : size >= 1e3 ? ["k", 1e-3] : ["", 1];
  return `${number(value * (factor as number))} ${unit}${planar ? "N/m" : "Pa"}`;
}

export function metresPerSecond(value: number): string {
  if (Math.abs(value) < 1e-12) {
    return "0 mm/s";
  }
  return Math.abs(value) < 0.1 ? `${number(value * 1e3)} mm/s` : `${number(value)} m/s`;
}

export function modeName(mode: number): string {
  return MODE_NAMES[mode] ?? "apart";
}

// What the numbers of one contact say, in a sentence or two, and only that: what would flip its mode depends on the other
// contacts too, so it is the log's to say, which has solved the step again. `initial`: of the state before the first step.
export function plainWords(run: Run, s: Sample, initial: boolean): string[] {
  const mu = run.header.contacts[s.contact].mu;
  const friction = s.used, most = s.limit, slip = Math.hypot(s.slip[0], s.slip[1]);
  if (initial && run.frames > 1) { // of one state, which is all there is, its forces
    return [`${s.phi > 0 ? `${metres(s.phi)} apart` : "Touching"} at the start: forces belong to steps, and none has been taken.`];
  }
  if (s.mode === OPEN) {
    return [s.phi > 0 ? `Open: ${metres(s.phi)} apart, no force.` : "Open: touching, and no force is needed."];
  }
  if (mu === 0) {
    return [`${s.mode === SLIDE ? `Sliding at ${metresPerSecond(slip)}` : "Resting"}: frictionless, pressed with ${newtons(s.fn)}.`];
  }
  if (s.mode === SLIDE && run.header.contacts[s.contact].patch && slip < 1e-9) {
    return [`Turning in place, all of its patch slips: ${newtons(friction)} of ${newtons(most)} used.`];
  }
  if (s.mode === SLIDE) {
    return [
      `Sliding at ${metresPerSecond(slip)}: ${newtons(friction)} of ${newtons(most)} used.`,
      `Friction pulls against the slip with all it has${run.has("limit") ? "" : `, ${number(mu)} times the ${newtons(s.fn)} that press`}.`,
    ];
  }
  if (s.mode === LIMIT) {
    return [`At its limit: ${newtons(friction)} of ${newtons(most)} used.`];
  }
  if (friction < 1e-9 * most) {
    return [`Sticking: no friction is asked of it; it has ${newtons(most)}.`];
  }
  return [`Sticking: ${newtons(friction)} of ${newtons(most)} used (${Math.round((100 * friction) / most)} %).`];
}
