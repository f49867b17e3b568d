import { drawCone } from "./cone";
import { Film, type Asked } from "./film";
import { MODE_COLOURS, NORMAL_COLOUR, RUN_COLOURS, themeOf, TOTAL_COLOUR, TRUST_COLOURS, type Theme } from "./palette";
import { type Instant } from "./format";
import { GRADES, nextVerdict, TrustRow } from "./trust";
import { Plots } from "./plots";
import { drawPatch, ramp } from "./pressure";
import { NAMED, Ribbon } from "./ribbon";
import { MODE_NAMES, OPEN, readRuns, type Run } from "./run";
import { View, type Arrangement, type Camera, type Preset, type ViewState } from "./view";
import { keptBefore, watchForNews } from "./watch";
import { metres, metresPerSecond, modeName, newtons, number, plainWords, pressureWords } from "./words";

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

const LAYERS = [
  ["points", "contacts", "k"], ["normals", "normal", "n"], ["totals", "total", "m"], ["cones", "cones", "c"], ["pressure", "pressure", "p"], ["ghost", "ghost", "g"], ["labels", "names", "l"],
] as const;

const KEYS: [string, string][] = [
  ["space", "play or pause"], ["← →", "a step back or on; with shift ten"], ["Home End", "first and last step"],
  [", .", "the change of mode before or after"], ["v, shift v", "the change of a verdict after or before"], ["[ ]", "the contact before or after"], ["f", "flat or 3-D (planar scenes)"],
  ["r", "the whole scene"], ["x y z", "seen from the side, from the front, from above (scenes in space)"], ["+ −", "longer or shorter arrows"], ["k n m c p g l", "contacts, normal forces, total forces, cones, pressure of patches, the ghost of a motion that costs nothing, names"],
  ["d", "light or dark"], ["1 … 9", "the run of that number"], ["drag, wheel", "turn and zoom; with the right button move"], ["?", "this list"],
];

// What a page that is loaded again goes on with. Names, not numbers: the scene may have changed.
interface Kept {
  t: number;
  playing: boolean;
  dark: boolean;
  speed: string;
  contact: string;
  joint: string;
  follow: string;
  flat: boolean;
  layers: ViewState["layers"];
  arrowScale: number;
  camera: Camera | null;
}

const chosenText = (id: string) => by<HTMLSelectElement>(id).selectedOptions[0]?.text ?? "";

// The value of the option that reads `text`; null: there is none.
const optionOf = (id: string, text: string) => [...by<HTMLSelectElement>(id).options].find((o) => o.text === text)?.value ?? null;

const GHOST_PERIOD = 2, GHOST_SECONDS = 8; // s: whole periods

class Replay {
  private readonly state: ViewState;
  private readonly time: [number, number];
  private readonly view: View | null;
  private readonly ribbon: Ribbon;
  private readonly trust: TrustRow;
  private readonly plots: Plots;
  private ghostFrom = { shown: "", at: 0 }; // which ghost is shown, and since when (ms)
  private theme: Theme;
  private t: number;
  private joint = -1;
  private playing = false;
  private lastTick = 0;
  private pending = false;
  private readonly firstTouch: number[][];
  private speedShown = ""; // of a film, where it is not real time
  film: Film | null = null;

