// Certificates in the replay, on a wide and on a narrow screen: the row of verdicts, what is said of each, and the ghost of a motion
// that costs nothing. Compared with the log's own verdicts and motions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { contentOf, example, finish, folder, launch, logOf, open, pageOf, perp, show } from "./page.mjs";

const SCREENS = [{ width: 390, height: 800 }, { width: 1400, height: 800 }];
const COLOURS = { // of the light page
  exists: "#56b4e9", unique: "#56b4e9", valid: "#56b4e9", "unique-at-these-normal-forces": "#a9d8f3", "no-contact": "#dde3e8",
  unknown: "#8f99a3", borderline: "#e6d800", none: "#7b2d8b", "not-unique": "#7b2d8b", invalid: "#7b2d8b",
};
const KINDS = ["existence", "uniqueness", "rigidity"];
let browser;
before(async () => { browser = await launch(); });
after(finish);

const stack = () => logOf("stack", example("cube-stack"), "--certify", "--steps", "24");
const still = { reducedMotion: "reduce" }; // ghosts rest at the end of their way

// The colour of each lane in the middle of each step.
const lanes = (page) => page.evaluate(() => {
  const canvas = document.querySelector("#trust canvas"), pen = canvas.getContext("2d"), scale = canvas.width / canvas.clientWidth;
  const { run } = window.perpReplay, [from, to] = window.perpReplay.time, out = [];
  for (let f = 1; f < run.frames; f++) {
    const t = (run.t[f - 1] + run.t[f]) / 2, x = 7 + ((t - from) / (to - from)) * (canvas.clientWidth - 14);
    out.push([0, 1, 2].map((k) => {
      const [r, g, b] = pen.getImageData(Math.round(x * scale), Math.round((1 + 7 * k + 3) * scale), 1, 1).data;
      return `#${[r, g, b].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
    }));
  }
  return out;
});

// Where the ghost's bodies are from the bodies themselves; null: there is no ghost.
const ghost = (page) => page.evaluate(() => {
  const replay = window.perpReplay, { view } = replay;
  replay.draw();
  const group = view.ghosts[0];
  return group.group.visible && Object.fromEntries(group.run.header.bodies.map((body, b) => {
    const node = group.nodes[b], solid = view.solid[0].nodes[b];
    const turn = node.quaternion.clone().multiply(solid.quaternion.clone().invert());
    const sign = Math.sign(turn.w) || 1, size = Math.hypot(turn.x, turn.y, turn.z), angle = 2 * Math.atan2(size, Math.abs(turn.w));
    return [body.name, node.visible ? { shift: node.position.clone().sub(solid.position).toArray(),
      turn: [turn.x, turn.y, turn.z].map((c) => (size > 0 ? (sign * c * angle) / size : 0)) } : null];
  }));
});

const words = (page) => page.locator("#trust-words").textContent();

for (const screen of SCREENS) {
  test(`the row has the verdicts of every step, ${screen.width} px`, async () => {
    const { page, wrong, close } = await open(browser, pageOf("stack", stack()), { viewport: screen, ...still });
    const steps = contentOf(stack()).steps;
    assert.ok(await page.locator("#trust").isVisible() && await page.locator("#grades").isVisible());
    const seen = await lanes(page), expected = steps.slice(1).map((s) => KINDS.map((kind) => COLOURS[s.trust[kind]]));
    assert.deepEqual(seen, expected);
    assert.ok(new Set(seen.map((s) => s[1])).size > 1, "there are several verdicts");
    const layout = await page.evaluate(() => {
      const box = (id) => document.getElementById(id).getBoundingClientRect();
      return { wide: document.documentElement.scrollWidth, trust: box("trust"), words: box("trust-words"), ribbon: box("ribbon"), view: box("view") };
    });
    assert.ok(layout.wide <= screen.width);
    assert.ok(layout.trust.bottom <= layout.words.top + 1 && layout.words.bottom <= layout.ribbon.top + 4);
    assert.ok(layout.ribbon.height >= 60 && layout.view.height >= 250, "ribbon and picture have room");
    // its time axis is that of the ribbon below
    const lefts = await page.evaluate(() => ["#trust canvas", "#ribbon canvas"].map((q) => document.querySelector(q).getBoundingClientRect()).flatMap((r) => [r.left, r.right]));
    assert.ok(Math.abs(lefts[0] - lefts[2]) < 1 && Math.abs(lefts[1] - lefts[3]) < 1, `${lefts}`);
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`every step's certificate is said, under the pointer too, ${screen.width} px`, async () => {
    const { page, wrong, close } = await open(browser, pageOf("stack", stack()), { viewport: screen, ...still });
    const steps = contentOf(stack()).steps;
    await show(page, 0);
    assert.equal(await words(page), "the initial state has no certificate");
    for (const frame of [1, 13, 14, 24]) {
      await show(page, frame);
      const said = await words(page), { trust } = steps[frame];
      assert.ok(said.startsWith(`step ${frame}, to ${trust.t} s: a solution exists · its motion is ${trust.uniqueness === "unique" ? "the only one" : "not the only one, it can be moved"}`), said);
      assert.ok(trust.reasons.every((reason) => said.includes(reason)) && said.includes("rigidity is not decided"));
      assert.ok(trust.contacts.every((name) => said.includes(name)));
      assert.equal(said.includes("to and fro"), trust.both_ways === true);
    }
    const box = await page.locator("#trust canvas").boundingBox();
    const at = (step) => box.x + 7 + ((step - 0.5) / 24) * (box.width - 14);
    await page.mouse.move(at(5), box.y + 4);
    assert.ok((await words(page)).startsWith("step 5,"));
    assert.ok((await page.locator("#clock").textContent()).includes("step 24 of 24"), "looking does not move the time");
    await page.mouse.move(box.x + 20, box.y + 60);
    assert.ok((await words(page)).startsWith("step 24,"));
    await page.mouse.click(at(17), box.y + 10);
    await page.waitForFunction(() => document.getElementById("clock").textContent.includes("step 17 of 24"));
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`a motion that costs nothing is a ghost, ${screen.width} px`, async () => {
    const { page, wrong, close } = await open(browser, pageOf("stack", stack()), { viewport: screen, ...still });
    const steps = contentOf(stack()).steps;
    await show(page, 13);
    assert.equal(await ghost(page), false);
    await show(page, 20);
    const seen = await ghost(page), { motion } = steps[20].trust;
    let scale = 0, moving = 0;
    for (const [name, place] of Object.entries(seen)) {
      const rate = motion[name] ?? [0, 0, 0, 0, 0, 0], size = Math.hypot(...rate);
      assert.equal(place !== null, size > 0, name);
      if (place) { // all along one motion, by one factor
        const parts = [...place.shift, ...place.turn], factor = parts.reduce((sum, x, k) => sum + x * rate[k], 0) / (size * size);
        scale ||= factor;
        moving++;
        parts.forEach((x, k) => assert.ok(Math.abs(x - scale * rate[k]) < 2e-3 * scale * 100, `${name} ${k}: ${x} ${scale * rate[k]}`));
      }
    }
    assert.ok(moving > 0 && scale > 0);
    await page.keyboard.press("g");
    assert.equal(await ghost(page), false);
    assert.equal(await page.locator("#layer-ghost").getAttribute("aria-pressed"), "false");
    await page.locator("#layer-ghost").click();
    assert.notEqual(await ghost(page), false);
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`the keys go to the next change of a verdict, ${screen.width} px`, async () => {
    const { page, wrong, close } = await open(browser, pageOf("stack", stack()), { viewport: screen, ...still });
    const steps = contentOf(stack()).steps, of = (s) => KINDS.map((kind) => s.trust?.[kind]).join();
    const changes = steps.map((_, k) => k).filter((k) => k > 0 && of(steps[k]) !== of(steps[k - 1]));
    assert.ok(changes.length >= 2);
    const frame = () => page.evaluate(() => window.perpReplay.frame);
    await show(page, 0);
    for (const change of changes) {
      await page.keyboard.press("v");
      assert.equal(await frame(), change);
    }
    await page.keyboard.press("v");
    assert.equal(await frame(), changes.at(-1), "there is no more");
    for (const change of changes.slice(0, -1).reverse()) {
      await page.keyboard.press("Shift+V");
      assert.equal(await frame(), change);
    }
    await page.keyboard.press("?");
    assert.ok((await page.locator("#keys").textContent()).includes("change of a verdict"));
    assert.deepEqual(wrong, []);
    await close();
  });
}

test("a ghost goes to and fro, and rests after a while", async () => {
  const { page, wrong, close } = await open(browser, pageOf("stack", stack()), { viewport: SCREENS[1] });
  const ways = contentOf(stack()).steps[20].trust.both_ways;
  await show(page, 20);
  const seen = [];
  for (let i = 0; i < 25; i++) {
    seen.push(await page.evaluate(() => window.perpReplay.state.ghostWay));
    await page.waitForTimeout(90);
  }
  assert.ok(Math.max(...seen) > 0.7 && Math.min(...seen) < (ways ? -0.7 : 0.3) && Math.min(...seen) >= (ways ? -1 : 0), `${seen}`);
  await page.evaluate(() => { window.perpReplay.ghostFrom.at -= 9000; window.perpReplay.draw(); });
  assert.equal(await page.evaluate(() => window.perpReplay.state.ghostWay), 1);
  assert.deepEqual(wrong, []);
  await close();
});

test("a run that a verdict has ended says so", async () => {
  const log = `${folder}/chalk.mcap`;
  try {
    perp("run", example("chalk"), "--until", "0.8", "--model", "compliant", "--certify", "--stop-at", "invalid", "--quiet", "--log", log);
    assert.fail("it should end with exit code 1");
  } catch (error) {
    assert.equal(error.status, 1);
  }
  const { page, wrong, close } = await open(browser, pageOf("chalk", log), { viewport: SCREENS[0] });
  assert.ok((await page.locator("#status").textContent()).startsWith("stopped: the rigid model is not valid at contact board chalk"), await page.locator("#status").textContent());
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.getElementById("trust-words").textContent.includes("the rigid model is not valid"));
  assert.ok((await words(page)).includes("at board chalk s0.u0-s0.c2"));
  const seen = await lanes(page);
  const parts = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  assert.ok(parts(seen.at(-1)[2]).every((c, k) => Math.abs(c - parts(COLOURS.invalid)[k]) < 3), `one step of hundreds is seen: ${seen.at(-1)}`);
  assert.equal(await page.locator("#layer-ghost").isVisible(), false, "no motion costs nothing");
  assert.deepEqual(wrong, []);
  await close();
});

test("of an instant there are words, of other runs nothing", async () => {
  const instant = await open(browser, pageOf("rod", logOf("rod", example("painleve-rod"), "--certify")), { viewport: SCREENS[0] });
  assert.ok(!(await instant.page.locator("#trust").isVisible()));
  assert.match(await words(instant.page), /^at this instant: a solution exists · its motion is not the only one.* · the rigid model is not valid\n/);
  await instant.close();
  const plain = await open(browser, pageOf("plain", logOf("plain", example("cube-stack"), "--steps", "3")), { viewport: SCREENS[0] });
  for (const id of ["trust", "trust-words", "grades", "layer-ghost"]) {
    assert.ok(!(await plain.page.locator(`#${id}`).isVisible()), id);
  }
  assert.deepEqual([...instant.wrong, ...plain.wrong], []);
  await plain.close();
});
