import { MODE_COLOURS, type Theme } from "./palette";
import { OPEN, type Run, type Series } from "./run";

export const INSET = 7; // half the thumb of the time slider, which the time axis lines up with

// Rows that have names, if need be by scrolling. Of more than that as many as may be are in sight, and only the row under
// the pointer, else the chosen one, is named.
export const NAMED = 120;

// Where a contact is listed in one mode without a break: frames from..to-1.
export function stretches(modes: Series): { mode: number; from: number; to: number }[] {
  const out = [];
  for (let from = 0, to = 1; from < modes.length; from = to++) {
    while (to < modes.length && modes[to] === modes[from]) {
      to++;
    }
    const mode = modes[from];
    if (mode !== null) {
      out.push({ mode, from, to });
    }
  }
  return out;
}

// One row per contact along the time line, coloured by mode. Rows are in the order of the contacts' first touch; what
// never touches comes last.
export class Ribbon {
  private readonly canvas = document.createElement("canvas");
  private readonly names = document.createElement("div");
  private readonly cursor = document.createElement("div");
  private readonly mark = document.createElement("div");
  private readonly label = document.createElement("div"); // the name of one row, where rows are too low for theirs
  private selected = -1;
  private rows: number[] = [];
  private rowHeight = 12;
  private shown = -1; // contact that was last brought into view
  private run!: Run;
  private time: [number, number] = [0, 1];