  constructor(private readonly runs: Run[]) {
    this.time = [Math.min(...runs.map((r) => r.t[0])), Math.max(...runs.map((r) => r.t[r.frames - 1]))];
    this.t = this.time[0];
    this.firstTouch = runs.map(firstTouches);
    this.state = {
      frames: runs.map(() => 0), primary: 0, arrangement: runs.length > 1 ? "overlay" : "one", flat: runs[0].header.planar,
      layers: { points: true, normals: true, totals: true, cones: true, pressure: true, ghost: true, labels: true }, selected: -1, arrowScale: 1, follow: -1, ghostWay: 1,
    };
    this.state.selected = busiest(runs[0]);
    this.joint = runs[0].header.joints.findIndex((j) => j.commanded);
    const saved = window.matchMedia("(prefers-color-scheme: dark)");
    this.theme = themeOf(saved.matches);
    saved.addEventListener("change", (event) => this.setTheme(event.matches));
    this.view = this.makeView();
    this.ribbon = new Ribbon(by("ribbon"), (contact, t) => this.choose(contact, t));
    this.trust = new TrustRow(by("trust"), by("trust-words"), (t) => { this.pause(); this.seek(t); });
    this.plots = new Plots(by("plots"), (t) => this.seek(t));
    this.wire();
    this.fillHeader();
    this.setPrimary(0);
    this.setTheme(this.theme.dark);
    this.obey(new URLSearchParams(window.location.hash.slice(1)));
    new ResizeObserver(() => this.layout()).observe(by("view"));
    new ResizeObserver(() => this.layout()).observe(by("ribbon"));
    this.layout();
  }

  // What a program asks for behind the # of the address: "at=1.5" is the time to begin with, "picture" hides all else, "speed=0.1" is
  // that of a film, which stands beside its time.
  private obey(asked: URLSearchParams) {
    if (asked.has("at")) {
      this.seek(Number(asked.get("at")) || 0);
    }
    if (asked.has("picture")) {
      document.documentElement.dataset.only = "picture";
    }
    const speed = Number(asked.get("speed") ?? 1);
    this.speedShown = speed === 1 ? "" : ` · ${number(speed)}×`;
  }

  // A film of what is shown; returns how many pictures it has, as text.
  async begin(asked: Asked): Promise<string> {
    if (this.instant) {
      throw new Error("an instant has no course that could be filmed; --png takes its picture");
    }
    if (typeof VideoEncoder === "undefined") {
      throw new Error("this browser cannot encode videos (WebCodecs)");
    }
    this.film = new Film(asked, {
      time: this.time,
      show: (t) => { this.seek(t); this.draw(); this.finish(); return String(this.state.frames); },
    });
    return String(await this.film.begin());
  }

  private makeView(): View | null {
    try {
      return new View(by("view"), this.runs, () => this.later());
    } catch {
      by("message").hidden = false;
      by("message").textContent = "This browser has no WebGL, so there is no picture; the plots and numbers are complete.";
      return null;
    }
  }

  private get run(): Run {
    return this.runs[this.state.primary];
  }

  // What is answered where the run speaks of an instant; null: it took steps.
  private get instant(): Instant | null {
    return this.run.header.instant;
  }

  private get frame(): number {
    return this.state.frames[this.state.primary];
  }

  // ---- what is shown ------------------------------------------------------------------------------------------------

  private setTheme(dark: boolean) {
    this.theme = themeOf(dark);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.view?.paint(this.theme);
    this.ribbon.draw(this.theme);
    this.trust.draw(this.theme);
    this.fillGrades();
    this.drawPlots();
    this.later();
  }

  private setPrimary(index: number) {
    const before = this.state.selected >= 0 ? this.runs[index].findContact(this.run, this.state.selected) : -1;
    this.state.primary = index;
    this.state.selected = before >= 0 ? before : busiest(this.run);
    by<HTMLSelectElement>("run").value = String(index);
    this.ribbon.setRun(this.run, this.time, this.firstTouch[index]);
    this.trust.setRun(this.run, this.time);
    this.fillGrades();
    this.fillContacts();
    const slider = by<HTMLInputElement>("time");
    slider.max = String(this.run.frames - 1);
    by("timeline-name").textContent = this.instant ? "solutions" : `${number(this.time[0])} to ${number(Number(this.time[1].toFixed(9)))} s`;
    for (const id of ["play", "speed", "ribbon"]) { // an instant has no course
      by(id).hidden = this.instant !== null;
    }
    this.fillStatus();
    this.seek(this.t);
    this.ribbon.draw(this.theme);
    this.trust.draw(this.theme);
    this.drawPlots();
  }

