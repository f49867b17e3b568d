import uPlot from "uplot";
import { MODE_COLOURS, seriesColours, type Theme } from "./palette";
import { stretches } from "./ribbon";
import { OPEN, type Run, type Series } from "./run";
import { number } from "./words";

interface Line {
  label: string;
  values: ArrayLike<number | null>;
  colour: string;
  dash?: number[];
  fillTo?: number; // line (from 1) that bounds a band with this one
}

interface Graph {
  title: string;
  unit: string;
  log?: boolean; // the values are powers of ten
  lines: (run: Run) => Line[];
  bands: boolean; // the selected contact's modes behind the curves
}

// The graphs beside the picture. Each is a uPlot; the time cursor is an element of its own, so that playing redraws
// nothing.
export class Plots {
  private plots: { plot: uPlot; cursor: HTMLElement; box: HTMLElement }[] = [];
  private width = 0;

  constructor(private readonly box: HTMLElement, private readonly seek: (t: number) => void) {}

  draw(runs: Run[], primary: number, contact: number, joint: number, theme: Theme) {
    this.plots.forEach(({ plot }) => plot.destroy());
    this.plots = [];
    this.box.replaceChildren();
    this.width = Math.max(120, this.box.clientWidth);
    if (runs[primary].header.instant) {
      return; // it has no course
    }
    for (const graph of graphsOf(runs[primary], contact, joint, theme)) {
      this.add(graph, runs, primary, contact, joint, theme);
    }
  }

  private add(graph: Graph, runs: Run[], primary: number, contact: number, joint: number, theme: Theme) {
    const tables: uPlot.AlignedData[] = [];
    const series: uPlot.Series[] = [{ label: "t" }];
    const bands: uPlot.Band[] = [];
    runs.forEach((run, index) => {
      if (run.header.instant) {
        return;
      }
      const own = index === primary ? contact : contact < 0 ? -1 : run.findContact(runs[primary], contact);
      if (index !== primary && graph.bands && own < 0) {
        return;
      }
      const graphOfRun = index === primary ? graph : graphsOf(run, own, joint, theme).find((g) => g.title === graph.title);
      const lines = graphOfRun?.lines(run) ?? [];
      const first = series.length;
      lines.forEach((line) => {
        series.push({
          label: line.label, stroke: line.colour, width: index === primary ? 1.5 : 1.2, points: { show: run.frames === 1 },
          dash: index === primary ? line.dash : [2, 3], alpha: index === primary ? 1 : 0.7, spanGaps: false,
        });
        if (line.fillTo !== undefined) {
          bands.push({ series: [series.length - 1, first + line.fillTo - 1], fill: `${line.colour}33` });
        }
      });
      tables.push([Array.from(run.t), ...lines.map((l) => Array.from(l.values))] as uPlot.AlignedData);
    });
    if (series.length === 1) {
      return;
    }
    const box = document.createElement("figure");
    box.append(this.caption(graph, runs[primary]));
    this.box.append(box);
    const data = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const plot = new uPlot(this.options(graph, series, bands, runs[primary], contact, theme), data, box);
    const cursor = document.createElement("div");
    cursor.className = "plot-cursor";
    plot.over.append(cursor);
    const pick = (event: PointerEvent) => {
      this.seek(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"));
    };
    plot.over.addEventListener("pointerdown", pick);
    plot.over.addEventListener("pointermove", (event) => event.buttons & 1 && pick(event));
    this.plots.push({ plot, cursor, box });
  }

  private caption(graph: Graph, run: Run): HTMLElement {
    const caption = document.createElement("figcaption");
    const title = document.createElement("b");
    title.textContent = graph.unit ? `${graph.title} [${graph.unit}]` : graph.title;
    caption.append(title);
    const lines = graph.lines(run).filter((l) => l.fillTo === undefined && l.label);
    for (const line of lines.length > 1 ? lines : []) {
      const key = document.createElement("span");
      const swatch = document.createElement("i");
      swatch.style.borderTopColor = line.colour;
      swatch.style.borderTopStyle = line.dash ? "dashed" : "solid";
      key.append(swatch, document.createTextNode(line.label));
      caption.append(key);
    }
    return caption;
  }

  private options(graph: Graph, series: uPlot.Series[], bands: uPlot.Band[], run: Run, contact: number, theme: Theme): uPlot.Options {
    const axis = {
      stroke: theme.faint, font: "10px system-ui, sans-serif", grid: { stroke: theme.line, width: 0.5 },
      ticks: { stroke: theme.line, width: 0.5, size: 3 }, gap: 2,
    };
    const range: uPlot.Range.Function = (_, low, high) => [low, high > low ? high : low + (run.header.h || 1)];
    return {
      width: this.width, height: 118, legend: { show: false }, cursor: { show: false }, padding: [6, 18, 0, 0],
      scales: { x: { time: false, range }, y: { range: graph.log ? decades : roomy } },
      series, bands,
      axes: [
        { ...axis, size: 20, values: (_, ticks) => ticks.map((t) => `${number(t)} s`), space: 56 },
        { ...axis, size: 48, space: 22, ...(graph.log ? { incrs: [1, 2, 4, 5, 10, 20] } : {}),
          values: (_, ticks) => ticks.map((v) => (graph.log ? `1e${v}` : number(v))) },
      ],
      hooks: { drawClear: graph.bands && contact >= 0 ? [(plot: uPlot) => modeBands(plot, run, contact)] : [] },
    };
  }

  show(t: number) {
    for (const { plot, cursor } of this.plots) {
      cursor.style.transform = `translateX(${plot.valToPos(t, "x").toFixed(1)}px)`;
    }
  }
}

const decades: uPlot.Range.Function = (_, low, high) =>
  low === null || high === null || !Number.isFinite(low) ? [-16, 0] : [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];

const roomy: uPlot.Range.Function = (_, low, high) => {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) {
    return [0, 1];
  }
  const room = high - low > 1e-9 && high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)) ? 0.07 * (high - low) : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
};

