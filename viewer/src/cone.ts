import { MODE_COLOURS, type Theme } from "./palette";
import { OPEN, type Run, type Sample } from "./run";
import { number } from "./words";

// The force of one contact inside its cone. In space: friction along t and o, as a share of µ fn, in the cone's own
// section of radius 1; so too on the plane that a body lies on. In the plane: friction against normal force, in newtons, between the two edges of the cone.
export function drawCone(canvas: HTMLCanvasElement, run: Run, contact: number, frame: number, theme: Theme) {
  const width = canvas.clientWidth, height = canvas.clientHeight, scale = Math.min(2, window.devicePixelRatio);
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const pen = canvas.getContext("2d")!;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  if (contact >= 0) {
    (run.header.planar && !run.isSupport(contact) ? drawWedge : drawDisc)(pen, run, contact, frame, theme, width, height);
  }
}

type Place = (normal: number, t: number, o: number, mu: number) => [number, number];

const TRAIL = 60; // frames behind the present one that are drawn strongly

// What is drawn of a contact at every frame; kept for the contact that was asked for last.
let kept: { run: Run; contact: number; samples: (Sample | null)[] } | null = null;

function samplesOf(run: Run, contact: number): (Sample | null)[] {
  if (!kept || kept.run !== run || kept.contact !== contact) {
    const rows = run.series(contact, (row) => row);
    kept = { run, contact, samples: rows.map((row) => (row === null ? null : run.sample(contact, row))) };
  }
  return kept.samples;
}

// The part of the path between two frames, one stroke per mode.
function stroke(pen: CanvasRenderingContext2D, samples: (Sample | null)[], mu: number, from: number, to: number, place: Place) {
  const paths = MODE_COLOURS.map(() => new Path2D());
  for (let f = Math.max(1, from); f <= to; f++) {
    const a = samples[f - 1], b = samples[f];
    if (a && b && a.mode !== OPEN && b.mode !== OPEN) {
      paths[b.mode].moveTo(...place(a.fn, a.ft[0], a.ft[1], mu));
      paths[b.mode].lineTo(...place(b.fn, b.ft[0], b.ft[1], mu));
    }
  }
  paths.forEach((path, mode) => {
    pen.strokeStyle = MODE_COLOURS[mode];
    pen.stroke(path);
  });
}

function drawPath(pen: CanvasRenderingContext2D, run: Run, contact: number, frame: number, theme: Theme, place: Place) {
  const mu = run.header.contacts[contact].mu, samples = samplesOf(run, contact), here = samples[frame];
  pen.globalAlpha = samples.length > 300 ? 0.14 : 0.3;
  pen.lineWidth = 1.2;
  const stride = Math.max(1, Math.floor(samples.length / 1000));
  stroke(pen, stride > 1 ? samples.filter((_, f) => f % stride === 0) : samples, mu, 0, Math.floor((samples.length - 1) / stride), place);
  pen.globalAlpha = 0.95;
  pen.lineWidth = 1.8;
  stroke(pen, samples, mu, frame - TRAIL, frame, place);
  pen.globalAlpha = 1;
  if (here && here.mode !== OPEN) {
    const at = place(here.fn, here.ft[0], here.ft[1], mu);
    pen.beginPath();
    pen.arc(at[0], at[1], 5, 0, 2 * Math.PI);
    pen.fillStyle = MODE_COLOURS[here.mode];
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = theme.text;
    pen.stroke();
  }
}

function drawDisc(pen: CanvasRenderingContext2D, run: Run, contact: number, frame: number, theme: Theme, width: number,
  height: number) {
  const r = Math.min(width / 2 - 34, height / 2 - 18), x = width / 2, y = height / 2;
  pen.lineWidth = 1;
  pen.strokeStyle = theme.line;
  pen.beginPath();
  pen.moveTo(x - r - 8, y);
  pen.lineTo(x + r + 8, y);
  pen.moveTo(x, y - r - 8);
  pen.lineTo(x, y + r + 8);
  pen.moveTo(x + r / 2, y);
  pen.arc(x, y, r / 2, 0, 2 * Math.PI);
  pen.stroke();
  pen.beginPath();
  outline(pen, run, contact, x, y, r);
  pen.strokeStyle = theme.faint;
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.fillStyle = theme.faint;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillText("t", x + r + 12, y);
  pen.textAlign = "center";
  pen.fillText("o", x + 10, y - r - 8);
  pen.fillText("100 % of µ fn", x + 0.72 * r + 34, y + 0.72 * r + 12);
  pen.fillText("50 %", x + 0.5 * r - 2, y + 10);
  drawPath(pen, run, contact, frame, theme, (normal, t, o, mu) => {
    const most = mu * normal;
    return most > 0 ? [x + (r * t) / most, y - (r * o) / most] : [x, y];
  });
}

// The cone's own section: disc, polygon of the rays, or box; a line where friction has one direction.
function outline(pen: CanvasRenderingContext2D, run: Run, contact: number, x: number, y: number, r: number) {
  const along = run.header.contacts[contact].along;
  if (along) {
    pen.moveTo(x - r * along[0], y + r * along[1]);
    pen.lineTo(x + r * along[0], y - r * along[1]);
  } else if (run.header.cone === "rays") {
    for (let i = 0; i <= run.header.rays; i++) {
      const a = (2 * Math.PI * i) / run.header.rays;
      pen.lineTo(x + r * Math.cos(a), y - r * Math.sin(a));
    }
  } else if (run.header.cone === "box") {
    pen.rect(x - r, y - r, 2 * r, 2 * r);
  } else {
    pen.arc(x, y, r, 0, 2 * Math.PI);
  }
}

function drawWedge(pen: CanvasRenderingContext2D, run: Run, contact: number, frame: number, theme: Theme, width: number,
  height: number) {
  const mu = run.header.contacts[contact].mu;
  const most = samplesOf(run, contact).reduce((largest, s) => Math.max(largest, s?.fn ?? 0), 1e-12), top = 22, bottom = height - 26, middle = width / 2;
  const perNewton = Math.min((bottom - top) / most, (width / 2 - 30) / Math.max(1e-12, mu * most));
  const place: Place = (normal, t) => [middle + t * perNewton, bottom - normal * perNewton];
  const left = place(most, -mu * most, 0, mu), right = place(most, mu * most, 0, mu);
  pen.beginPath();
  pen.moveTo(...left);
  pen.lineTo(middle, bottom);
  pen.lineTo(...right);
  pen.closePath();
  pen.fillStyle = theme.line;
  pen.globalAlpha = 0.45;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 1.5;
  pen.strokeStyle = theme.faint;
  pen.beginPath();
  pen.moveTo(...left);
  pen.lineTo(middle, bottom);
  pen.lineTo(...right);
  pen.stroke();
  pen.lineWidth = 1;
  pen.strokeStyle = theme.line;
  pen.beginPath();
  pen.moveTo(middle, top - 4);
  pen.lineTo(middle, bottom);
  pen.moveTo(24, bottom);
  pen.lineTo(width - 24, bottom);
  pen.stroke();
  pen.fillStyle = theme.faint;
  pen.textBaseline = "alphabetic";
  pen.textAlign = "center";
  pen.fillText(`normal force, up to ${number(most)} N`, middle, 13);
  pen.fillText(`friction, edges at ±${number(mu)} fn`, middle, height - 9);
  drawPath(pen, run, contact, frame, theme, place);
}