  private drawPlots() {
    this.plots.draw(this.state.arrangement === "one" ? [this.run] : this.runs,
      this.state.arrangement === "one" ? 0 : this.state.primary, this.state.selected, this.joint, this.theme);
    this.plots.show(this.t);
  }

  private layout() {
    const rows = Math.max(1, this.run.contactCount);
    by("ribbon").style.height = `${rows <= NAMED ? 16 * rows : 4 * rows}px`; // at most; the style sheet bounds it
    this.view?.resize();
    this.ribbon.draw(this.theme);
    this.trust.draw(this.theme);
    this.drawPlots();
    this.later();
  }

  seek(t: number) {
    this.t = Math.min(this.time[1], Math.max(this.time[0], t));
    this.state.frames = this.runs.map((run) => run.frameAt(this.t));
    this.later();
  }

  showFrame(frame: number) {
    const f = Math.min(this.run.frames - 1, Math.max(0, frame));
    this.seek(this.run.t[f]);
  }

  private choose(contact: number, t: number) {
    const other = contact !== this.state.selected;
    this.state.selected = contact;
    by<HTMLSelectElement>("contact").value = String(contact);
    if (!Number.isNaN(t)) {
      this.pause();
      this.seek(t);
    }
    if (other) {
      this.drawPlots();
    }
    this.later();
  }

  private later() {
    if (!this.pending) {
      this.pending = true;
      requestAnimationFrame((now) => {
        this.pending = false;
        this.tick(now);
        this.draw();
      });
    }
  }

  private tick(now: number) {
    if (!this.playing) {
      return;
    }
    const seconds = Math.min(0.25, (now - this.lastTick) / 1000);
    this.lastTick = now;
    this.seek(this.t + seconds * Number(by<HTMLSelectElement>("speed").value));
    if (this.t >= this.time[1]) {
      this.pause();
    } else {
      this.later();
    }
  }

  // A ghost goes along its motion and back (or to and fro) for some seconds after the step is shown, and then rests at its end;
  // it does from the start where movement is not wanted, and in pictures and films.
  private moveGhost() {
    const ghost = this.state.layers.ghost ? this.run.ghost(this.frame) : null, shown = ghost ? `${this.state.primary} ${this.frame}` : "";
    const still = document.documentElement.dataset.only === "picture" || window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (shown !== this.ghostFrom.shown) {
      this.ghostFrom = { shown, at: performance.now() };
    }
    const seconds = (performance.now() - this.ghostFrom.at) / 1000, turn = (2 * Math.PI * seconds) / GHOST_PERIOD;
    const moves = ghost !== null && !still && !this.playing && seconds < GHOST_SECONDS;
    this.state.ghostWay = !moves ? 1 : ghost.bothWays ? Math.cos(turn) : 0.5 + 0.5 * Math.cos(turn);
    if (moves) {
      window.setTimeout(() => this.later(), 60);
    }
  }

  draw() {
    this.moveGhost();
    this.view?.draw(this.state);
    this.ribbon.show(this.t, this.state.selected);
    this.trust.show(this.t, this.frame);
    this.plots.show(this.t);
    const aside = by("cone").clientWidth > 0; // not where the picture stands alone
    if (aside) {
      drawCone(by<HTMLCanvasElement>("cone"), this.run, this.state.selected, this.frame, this.theme);
    }
    by<HTMLInputElement>("time").value = String(this.frame);
    by("clock").textContent = this.instant
      ? `${number(this.run.header.t0)} s · ${this.instant.rates.length > 0 ? `solution ${this.frame + 1} of ${this.instant.rates.length}` : "no solution"}`
      : `${this.run.t[this.frame].toFixed(decimals(this.run.header.h))} s · step ${this.run.step[this.frame]} of ${this.run.step[this.run.frames - 1]}`;
    const row = this.state.selected < 0 ? -1 : this.run.rowAt(this.state.selected, this.frame);
    if (aside) {
      drawPatch(by<HTMLCanvasElement>("patch"), this.run, row < 0 ? null : this.run.sample(this.state.selected, row), this.theme);
    }
    by("moment").textContent = this.instant ? "" : `${this.run.t[this.frame].toFixed(decimals(this.run.header.h))} s${this.speedShown}`;
    this.showSolver();
    this.showWhy();
    this.showLegend();
    this.showPanels();
  }

