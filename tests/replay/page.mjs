// What the tests of the replay share: perp as a user calls it, and its page in a real browser, opened from disk.
//   PERP           the command
//   PERP_SOURCE    the source tree
//   PERP_TOOLS     a folder with the packages of viewer/package-lock.json (tools/viewer.sh packages DIR)
//   PERP_BROWSER   the browser
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(join(process.env.PERP_TOOLS, "package.json"))("playwright-core");

export const folder = mkdtempSync(join(tmpdir(), "perp-replay-"));
export const example = (name) => join(process.env.PERP_SOURCE, "examples", name, "scene.yaml");
const started = [];

export function perp(...args) {
  return execFileSync(process.env.PERP, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
}

export function write(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

// The log of a run, and all that it says. The same run is made once, under its first name.
const logs = new Map();
export function logOf(name, scene, ...args) {
  const run = [scene, ...args].join(" "), path = logs.get(run) ?? join(folder, `${name}.mcap`);
  if (!logs.has(run)) {
    perp("run", scene, "--quiet", "--log", path, ...args);
    logs.set(run, path);
  }
  return path;
}

export const contentOf = (log) => JSON.parse(perp("export", log, "--json"));

export function pageOf(name, ...logs) {
  const path = join(folder, `${name}.html`);
  perp("view", ...logs, "-o", path);
  return path;
}

export async function launch() {
  const server = await chromium.launchServer({
    executablePath: process.env.PERP_BROWSER,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
  started.push(server);
  return Object.assign(await chromium.connect(server.wsEndpoint()), { pid: server.process().pid });
}

// Processor seconds of the browser and all that it has started, so far.
export function processorSeconds(pid) {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      return [{ pid: Number(name), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
    } catch {
      return []; // gone by now
    }
  });
  const of = (id) => all.filter((p) => p.parent === id).reduce((sum, p) => sum + p.ticks + of(p.pid), 0);
  return ((all.find((p) => p.pid === pid)?.ticks ?? 0) + of(pid)) / 100;
}

// Opens a page and notes all that it must not do: errors, warnings of the policy, requests, dialogs.
export async function open(browser, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (m) => (m.type() === "error" || /Content.Security/i.test(m.text())) && wrong.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  page.on("request", (r) => /^(file|blob|data):/.test(r.url()) || wrong.push(`request: ${r.url()}`));
  page.on("dialog", (d) => { wrong.push(`dialog: ${d.message()}`); d.dismiss(); });
  await page.goto(`file://${path}`);
  await page.waitForSelector("html[data-ready=true]", { state: "attached" });
  return { page, wrong, close: () => context.close() };
}

// Shows a frame and waits until the page has drawn it.
export async function show(page, frame) {
  await page.evaluate((f) => { window.perpReplay.showFrame(f); window.perpReplay.draw(); }, frame);
}

// The picture as bytes, to see whether it changes.
export const picture = async (page) => (await page.locator("#view").screenshot()).toString("base64");

export async function facts(page) {
  const names = await page.locator("#facts dt").allTextContents(), values = await page.locator("#facts dd").allTextContents();
  return Object.fromEntries(names.map((n, i) => [n, values[i]]));
}

// "12.5 mm" in SI units.
export function amount(text) {
  const [value, unit] = text.split(" ");
  return Number(value) * ({ mm: 1e-3, "µm": 1e-6, "mm/s": 1e-3 }[unit] ?? 1);
}

export async function finish() {
  await Promise.all(started.map((b) => b.close()));
  rmSync(folder, { recursive: true, force: true });
}
