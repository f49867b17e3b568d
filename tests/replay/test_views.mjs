// What a person sees of the replay on a wide and on a narrow screen: skeletons, views along the axes, panels, layout.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { contentOf, example, finish, folder, launch, logOf, open, pageOf, perp, show } from "./page.mjs";

const SCREENS = [{ width: 390, height: 800 }, { width: 1400, height: 800 }];
let browser;
before(async () => { browser = await launch(); });
after(finish);

const arm = () => logOf("arm", example("arm-reach"));
const grasps = () => [logOf("grasp", example("three-finger-grasp")), logOf("grasp-ncp", example("three-finger-grasp"), "--model", "dyn-ncp")];

// Rods and axes of every body in the world at the frame that is shown, with the direction in which the camera looks.
const skeleton = (page) => page.evaluate(() => {
  const { view } = window.perpReplay, bodies = view.solid[0];
  const parts = {};
  bodies.run.header.bodies.forEach((body, b) => {
    const node = bodies.nodes[b], place = (p) => node.localToWorld(node.position.clone().set(...p)).toArray();
    node.updateMatrixWorld(true);
    parts[body.name] = { lines: body.lines.map((l) => [place(l.slice(0, 3)), place(l.slice(3))]), axis: body.axis && place(body.axis.at),
      rods: node.children.filter((c) => c.userData.part === "rod").length, bolts: node.children.filter((c) => c.userData.part === "axis").length };
  });
  return parts;
});

// The canvas alone, without buttons that are lit under the pointer.
const canvas = (page) => page.evaluate(() => { window.perpReplay.draw(); return window.perpReplay.view.canvas.toDataURL(); });

const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

// Whether the page is as wide as the screen, and its parts are where a finger gets at them.
async function checkLayout(page, screen) {
  const seen = await page.evaluate(() => {
    const box = (e) => { const r = e.getBoundingClientRect(); return { id: e.id, left: r.left, right: r.right, top: r.top, bottom: r.bottom }; };
    const buttons = [...document.querySelectorAll("#tools button, #tools select, #controls button, header button, header select")];
    return { wide: document.documentElement.scrollWidth, view: box(document.getElementById("view")),
      buttons: buttons.filter((b) => b.offsetParent !== null).map(box) };
  });
  assert.ok(seen.wide <= screen.width, `the page is ${seen.wide} px wide`);
  assert.ok(seen.view.right - seen.view.left >= (screen.width < 600 ? 0.95 : 0.6) * screen.width, "the picture has room");
  assert.ok(seen.view.bottom - seen.view.top >= 250);
  for (const b of seen.buttons) {
    assert.ok(b.left >= 0 && b.right <= screen.width && b.top >= 0 && b.bottom <= screen.height, `${b.id} is in sight`);
  }
  for (const [i, a] of seen.buttons.entries()) {
    for (const b of seen.buttons.slice(i + 1)) {
      assert.ok(a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1, "no two buttons meet");
    }
  }
}