  finish() {
    this.view?.finish();
  }

  // ---- loading again -------------------------------------------------------------------------------------------------

  keep(): Kept {
    return {
      t: this.t, playing: this.playing, dark: this.theme.dark, speed: by<HTMLSelectElement>("speed").value, contact: chosenText("contact"),
      joint: chosenText("joint"), follow: chosenText("follow"), flat: this.state.flat, layers: this.state.layers,
      arrowScale: this.state.arrowScale, camera: this.view?.keepCamera() ?? null,
    };
  }

  restore(kept: Kept) {
    const contact = optionOf("contact", kept.contact), joint = optionOf("joint", kept.joint), follow = optionOf("follow", kept.follow);
    by<HTMLSelectElement>("speed").value = kept.speed;
    this.joint = joint === null ? this.joint : Number(joint);
    by<HTMLSelectElement>("joint").value = String(this.joint);
    this.state.follow = follow === null ? -1 : Number(follow);
    by<HTMLSelectElement>("follow").value = String(this.state.follow);
    this.state.arrowScale = kept.arrowScale;
    if (kept.flat !== this.state.flat) {
      this.toggleFlat();
    }
    for (const [name] of LAYERS) {
      if (kept.layers[name] !== this.state.layers[name]) {
        this.toggleLayer(name);
      }
    }
    if (kept.camera) {
      this.view?.restoreCamera(kept.camera);
    }
    this.choose(contact === null ? this.state.selected : Number(contact), NaN);
    this.seek(kept.t);
    this.setTheme(kept.dark);
    if (kept.playing && this.t < this.time[1]) {
      this.play();
    }
  }

  showNews(message: string) {
    by("news").hidden = message === "";
    by("news").textContent = message;
  }

  // ---- panels -------------------------------------------------------------------------------------------------------

  private fillHeader() {
    const h = this.runs[0].header;
    document.title = `${this.runs[0].name} - perp`;
    by("title").textContent = this.runs[0].name;
    by("about").textContent = this.runs.length > 1 ? `${this.runs.length} logs` : h.instant ? h.model : `${h.model}, steps of ${number(h.h)} s`;
    const choice = by<HTMLSelectElement>("run");
    this.runs.forEach((_, i) => choice.add(new Option(this.runName(i), String(i))));
    by("runs-choice").hidden = by("arrangement-choice").hidden = this.runs.length < 2;
    by("flat").hidden = !h.planar;
    by("presets").hidden = h.planar;
    const follow = by<HTMLSelectElement>("follow");
    follow.add(new Option("nothing", "-1"));
    h.bodies.forEach((body, i) => body.kind !== "fixed" && body.shapes.length + body.lines.length > 0 && follow.add(new Option(body.name, String(i))));
    const joint = by<HTMLSelectElement>("joint");
    h.joints.forEach((j, i) => joint.add(new Option(j.name, String(i))));
    joint.value = String(this.joint = this.joint < 0 && h.joints.length > 0 ? 0 : this.joint);
    by("joint-choice").hidden = h.joints.length === 0;
    MODE_NAMES.forEach((name, mode) => {
      const key = document.createElement("span"), swatch = document.createElement("i");
      swatch.style.background = MODE_COLOURS[mode];
      key.append(swatch, document.createTextNode(["open", "stick", "limit: at the edge of its cone", "slide"][mode] ?? name));
      by("modes").append(key);
    });
  }

