import { MODE_COLOURS, type Theme } from "./palette";
import { OPEN, type Run } from "./run";
import { number } from "./words";

// The force of one contact inside its cone. In space: friction along t and o, as a share of what the cone allows, in a
// disc of radius 1. In the plane: friction against normal force, in newtons, between the two edges of the cone.
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
    (run.header.planar ? drawWedge : drawDisc)(pen, run, contact, frame, theme, width, height);
  }
}

type Place = (normal: number, t: number, o: number, mu: number) => [number, number];

function drawPath(pen: CanvasRenderingContext2D, run: Run, contact: number, frame: number, theme: Theme, place: Place) {
  const mu = run.header.contacts[contact].mu;
  let last: [number, number] | null = null, here: [number, number] | null = null, hereMode = OPEN;
  const rows = run.series(contact, (row) => row);
  rows.forEach((row, f) => {
    const s = row === null ? null : run.sample(contact, row);
    if (!s || s.mode === OPEN) {
      last = null;
      return;
    }
    const at = place(s.fn, s.ft[0], s.ft[1], mu);
    if (last) {
      pen.beginPath();
      pen.moveTo(...last);
      pen.lineTo(...at);
      pen.strokeStyle = MODE_COLOURS[s.mode];
      pen.globalAlpha = f <= frame ? 0.95 : 0.25;
      pen.lineWidth = f <= frame ? 1.8 : 1.2;
      pen.stroke();
    }
    if (f === frame) {
      here = at;
      hereMode = s.mode;
    }
    last = at;
  });
  pen.globalAlpha = 1;
  if (here) {
    pen.beginPath();
    pen.arc(here[0], here[1], 5, 0, 2 * Math.PI);
    pen.fillStyle = MODE_COLOURS[hereMode];
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
  outline(pen, run, x, y, r);
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

// The cone's own section: disc, polygon of the rays, or box.
function outline(pen: CanvasRenderingContext2D, run: Run, x: number, y: number, r: number) {
  if (run.header.cone === "rays") {
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

function drawWedge(pen: CanvasRenderingContext2D, run: Run, contact: number, _frame: number, theme: Theme, width: number,
  height: number) {
  const mu = run.header.contacts[contact].mu;
  const values = (run.series(contact, (row) => run.rows("fn")[row]).filter((v) => v !== null) as number[]);
  const most = Math.max(1e-12, ...values), top = 22, bottom = height - 26, middle = width / 2;
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
  drawPath(pen, run, contact, _frame, theme, place);
}