function modeBands(plot: uPlot, run: Run, contact: number) {
  const pen = plot.ctx;
  const modes = run.series(contact, (row) => run.ribbonMode(row), true);
  pen.save();
  pen.globalAlpha = 0.13;
  for (const { mode, from, to } of stretches(modes).filter((s) => s.mode !== OPEN)) {
    const x0 = plot.valToPos(run.t[Math.max(0, from - 1)], "x", true), x1 = plot.valToPos(run.t[to - 1], "x", true);
    pen.fillStyle = MODE_COLOURS[mode];
    pen.fillRect(x0, plot.bbox.top, Math.max(1, x1 - x0), plot.bbox.height);
  }
  pen.restore();
}

// Powers of ten; zero has no place among them.
const powers = (values: Float32Array): (number | null)[] => Array.from(values, (v) => (v > 0 ? Math.log10(v) : null));

function graphsOf(run: Run, contact: number, joint: number, theme: Theme): Graph[] {
  const graphs: Graph[] = [];
  const [blue, red, green, pink] = seriesColours(theme);
  const of = (name: string): Series => run.series(contact, (row) => run.rows(name)[row], /_(low|high)$/.test(name));
  const band = (line: Line, low: string, high: string, at: number): Line[] => run.envelopes
    ? [line, { label: "", values: of(high), colour: line.colour }, { label: "", values: of(low), colour: line.colour, fillTo: at + 2 }]
    : [line];
  if (contact >= 0) {
    graphs.push({
      title: "gap", unit: "mm", bands: true,
      lines: () => band({ label: "gap", values: of("phi"), colour: blue }, "phi_low", "phi_high", 0).map((l) => ({
        ...l, values: Array.from(l.values, (v) => (v === null ? null : 1e3 * v)),
      })),
    });
    graphs.push({
      title: "normal force", unit: "N", bands: true,
      lines: () => band({ label: "normal", values: of("fn"), colour: blue }, "fn_low", "fn_high", 0),
    });
    graphs.push({
      title: "friction", unit: "N", bands: true,
      lines: () => [
        { label: "used", values: run.series(contact, (row) => run.used(row)), colour: pink },
        { label: run.has("limit") ? "most" : "µ × normal", values: run.series(contact, (row) => run.limit(contact, row)), colour: blue, dash: [5, 3] },
        ...(run.envelopes ? [{ label: "largest", values: of("used_high"), colour: red, dash: [1, 3] }] : []),
      ],
    });
  }
  if (run.header.joints[joint]) {
    const j = run.header.joints[joint];
    graphs.push({
      title: j.name, unit: j.unit, bands: false,
      lines: () => [
        { label: "actual", values: run.column("joint", joint), colour: blue },
        ...(j.commanded ? [{ label: "command", values: run.column("command", joint), colour: red, dash: [5, 3] }] : []),
      ],
    });
  }
  graphs.push({
    title: "residuals", unit: "", log: true, bands: false,
    lines: () => ([["balance", blue], ["complementarity", red], ["cone", green], ["penetration", pink]] as const)
      .filter(([name]) => run.has(name)).map(([name, colour]) => ({ label: name, values: powers(run.column(name, 0)), colour }))
      .filter((line) => line.values.some((v) => v !== null)),
  });
  return graphs;
}