  private fillGrades() {
    by("grades").hidden = this.run.header.trust === null;
    by("grades").replaceChildren(...GRADES.map(([grade, words], i) => {
      const key = document.createElement("span"), swatch = document.createElement("i");
      swatch.style.background = TRUST_COLOURS[this.theme.dark ? "dark" : "light"][grade];
      key.append(swatch, document.createTextNode(i === 0 ? `trust: ${words}` : words));
      return key;
    }));
  }

  private runName(index: number): string {
    const { header, name } = this.runs[index];
    return `${index + 1}: ${header.model}${sameModels(this.runs) ? `, ${name}` : ""}`;
  }

  // The name of each run in its part of the picture, below the tools.
  private showPanels() {
    const split = this.view && this.runs.length > 1 && this.state.arrangement === "split";
    const parts = split ? this.view!.parts(this.state) : [], top = by("tools").offsetHeight + 14;
    by("panels").replaceChildren(...parts.map((part) => {
      const name = document.createElement("div");
      name.textContent = this.runName(part.run);
      name.style.left = `${part.x + 8}px`;
      name.style.top = `${part.y + (part.y === 0 ? top : 8)}px`;
      name.style.maxWidth = `${part.width - 16}px`;
      name.style.borderColor = RUN_COLOURS[part.run % RUN_COLOURS.length];
      return name;
    }));
  }

  private fillStatus() {
    const h = this.run.header, status = by("status");
    const lost = h.lostBytes > 0 || h.damaged > 0;
    const [kind, text] = h.end.failed ? ["bad", `stopped: ${h.end.message || h.end.code}`]
      : !h.complete || lost ? ["warn", `log cut short after step ${this.run.step[this.run.frames - 1]}`] : ["good", h.instant ? answerWords(h.instant) : "solved"];
    const shown = h.stride > 1 ? `; one of ${h.stride} steps shown, bands and ribbon keep the extremes` : "";
    status.className = kind;
    const units = h.readIn ? `; scene in ${h.readIn.length} and ${h.readIn.angle}, numbers here in m and rad` : "";
    status.textContent = text + shown + units;
    status.title = status.textContent;
  }

  private fillContacts() {
    const list = by<HTMLSelectElement>("contact");
    list.replaceChildren();
    this.run.header.contacts.forEach((c, i) => list.add(new Option(`${this.run.contactName(i)}  ${c.feature}`, String(i))));
    list.value = String(this.state.selected);
    list.disabled = this.run.contactCount === 0;
  }

  private showSolver() {
    const at = (name: string) => this.run.column(name, 0)[this.frame];
    const rates = this.instant?.rates[this.frame];
    if (rates) {
      by("solver").textContent = `${this.instant!.answers}: ${Object.entries(rates).map(([name, values]) =>
        `${name} [${values.map((v) => number(Math.abs(v) < 1e-12 ? 0 : v)).join(", ")}]`).join(" · ")}`;
      return;
    }
    const parts = this.isInitial() ? ["initial state"] : [
      `${number(at("iterations"))} iterations`, `balance ${number(at("balance"))}`, `penetration ${metres(at("penetration"))}`,
    ];
    this.run.header.fallbacks.forEach((name, i) => {
      const count = this.run.column("fallbacks", i)[this.frame];
      if (count > 0) {
        parts.push(`${name} ${number(count)}`);
      }
    });
    if (this.frame > 0 && at("several") > 0) {
      parts.push("solved, not the only answer");
    }
    by("solver").textContent = parts.join(" · ");
  }

  // No step has been taken yet, so that nothing has a force.
  private isInitial(): boolean {
    return this.frame === 0 && this.run.step[0] === 0 && !this.instant;
  }

