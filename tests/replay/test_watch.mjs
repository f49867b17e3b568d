// The page of `perp run --watch` follows the scene. tests/replay/page.mjs says what it needs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { finish, folder, launch, open, show, write } from "./page.mjs";

let browser;
before(async () => { browser = await launch(); });
after(finish);

const scene = (steps, mass) => `perp: 1
name: two
planar: true
gravity: [0, -10]
bodies:
  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}
  left: {mass: 1, pose: {position: [-0.3, 0.1]}, shapes: [{disc: 0.1}]}
  right: {mass: ${mass}, pose: {position: [0.3, 0.1]}, shapes: [{disc: 0.1}]}
run: {model: quasidynamic, h: 0.01, steps: ${steps}}
`;

// Everything that a person has set, as it is on the page.
const stateOf = (page) => page.evaluate(() => {
  const replay = window.perpReplay, chosen = (id) => document.getElementById(id).selectedOptions[0].text;
  replay.draw();
  return {
    t: replay.t, contact: chosen("contact"), follow: chosen("follow"), speed: chosen("speed"), cones: replay.state.layers.cones,
    pressed: document.getElementById("layer-cones").getAttribute("aria-pressed"), theme: document.documentElement.dataset.theme,
    flat: replay.state.flat, arrows: replay.state.arrowScale, from: replay.view.flatCamera.position.toArray(),
    at: replay.view.slide.target.toArray(), pixels: replay.view.pixelsPerMetre(),
  };
});

const lastStep = (count) => ({ count }) => document.documentElement.dataset.ready === "true" && window.perpReplay.runs[0].step.at(-1) === count;
const waitForSteps = (page, count) => page.waitForFunction(lastStep(), { count }, { timeout: 60000 });

test("the page reloads with the new run and keeps what one has set", async () => {
  const path = write("two.yaml", scene(20, 1)), html = join(folder, "two.html");
  const perp = spawn(process.env.PERP, ["run", path, "--watch", "--quiet", "--html", html], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  try {
    let said = "";
    perp.stderr.on("data", (text) => { said += text; });
    while (!said.includes("watching")) {
      await once(perp.stderr, "data");
    }
    const { page, wrong, close } = await open(browser, html);
    await page.selectOption("#contact", { label: (await page.locator("#contact option").allTextContents()).find((o) => o.includes("left")) });
    await page.selectOption("#speed", "0.25");
    await show(page, 15);
    await page.locator("#view > canvas").hover();
    await page.mouse.wheel(0, -300);
    await page.keyboard.press("c");
    await page.keyboard.press("d");
    await page.keyboard.press("+");
    await page.waitForTimeout(300); // the wheel's zoom has come to rest
    const before = await stateOf(page);
    assert.equal(before.cones, false);
    assert.equal(before.t, 0.15);

    write("two.yaml", scene(30, 3));
    await waitForSteps(page, 30);
    const { from, at, pixels, ...others } = await stateOf(page), { from: from0, at: at0, pixels: pixels0, ...others0 } = before;
    assert.deepEqual(others, others0);
    [...from, ...at].forEach((v, i) => assert.ok(Math.abs(v - [...from0, ...at0][i]) < 1e-9 * Math.abs(v) + 1e-12));
    assert.ok(Math.abs(pixels / pixels0 - 1) < 1e-9, "the zoom is as it was");
    const right = (await page.locator("#contact option").allTextContents()).findIndex((o) => o.includes("right"));
    await page.selectOption("#contact", String(right));
    await page.evaluate(() => window.perpReplay.draw());
    assert.equal(await page.locator("#facts dd").first().textContent(), "30 N"); // 3 kg on the ground

    write("two.yaml", scene(30, "heavy"));
    await page.waitForFunction(() => !document.getElementById("news").hidden, null, { timeout: 60000 });
    assert.match(await page.locator("#news").textContent(), /two\.yaml:8:17: .*\nShown is the last run that there was\.$/s);
    assert.equal(await page.evaluate(() => window.perpReplay.runs[0].step.at(-1)), 30);

    write("two.yaml", scene(5, 2));
    await waitForSteps(page, 5);
    assert.equal(await page.locator("#news").isVisible(), false);
    assert.equal((await stateOf(page)).t, 0.05, "a shorter run ends earlier");

    const ended = once(perp, "exit");
    perp.kill("SIGINT");
    assert.equal((await ended)[0], 0);
    await page.waitForFunction(() => document.getElementById("news").textContent.includes("no longer watches"), null, { timeout: 60000 });
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    perp.kill("SIGKILL");
  }
});

for (const width of [390, 1400]) {
  test(`a camera that nobody has moved shows the whole of the new scene, ${width} px`, async () => {
    const path = write("wide.yaml", scene(4, 1)), html = join(folder, "wide.html");
    const perp = spawn(process.env.PERP, ["run", path, "--watch", "--quiet", "--html", html], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    try {
      await once(perp.stderr, "data");
      const { page, wrong, close } = await open(browser, html, { viewport: { width, height: 800 } });
      const size = await page.evaluate(() => window.perpReplay.view.extent.size);
      write("wide.yaml", scene(6, 1).replace("[0.3, 0.1]", "[3, 0.1]"));
      await waitForSteps(page, 6);
      const after = await page.evaluate(() => ({ size: window.perpReplay.view.extent.size, zoom: window.perpReplay.view.flatCamera.zoom, at: window.perpReplay.view.slide.target.x }));
      assert.ok(after.size > 2 * size && after.zoom === 1 && after.at > 1);
      write("wide.yaml", scene(6, "heavy"));
      await page.waitForFunction(() => !document.getElementById("news").hidden, null, { timeout: 60000 });
      const news = await page.locator("#news").boundingBox();
      assert.ok(news.x >= 0 && news.x + news.width <= width && news.y >= 0 && news.y + news.height <= 800, "what is wrong is read");
      assert.deepEqual(wrong, []);
      await close();
    } finally {
      perp.kill("SIGKILL");
    }
  });
}
