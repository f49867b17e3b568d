import * as THREE from "three";
import { MODE_COLOURS, PRESSURE_COLOURS, type Theme } from "./palette";
import { OPEN, type Run, type Sample } from "./run";
import { Triangles } from "./triangles";
import { number, pressureWords } from "./words";

// As the legend's gradient mixes them: by their numbers in sRGB.
const STOPS = PRESSURE_COLOURS.map((c) => [1, 3, 5].map((at) => parseInt(c.slice(at, at + 2), 16) / 255));
const NONE = new THREE.Color(MODE_COLOURS[OPEN]); // an element that carries nothing

// The colour of a share of the largest pressure of the run.
function colourOf(share: number, out: THREE.Color): THREE.Color {
  if (!(share > 0)) {
    return out.copy(NONE);
  }
  const at = Math.min(1, share) * (STOPS.length - 1), from = Math.min(STOPS.length - 2, Math.floor(at));
  const [r, g, b] = STOPS[from].map((low, i) => low + (at - from) * (STOPS[from + 1][i] - low));
  return out.setRGB(r, g, b, THREE.SRGBColorSpace);
}

// Patches of contacts at a frame: a square per element in the tangent plane; in the plane a bar along the tangent.
export class Patches {
  private readonly squares: Triangles;
  private readonly colour = new THREE.Color();

  constructor(private readonly run: Run, private readonly size: number) {
    const elements = run.header.contacts.map((c) => (c.patch ? c.patch.offsets.length / 2 : 0));
    const most = Math.min(elements.reduce((a, b) => a + b, 0), run.mostContacts * Math.max(0, ...elements));
    this.squares = new Triangles(2 * most, { vertexColors: true, opacity: 0.95, side: THREE.DoubleSide }, 9);
  }

  get mesh(): THREE.Mesh {
    return this.squares.mesh;
  }

  begin() {
    this.squares.begin();
  }

  end(visible: boolean) {
    this.squares.end(visible);
  }

  add(s: Sample) {
    const patch = this.run.header.contacts[s.contact].patch, pressure = this.run.pressure(s.contact, s.row);
    if (!patch || !pressure || !this.squares.room(2 * pressure.length)) {
      return;
    }
    const half = 0.48 * patch.cell, t = s.tangents[0]; // a hair of room between squares
    const [o, wide] = this.run.header.planar ? [s.normal, 0.006 * this.size] : [s.tangents[1], half];
    pressure.forEach((p, e) => {
      const a = patch.offsets[2 * e], b = patch.offsets[2 * e + 1];
      const colour = colourOf(p / this.run.mostPressure, this.colour);
      for (const [i, k] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
        const x = a + i * half, y = b + k * wide;
        this.squares.corner(s.point[0] + x * t[0] + y * o[0], s.point[1] + x * t[1] + y * o[1], s.point[2] + x * t[2] + y * o[2], colour);
      }
    });
  }
}

// What the colours mean, for a legend: from 0 to the largest pressure of the run.
export function ramp(run: Run): HTMLElement {
  const line = document.createElement("div"), bar = document.createElement("span");
  bar.className = "ramp";
  bar.style.background = `linear-gradient(to right, ${PRESSURE_COLOURS.join(", ")})`;
  line.append(bar, document.createTextNode(`0 to ${pressureWords(run.mostPressure, run.header.planar)} pressure`));
  return line;
}

// The patch of one contact from above: t to the right, o up. In the plane bars as high as the pressure.
export function drawPatch(canvas: HTMLCanvasElement, run: Run, s: Sample | null, theme: Theme) {
  const patch = s ? run.header.contacts[s.contact].patch : null, pressure = s ? run.pressure(s.contact, s.row) : null;
  canvas.hidden = !patch;
  if (!s || !patch || !pressure) {
    return;
  }
  const width = canvas.clientWidth, height = canvas.clientHeight, scale = Math.min(2, window.devicePixelRatio);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d")!, colour = new THREE.Color(), planar = run.header.planar;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.font = "11px system-ui, sans-serif";
  const reach = Math.max(...patch.offsets.map(Math.abs)) + patch.cell / 2, top = 20, bottom = 16;
  const half = Math.min(width / 2 - 24, planar ? width : (height - top - bottom) / 2), perMetre = half / reach;
  const x0 = width / 2, y0 = planar ? height - bottom : top + (height - top - bottom) / 2, side = patch.cell * perMetre;
  pressure.forEach((p, e) => {
    const x = x0 + patch.offsets[2 * e] * perMetre, y = y0 - patch.offsets[2 * e + 1] * perMetre, share = p / run.mostPressure;
    pen.fillStyle = `#${colourOf(share, colour).getHexString()}`;
    if (planar) {
      const tall = Math.max(1, share * (height - top - bottom));
      pen.fillRect(x - 0.48 * side, y0 - tall, 0.96 * side, tall);
    } else {
      pen.fillRect(x - 0.48 * side, y - 0.48 * side, 0.96 * side, 0.96 * side);
    }
  });
  pen.fillStyle = theme.faint;
  pen.textAlign = "center";
  pen.fillText(`pressure, now up to ${pressureWords(Math.max(...pressure), planar)}`, x0, 12);
  pen.fillText(`${number(2000 * reach)} mm`, x0, height - 3);
  pen.textAlign = "left";
  pen.fillText("t", x0 + half + 6, y0 + 4);
  if (!planar) {
    pen.fillText("o", x0 - half - 14, top + 8);
  }
}