  private showWhy() {
    const contact = this.state.selected, mode = by("why-mode"), text = by("why-text");
    const row = contact < 0 ? -1 : this.run.rowAt(contact, this.frame);
    const sample = row < 0 ? null : this.run.sample(contact, row);
    const dot = document.createElement("i");
    dot.style.background = MODE_COLOURS[sample?.mode ?? OPEN];
    mode.replaceChildren(dot, document.createTextNode(contact < 0 ? "no contacts" : sample ? modeName(sample.mode) : "apart"));
    const nearest = contact < 0 ? null : this.run.why(contact, this.run.step[this.frame]);
    const now = nearest !== null && nearest.step === this.run.step[this.frame];
    const said = now || !this.instant ? nearest : null; // another solution is another story
    const sentences = now ? [nearest.text] : sample ? plainWords(this.run, sample, this.isInitial())
      : contact < 0 ? ["Nothing comes near anything else in this run."] : ["Farther apart than the margin, so it is not listed."];
    // of another step only what would change its mode: the forces of this one stand above
    if (said && !now && sample && sample.mode !== OPEN && said.text.includes("; ")) {
      sentences.push(`The log explains step ${said.step}: ${said.text}`);
    }
    text.replaceChildren(...sentences.map((sentence) => {
      const p = document.createElement("p");
      p.textContent = sentence;
      return p;
    }));
    const facts: [string, string][] = !sample ? [] : [
      ["normal", newtons(sample.fn)], this.run.isSupport(contact) ? ["load", "given"] : ["gap", metres(sample.phi)], ["friction", newtons(Math.hypot(...sample.ft))], ["used", newtons(sample.used)],
      ["slip", metresPerSecond(Math.hypot(...sample.slip))], ["µ", number(this.run.header.contacts[contact].mu)],
      [this.run.has("limit") ? "most" : "µ fn", newtons(sample.limit)],
    ];
    const pressure = sample && this.run.pressure(contact, sample.row);
    if (pressure) {
      facts.push(["pressure", pressureWords(Math.max(...pressure), this.run.header.planar)]);
    }
    by("facts").replaceChildren(...facts.flatMap(([name, value]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = value;
      return [dt, dd];
    }));
  }

  // An arrow of a round number of newtons, as long as it is in the picture.
  private showLegend() {
    const legend = by("legend");
    legend.replaceChildren();
    if (!this.view || this.view.metresPerNewton === 0) {
      return;
    }
    const perNewton = this.view.pixelsPerMetre() * this.view.metresPerNewton * this.state.arrowScale;
    const raw = 70 / perNewton, power = 10 ** Math.floor(Math.log10(raw));
    const round = [5, 2, 1].map((k) => k * power).find((v) => v <= raw)!;
    for (const [name, colour, on] of [["normal force", NORMAL_COLOUR, this.state.layers.normals],
      ["total force", TOTAL_COLOUR, this.state.layers.totals]] as const) {
      if (on) {
        const line = document.createElement("div"), arrow = document.createElement("span");
        arrow.className = "arrow";
        arrow.style.width = `${(round * perNewton - 5).toFixed(1)}px`;
        arrow.style.marginRight = "5px";
        arrow.style.color = colour;
        line.append(arrow, document.createTextNode(`${number(round)} N ${name}`));
        legend.append(line);
      }
    }
    if (this.state.layers.pressure && this.run.mostPressure > 0) {
      legend.append(ramp(this.run));
    }
    if (this.runs.length > 1 && this.state.arrangement === "overlay") {
      this.runs.forEach((run, i) => {
        const line = document.createElement("div");
        line.textContent = i === this.state.primary ? `solid: ${i + 1}, ${run.header.model}` : `outlined: ${i + 1}, ${run.header.model}`;
        line.style.color = i === this.state.primary ? "" : RUN_COLOURS[i % RUN_COLOURS.length];
        legend.append(line);
      });
    } else if (this.state.arrangement === "split") {
      const line = document.createElement("div");
      line.textContent = this.runs.map((run, i) => `${i + 1}: ${run.header.model}`).join(" · ");
      legend.append(line);
    }
  }

  // ---- input --------------------------------------------------------------------------------------------------------

  private play() {
    if (this.t >= this.time[1]) {
      this.seek(this.time[0]);
    }
    this.playing = true;
    this.lastTick = performance.now();
    by("play").textContent = "⏸";
    by("play").setAttribute("aria-label", "pause");
    this.later();
  }