for (const screen of SCREENS) {
  test(`an arm without shapes is seen, ${screen.width} px`, async () => {
    const { page, wrong, close } = await open(browser, pageOf("arm", arm()), { viewport: screen });
    const steps = contentOf(arm()).steps, chain = ["base", "link1", "link2", "link3", "link4", "link5", "link6", "link7"];
    await checkLayout(page, screen);
    for (const frame of [0, 80, 200]) {
      await show(page, frame);
      const parts = await skeleton(page);
      chain.slice(1).forEach((name, i) => {
        // the parent's rod, where it has a length, ends where the axis of the child is: at the origin of these links but the last
        const ends = parts[chain[i]].lines.map(([, to]) => to), at = parts[name].axis;
        assert.ok(ends.length === 0 || ends.some((end) => apart(end, at) < 1e-5), `${chain[i]} reaches ${name}`);
        assert.equal(parts[name].bolts, 1);
        assert.equal(parts[name].rods, parts[name].lines.length);
        if (name !== "link7") {
          assert.ok(apart(at, steps[frame].state.poses[name]) < 1e-5, `the axis of ${name} is where the log has it`);
        }
      });
      assert.deepEqual([parts.cube.rods, parts.cube.bolts, parts.table.rods], [0, 0, 0]);
      assert.ok(parts.base.rods === 1 && parts.link4.rods === 1 && apart(...parts.link2.lines[0]) - 0.316 < 1e-5);
    }
    const names = await page.locator(".label").allTextContents();
    assert.ok(names.includes("link4") && names.includes("hand"));
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`views from above, the front and the side, ${screen.width} px`, async () => {
    const { page, wrong, close } = await open(browser, pageOf("arm", arm()), { viewport: screen });
    await show(page, 100);
    const pictures = new Set([await canvas(page)]);
    for (const [preset, key, axis] of [["top", "z", [0, 0, 1]], ["front", "y", [0, -1, 0]], ["side", "x", [1, 0, 0]]]) {
      await page.locator(`[data-preset=${preset}]`).click();
      await page.waitForTimeout(150);
      const byButton = await canvas(page);
      const seen = await page.evaluate(() => {
        const { view } = window.perpReplay, camera = view.perspective, [low, high] = [[1, 1], [-1, -1]];
        view.solid[0].nodes.forEach((node, b) => {
          if (view.solid[0].run.header.bodies[b].name !== "table") {
            const at = node.position.clone().project(camera).toArray();
            [0, 1].forEach((k) => { low[k] = Math.min(low[k], at[k]); high[k] = Math.max(high[k], at[k]); });
          }
        });
        return { from: camera.position.clone().sub(view.orbit.target).normalize().toArray(), low, high };
      });
      assert.ok(apart(seen.from, axis) < 1e-3, `${preset}: seen from ${seen.from}`);
      assert.ok([...seen.low, ...seen.high].every((c) => Math.abs(c) < 1), `${preset}: everything is in sight`);
      pictures.add(byButton);
      await page.keyboard.press("r");
      await page.keyboard.press(key);
      await page.waitForTimeout(150);
      assert.ok(await canvas(page) === byButton, `the key ${key} does the same`);
    }
    assert.equal(pictures.size, 4);
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`panels of several runs have names, ${screen.width} px`, async () => {
    const { page, wrong, close } = await open(browser, pageOf("grasps", ...grasps()), { viewport: screen });
    assert.equal(await page.locator("#panels div").count(), 0);
    await page.selectOption("#arrangement", "split");
    await page.waitForTimeout(200);
    await checkLayout(page, screen);
    assert.deepEqual(await page.locator("#panels div").allTextContents(), ["1: qs-impedance-lcp", "2: dyn-ncp"]);
    const names = await Promise.all([0, 1].map((i) => page.locator("#panels div").nth(i).boundingBox()));
    const parts = await page.evaluate(() => window.perpReplay.view.parts(window.perpReplay.state)), view = await page.locator("#view").boundingBox();
    const tools = await page.locator("#tools").boundingBox();
    parts.forEach((part, i) => {
      assert.ok(names[i].x >= view.x + part.x && names[i].x + names[i].width <= view.x + part.x + part.width, "inside its panel");
      assert.ok(names[i].y >= view.y + part.y && names[i].y + names[i].height <= view.y + part.y + part.height);
      assert.ok(names[i].y >= tools.y + tools.height, "below the buttons");
    });
    await page.selectOption("#arrangement", "overlay");
    await page.waitForTimeout(100);
    assert.equal(await page.locator("#panels div").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  });
}

test("a planar scene has no views along axes, and its links are drawn", async () => {
  const { page, wrong, close } = await open(browser, pageOf("four-bar", logOf("four-bar", example("four-bar"))));
  assert.equal(await page.locator("#presets").isVisible(), false);
  const parts = await skeleton(page);
  assert.ok(parts.coupler.rods > 0 && parts.right.rods > 0);
  assert.ok(apart(parts.coupler.lines[0][1], parts.right.lines[0][1]) < 1e-5, "the loop is closed where both rods end");
  assert.deepEqual(wrong, []);
  await close();
});

test("an address may ask for a time and for the picture alone", async () => {
  const page = pageOf("arm", arm());
  const { page: at, wrong, close } = await open(browser, `${page}#picture&at=1.5`);
  await at.evaluate(() => window.perpReplay.draw());
  assert.match(await at.locator("#clock").textContent(), /step 150 of 200/);
  assert.equal(await at.locator("footer").isVisible() || await at.locator("#tools").isVisible(), false);
  const box = await at.locator("#view").boundingBox();
  assert.deepEqual([box.width, box.height], [800, 600]);
  assert.deepEqual(wrong, []);
  await close();
});

test("perp view --png takes the picture of a time", async () => {
  const size = (path) => { const b = readFileSync(path); return [b.toString("latin1", 1, 4), b.readUInt32BE(16), b.readUInt32BE(20)]; };
  assert.equal(perp("view", arm(), "--png", "a.png", "--at", "0.5", "--size", "640x480"), "a.png\n");
  perp("view", arm(), "--png", "b.png", "--at", "1.5", "--size", "640x480");
  assert.deepEqual(size(`${folder}/a.png`), ["PNG", 640, 480]);
  assert.notDeepEqual(readFileSync(`${folder}/a.png`), readFileSync(`${folder}/b.png`));
  // the table and the arm fill a part of it that names alone do not
  const context = await browser.newContext(), page = await context.newPage();
  const drawn = await page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 480 }), pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, 640, 480).data.buffer);
    return pixels.filter((colour) => colour !== pixels[0]).length / pixels.length;
  }, readFileSync(`${folder}/b.png`).toString("base64"));
  assert.ok(drawn > 0.2, `${drawn} of the picture is not background`);
  await context.close();
});

test("without a browser perp view --png says what is missing", () => {
  assert.throws(() => execFileSync(process.env.PERP, ["view", arm(), "--png", "none.png"], { cwd: folder, env: { PATH: "/nowhere" }, stdio: "pipe" }),
    (error) => error.status === 1 && /there is none on the PATH: install `chromium`/.test(error.stderr.toString()));
  assert.equal(existsSync(`${folder}/none.png`), false);
  for (const wrong of [["--at", "1"], ["--png", "x.png", "-o", "x.html"], ["--png", "x.png", "--at", "soon"], ["--png", "x.png", "--size", "9x9"]]) {
    assert.throws(() => perp("view", arm(), ...wrong), (error) => error.status === 2, wrong.join(" "));
  }
});