  constructor(private readonly box: HTMLElement, choose: (contact: number, t: number) => void) {
    this.names.className = "ribbon-names";
    this.cursor.className = "ribbon-cursor";
    this.mark.className = "ribbon-mark";
    this.label.className = "ribbon-label";
    const field = document.createElement("div");
    field.className = "ribbon-field";
    field.append(this.canvas, this.cursor);
    box.append(this.mark, this.names, field);
    const rowAt = (event: PointerEvent) => Math.min(this.rows.length - 1,
      Math.max(0, Math.floor((event.clientY - this.canvas.getBoundingClientRect().top) / this.rowHeight)));
    const pick = (event: PointerEvent) => {
      const at = this.canvas.getBoundingClientRect(), row = rowAt(event);
      const part = (event.clientX - at.left - INSET) / Math.max(1, at.width - 2 * INSET);
      const t = this.time[0] + Math.min(1, Math.max(0, part)) * (this.time[1] - this.time[0]);
      if (this.rows.length > 0) {
        choose(this.rows[row], t);
      }
    };
    this.canvas.addEventListener("pointerdown", pick);
    this.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && pick(event));
    for (const part of [this.canvas, this.names] as HTMLElement[]) {
      part.addEventListener("pointermove", (event) => this.nameRow(rowAt(event)));
      part.addEventListener("pointerleave", () => this.nameRow(this.rows.indexOf(this.selected)));
    }
    this.names.addEventListener("pointerdown", (event) => {
      const row = Math.floor((event.clientY - this.names.getBoundingClientRect().top) / this.rowHeight);
      if (row >= 0 && row < this.rows.length) {
        choose(this.rows[row], NaN);
      }
    });
  }

  setRun(run: Run, time: [number, number], firstTouch: number[]) {
    this.run = run;
    this.time = time;
    this.rows = run.header.contacts.map((_, i) => i).sort((i, j) => firstTouch[i] - firstTouch[j] || i - j);
  }

  // Draws all rows; the cursor alone moves afterwards.
  draw(theme: Theme) {
    const space = this.box.clientHeight, width = Math.max(1, this.canvas.parentElement!.clientWidth);
    const count = Math.max(1, this.rows.length);
    this.rowHeight = Math.max(count <= NAMED ? 12 : 2, Math.min(16, Math.floor(space / count)));
    const height = this.rowHeight * count, scale = Math.min(2, window.devicePixelRatio);
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.min(30000, Math.round(height * scale));
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d")!;
    pen.scale(scale, scale);
    pen.clearRect(0, 0, width, height);
    this.rows.forEach((contact, row) => this.drawRow(pen, contact, row * this.rowHeight, width, theme));
    this.writeNames(height);
  }

  private drawRow(pen: CanvasRenderingContext2D, contact: number, y: number, width: number, theme: Theme) {
    const tall = this.rowHeight > 5 ? this.rowHeight - 2 : this.rowHeight > 3 ? this.rowHeight - 1 : this.rowHeight;
    const modes = this.run.series(contact, (row) => this.run.ribbonMode(row), true);
    pen.globalAlpha = 1;
    pen.fillStyle = theme.line;
    pen.fillRect(INSET, y + tall / 2 - 0.25, width - 2 * INSET, 0.5);
    // The gravest last: a slip of one step is narrower than a pixel, and what comes behind it must not cover it.
    for (const { mode, from, to } of stretches(modes).sort((a, b) => a.mode - b.mode)) {
      // A step's mode is that of the time it took: from the frame before to its own.
      const x0 = this.x(this.run.t[Math.max(0, from - 1)], width), x1 = this.x(this.run.t[to - 1], width);
      pen.globalAlpha = mode === OPEN ? 0.45 : 1;
      pen.fillStyle = MODE_COLOURS[mode];
      const thin = mode === OPEN ? 0.3 : 1;
      const left = mode === OPEN ? x0 : Math.min(x0, Math.floor(x1)); // a whole pixel at least, not two halves
      pen.fillRect(left, y + (tall * (1 - thin)) / 2, Math.max(1, x1 - left), tall * thin);
    }
  }

  private writeNames(height: number) {
    this.names.replaceChildren();
    this.names.style.height = `${height}px`;
    if (this.rowHeight < 10) {
      const note = document.createElement("span");
      note.className = "ribbon-note";
      note.textContent = `${this.rows.length} contacts`;
      this.names.append(note, this.label);
      this.nameRow(this.rows.indexOf(this.selected));
      return;
    }
    for (const contact of this.rows) {
      const name = document.createElement("span");
      name.textContent = this.run.contactName(contact);
      name.title = `${this.run.contactName(contact)}  ${this.run.header.contacts[contact].feature}`;
      name.style.height = name.style.lineHeight = `${this.rowHeight}px`;
      name.style.fontSize = `${Math.min(11, this.rowHeight - 2)}px`;
      this.names.append(name);
    }
  }

  // Writes the name of a row beside it, and where it is on the canvas as its tip; -1: of none.
  private nameRow(row: number) {
    const contact = this.rows[row];
    const name = contact === undefined ? "" : `${this.run.contactName(contact)}  ${this.run.header.contacts[contact].feature}`;
    this.canvas.title = name;
    this.label.textContent = name;
    this.label.style.visibility = name === "" ? "hidden" : "visible";
    const low = this.box.scrollTop + 7, high = this.box.scrollTop + this.box.clientHeight - 7; // half its height inside
    this.label.style.top = `${Math.max(low, Math.min(high, (row + 0.5) * this.rowHeight))}px`;
  }

  private x(t: number, width: number): number {
    const span = this.time[1] - this.time[0];
    return INSET + (span > 0 ? (t - this.time[0]) / span : 0) * (width - 2 * INSET);
  }

  show(t: number, selected: number) {
    const width = this.canvas.parentElement!.clientWidth;
    this.cursor.style.transform = `translateX(${this.x(t, width).toFixed(1)}px)`;
    const row = this.rows.indexOf(selected);
    this.mark.style.visibility = row >= 0 ? "visible" : "hidden";
    this.mark.style.transform = `translateY(${row * this.rowHeight - 1}px)`;
    this.mark.style.height = `${this.rowHeight}px`;
    this.selected = selected;
    if (selected !== this.shown) {
      this.shown = selected;
      const top = row * this.rowHeight, low = this.box.scrollTop, high = low + this.box.clientHeight;
      this.box.scrollTop = top < low ? top : top + this.rowHeight > high ? top + this.rowHeight - this.box.clientHeight : low;
      this.nameRow(row);
    }
  }
}