  private pause() {
    this.playing = false;
    by("play").textContent = "▶";
    by("play").setAttribute("aria-label", "play");
  }

  private step(by_: number) {
    this.pause();
    this.showFrame(this.frame + by_);
  }

  private event(direction: number) {
    const times = this.run.header.events.map((e) => e.t).filter((t) => direction * (t - this.t) > 1e-9);
    if (times.length > 0) {
      this.pause();
      this.seek((direction > 0 ? Math.min(...times) : Math.max(...times)) + 1e-9);
    }
  }

  private verdict(direction: number) {
    const frame = nextVerdict(this.run, this.frame, direction);
    if (frame >= 0) {
      this.pause();
      this.showFrame(frame);
    }
  }

  private nextContact(direction: number) {
    const n = this.run.contactCount;
    if (n > 0) {
      this.choose((this.state.selected + direction + n) % n, NaN);
    }
  }

  private toggleLayer(name: (typeof LAYERS)[number][0]) {
    this.state.layers[name] = !this.state.layers[name];
    by(`layer-${name}`).setAttribute("aria-pressed", String(this.state.layers[name]));
    this.later();
  }

  private toggleFlat() {
    if (this.run.header.planar) {
      this.state.flat = !this.state.flat;
      by("flat").setAttribute("aria-pressed", String(this.state.flat));
      this.later();
    }
  }

  private home(preset: Preset = "angle") {
    this.state.follow = -1;
    by<HTMLSelectElement>("follow").value = "-1";
    this.view?.home(preset);
    this.later();
  }

  private grow(factor: number) {
    this.state.arrowScale *= factor;
    this.later();
  }

  private wire() {
    const click = (id: string, act: () => void) => by(id).addEventListener("click", act);
    click("play", () => (this.playing ? this.pause() : this.play()));
    click("first", () => this.step(-1e9));
    click("back", () => this.step(-1));
    click("forward", () => this.step(1));
    click("home", () => this.home());
    for (const button of by("presets").querySelectorAll("button")) {
      button.addEventListener("click", () => this.home(button.dataset.preset as Preset));
    }
    click("flat", () => this.toggleFlat());
    click("theme", () => this.setTheme(!this.theme.dark));
    click("help", () => this.help());
    by("flat").setAttribute("aria-pressed", String(this.state.flat));
    const change = (id: string, act: (value: string) => void) =>
      by(id).addEventListener("change", (event) => act((event.target as HTMLSelectElement).value));
    change("contact", (value) => this.choose(Number(value), NaN));
    change("run", (value) => this.setPrimary(Number(value)));
    change("joint", (value) => { this.joint = Number(value); this.drawPlots(); });
    change("follow", (value) => { this.state.follow = Number(value); this.later(); });
    change("arrangement", (value) => { this.state.arrangement = value as Arrangement; this.drawPlots(); this.later(); });
    by("time").addEventListener("input", (event) => { this.pause(); this.showFrame(Number((event.target as HTMLInputElement).value)); });
    for (const [name, label, key] of LAYERS) {
      const button = document.createElement("button");
      button.id = `layer-${name}`;
      button.textContent = label;
      button.title = `${label} (${key})`;
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => this.toggleLayer(name));
      button.hidden = (name === "pressure" && this.runs.every((run) => run.mostPressure === 0)) ||
        (name === "ghost" && this.runs.every((run) => (run.header.trust?.ghosts.length ?? 0) === 0));
      by("layers").append(button);
    }
    this.wirePicking();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // A click that does not drag chooses the contact under it.
  private wirePicking() {
    const canvas = this.view?.canvas;
    let down = [0, 0];
    canvas?.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; });
    canvas?.addEventListener("pointerup", (event) => {
      const box = canvas.getBoundingClientRect();
      if (Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4) {
        const contact = this.view!.pick(this.state, event.clientX - box.left, event.clientY - box.top);
        if (contact >= 0) {
          this.choose(contact, NaN);
        }
      }
    });
  }

  private key(event: KeyboardEvent) {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === "SELECT") {
      return;
    }
    const acts: Record<string, () => void> = {
      " ": () => (this.instant ? this.step(1) : this.playing ? this.pause() : this.play()),
      ArrowLeft: () => this.step(event.shiftKey ? -10 : -1), ArrowRight: () => this.step(event.shiftKey ? 10 : 1),
      Home: () => this.step(-1e9), End: () => this.step(1e9), ",": () => this.event(-1), ".": () => this.event(1),
      "[": () => this.nextContact(-1), "]": () => this.nextContact(1), f: () => this.toggleFlat(), r: () => this.home(),
      "+": () => this.grow(1.25), "=": () => this.grow(1.25), "-": () => this.grow(0.8),
      v: () => this.verdict(1), V: () => this.verdict(-1), d: () => this.setTheme(!this.theme.dark), "?": () => this.help(),
    };
    if (!this.run.header.planar) {
      Object.assign(acts, { x: () => this.home("side"), y: () => this.home("front"), z: () => this.home("top") });
    }
    for (const [name, , key] of LAYERS) {
      acts[key] = () => this.toggleLayer(name);
    }
    this.runs.slice(0, 9).forEach((_, i) => (acts[String(i + 1)] = () => this.setPrimary(i)));
    if (acts[event.key] && !(event.key === " " && target.tagName === "BUTTON")) {
      event.preventDefault();
      acts[event.key]();
    }
  }

  private help() {
    const dialog = by<HTMLDialogElement>("keys");
    const table = document.createElement("table");
    for (const [keys, meaning] of KEYS) {
      const row = table.insertRow(), key = document.createElement("kbd");
      key.textContent = keys;
      row.insertCell().append(key);
      row.insertCell().textContent = meaning;
    }
    dialog.replaceChildren(table);
    dialog.onclick = () => dialog.close();
    if (!dialog.open) {
      dialog.showModal();
    }
  }
}

const sameModels = (runs: Run[]) => runs.every((r) => r.header.model === runs[0].header.model);

// How many solutions an instant has, or why none.
function answerWords(instant: Instant): string {
  const count = instant.rates.length;
  const found = count === 0 ? `no solution${instant.why && `: ${instant.why}`}` : count === 1 ? "one solution" : `${count} solutions`;
  const more = instant.sets.some((set) => set) ? ", not the only answer: a set of motions" : "";
  return `${found}${more}${instant.complete ? "" : ", there may be others"}${instant.leftOut && `; ${instant.leftOut}`}`;
}

// Decimals that tell one step from the next.
function decimals(h: number): number {
  return h > 0 ? Math.min(9, Math.max(2, Math.ceil(-Math.log10(h)) + 1)) : 3;
}

// The first frame at which each contact carries force; behind all others where it never does.
function firstTouches(run: Run): number[] {
  return run.header.contacts.map((_, i) => {
    const first = run.series(i, (row) => run.ribbonMode(row), true).findIndex((mode) => mode !== null && mode !== OPEN);
    return first < 0 ? Number.MAX_SAFE_INTEGER : first;
  });
}

// The contact that carries the most over the run: what one most likely wants to look at.
function busiest(run: Run): number {
  let best = run.contactCount > 0 ? 0 : -1, most = 0;
  for (let i = 0; i < run.contactCount; i++) {
    let sum = 0;
    run.series(i, (row) => (sum += run.rows("fn")[row]));
    if (sum > most) {
      most = sum;
      best = i;
    }
  }
  return best;
}

declare global {
  interface Window {
    perpReplay?: Replay; // for programs that drive the page: showFrame(n), draw(), finish(), begin(), film
  }
}

const replay = window.perpReplay = new Replay(readRuns(document));
const kept = keptBefore<Kept>();
if (kept) {
  replay.restore(kept);
}
watchForNews(() => replay.keep(), (message) => replay.showNews(message));
document.documentElement.dataset.ready = "true";
