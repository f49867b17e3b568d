// What a person sees of the replay on a wide and on a narrow screen: skeletons, views along the axes, panels, layout.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
  const pixels = new Uint32Array(new Uint8Array(await pixelsOf(page, "b.png")).buffer);
  const drawn = pixels.filter((colour) => colour !== pixels[0]).length / pixels.length;
  assert.ok(drawn > 0.2, `${drawn} of the picture is not background`);
  await context.close();
});

// Pixels of a PNG, and of a video at some of its times, with what its player knows of it; both as a browser shows them.
const bytesOf = (text) => Buffer.from(text, "latin1");
const pixelsOf = async (page, png) => bytesOf(await page.evaluate(async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const pen = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
  pen.drawImage(image, 0, 0);
  return new TextDecoder("x-user-defined").decode(pen.getImageData(0, 0, image.width, image.height).data);
}, readFileSync(`${folder}/${png}`).toString("base64")));

const played = (page, file, times) => page.evaluate(async ({ data, times }) => {
  const video = Object.assign(document.createElement("video"), { muted: true });
  const event = (name) => new Promise((done, failed) => { video.addEventListener(name, done, { once: true }); video.addEventListener("error", () => failed(video.error)); });
  const ready = event("canplaythrough");
  video.src = `data:video/webm;base64,${data}`;
  await ready;
  const pen = Object.assign(document.createElement("canvas"), { width: video.videoWidth, height: video.videoHeight }).getContext("2d"), frames = [];
  for (const t of times) {
    // a place is reached before its picture is, and none comes where it is the one that is shown
    const shown = new Promise((done) => { video.requestVideoFrameCallback(done); setTimeout(done, 1500); }), sought = event("seeked");
    video.currentTime = t;
    await sought;
    await shown;
    pen.drawImage(video, 0, 0);
    frames.push(new TextDecoder("x-user-defined").decode(pen.getImageData(0, 0, video.videoWidth, video.videoHeight).data));
  }
  const ended = event("ended");
  await video.play();
  await ended;
  return { size: [video.videoWidth, video.videoHeight], duration: video.duration, ended: video.currentTime, frames };
}, { data: readFileSync(`${folder}/${file}`).toString("base64"), times }).then((film) => ({ ...film, frames: film.frames.map(bytesOf) }));

const unlike = (a, b) => a.reduce((sum, v, i) => sum + Math.abs(v - b[i]), 0) / a.length;

test("perp view --video films a part of a run, each frame the picture of its time", async () => {
  const from = 0.5, speed = 2, fps = 10, asked = ["--fps", "10", "--speed", "2", "--from", "0.5", "--to", "1.55", "--size", "390x600"];
  assert.equal(perp("view", arm(), "--video", "arm.webm", ...asked), "arm.webm\n");
  const context = await browser.newContext(), page = await context.newPage();
  const film = await played(page, "arm.webm", [0, 3, 5].map((k) => (k + 0.5) / fps));
  assert.deepEqual(film.size, [390, 600]);
  assert.ok(Math.abs(film.duration - 6 / fps) < 1e-3, `0.5, 0.7 .. 1.5 s are six frames, not ${film.duration} s`);
  assert.ok(Math.abs(film.ended - film.duration) < 0.02, "it plays to its end");
  for (const [i, k] of [[1, 3], [2, 5]]) {
    perp("view", arm(), "--png", "moment.png", "--at", String(from + (k * speed) / fps), "--size", "390x600");
    const moment = await pixelsOf(page, "moment.png");
    const own = unlike(film.frames[i], moment), others = film.frames.filter((_, j) => j !== i).map((f) => unlike(f, moment));
    assert.ok(own < 1.5, `frame ${k} is the picture of its time but for the codec's loss: ${own}`);
    assert.ok(others.every((other) => other > 2 * own + 0.5), `and not that of another: ${others}`);
  }
  await context.close();
});

test("a film that is slower than its steps can be sought", async () => {
  const log = logOf("pusher", example("pusher-2d")); // one step of 10 ms: 151 frames, two pictures
  perp("view", log, "--video", "slow.webm", "--speed", "0.002", "--size", "321x201");
  const context = await browser.newContext(), page = await context.newPage();
  const film = await played(page, "slow.webm", [5.02, 0.5, 4.5]);
  assert.deepEqual(film.size, [321, 201]);
  assert.ok(Math.abs(film.duration - 151 / 30) < 1e-3);
  assert.ok(unlike(film.frames[1], film.frames[2]) < 0.7 && unlike(film.frames[0], film.frames[1]) > 1, "the second step is shown at its time");
  await context.close();
});

test("that film has an index of the places at which it can be entered", () => {
  // elements of the segment, each with the place where it begins (RFC 8794: an id that tells its length, a size that does so)
  const bytes = readFileSync(`${folder}/slow.webm`), number = (at, n) => Number(BigInt(`0x${bytes.toString("hex", at, at + n)}`));
  const inside = (from, to) => {
    const found = [];
    for (let at = from; at < to;) {
      const ids = Math.clz32(bytes[at]) - 23, sizes = Math.clz32(bytes[at + ids]) - 23;
      const size = Number(BigInt.asUintN(7 * sizes, BigInt(`0x${bytes.toString("hex", at + ids, at + ids + sizes)}`))), data = at + ids + sizes;
      found.push({ id: number(at, ids), at, from: data, to: data + size });
      at = data + size;
    }
    return found;
  };
  const [head, segment] = inside(0, bytes.length), parts = inside(segment.from, segment.to), of = (id) => parts.filter((p) => p.id === id);
  assert.deepEqual([head.id, segment.id, segment.to], [0x1a45dfa3, 0x18538067, bytes.length]);
  const clusters = of(0x1f43b675), [cues] = of(0x1c53bb6b);
  const entered = inside(cues.from, cues.to).map((cue) => {
    const [time, place] = inside(cue.from, cue.to), where = inside(place.from, place.to).find((e) => e.id === 0xf1);
    return { t: number(time.from, time.to - time.from), at: segment.from + number(where.from, where.to - where.from) };
  });
  assert.deepEqual(entered, [0, 2000, 4000].map((t, i) => ({ t, at: clusters[i].at })));
  const blocks = clusters.map((c) => inside(c.from, c.to).filter((e) => e.id === 0xa3));
  assert.deepEqual(blocks.map((b) => b.length), [60, 60, 31]);
  assert.ok(blocks.every((all) => all.every((b, i) => (bytes[b.from + 3] === 0x80) === (i === 0))), "each begins with a picture of its own");
});

test("pictures and films leave nothing behind", async () => {
  const own = `${folder}/temporary`, env = { ...process.env, TMPDIR: own };
  mkdirSync(own);
  arm(); // makes the log
  execFileSync(process.env.PERP, ["view", arm(), "--png", "tidy.png"], { cwd: folder, env });
  assert.deepEqual(readdirSync(own), []);
  const child = spawn(process.env.PERP, ["view", arm(), "--video", "never.webm", "--fps", "120", "--speed", "0.1"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => { said += text; });
  for (let waits = 0; !readdirSync(own).some((name) => existsSync(`${own}/${name}/profile`)) && waits < 500; waits++) {
    await new Promise((done) => setTimeout(done, 20));
  }
  child.kill("SIGINT");
  assert.equal(await new Promise((done) => child.on("exit", done)), 1);
  assert.match(said, /interrupted/);
  assert.deepEqual(readdirSync(own), []);
  assert.equal(existsSync(`${folder}/never.webm`), false);
});

test("what cannot be filmed is said", () => {
  const refused = (log, args, status, message, env = process.env) =>
    assert.throws(() => execFileSync(process.env.PERP, ["view", log, ...args], { cwd: folder, env, stdio: "pipe" }),
      (error) => error.status === status && message.test(error.stderr.toString()), `${args}`);
  const video = ["--video", "no.webm"];
  refused(arm(), [...video, "--from", "3"], 1, /nothing to film: the log goes from 0 to 2 s/);
  refused(arm(), [...video, "--speed", "1e-4"], 1, /would have 600001 pictures, more than 36000/);
  refused(logOf("rod", example("painleve-rod")), video, 1, /an instant has no course/);
  refused(arm(), ["--video", "nowhere/no.webm", "--to", "0"], 1, /cannot write `nowhere\/no.webm`/);
  for (const [wrong, message] of [[["--fps", "30"], /--fps is for --video/], [["--png", "x.png", "--speed", "1"], /--speed is for --video/],
    [[...video, "--at", "1"], /--at is for --png/], [["--size", "200x200"], /--size is for/], [[...video, "--png", "x.png"], /give one of/],
    [[...video, "--fps", "0"], /--fps needs/], [[...video, "--fps", "121"], /--fps needs/], [[...video, "--speed", "0"], /--speed needs/],
    [[...video, "--from", "1", "--to", "0.5"], /--to is before --from/], [[...video, "--from", "x"], /--from needs/], [["--video", arm()], /./]]) {
    refused(arm(), wrong, 2, message);
  }
  mkdirSync(`${folder}/path`);
  writeFileSync(`${folder}/path/chromium`, "#!/bin/sh\nexit 3\n");
  chmodSync(`${folder}/path/chromium`, 0o755);
  refused(arm(), video, 1, /chromium could not be started; write the page with -o/, { PATH: `${folder}/path` });
  assert.equal(existsSync(`${folder}/no.webm`), false);
});

test("without a browser perp view --png and --video say what is missing", () => {
  for (const option of ["--png", "--video"]) {
    assert.throws(() => execFileSync(process.env.PERP, ["view", arm(), option, "none"], { cwd: folder, env: { PATH: "/nowhere" }, stdio: "pipe" }),
      (error) => error.status === 1 && /there is none on the PATH: install `chromium`/.test(error.stderr.toString()));
    assert.equal(existsSync(`${folder}/none`), false);
  }
  for (const wrong of [["--at", "1"], ["--png", "x.png", "-o", "x.html"], ["--png", "x.png", "--at", "soon"], ["--png", "x.png", "--size", "9x9"]]) {
    assert.throws(() => perp("view", arm(), ...wrong), (error) => error.status === 2, wrong.join(" "));
  }
});

// The corners of all shapes of boxes and polygons at the frame that is shown, in the picture's coordinates, -1 to 1.
const corners = (page) => page.evaluate(() => {
  const { view } = window.perpReplay, { flatCamera } = view, bodies = view.solid[0], found = [];
  flatCamera.updateMatrixWorld();
  bodies.run.header.bodies.forEach((body, b) => body.shapes.forEach((shape) => {
    const [w, x, y, z] = shape.quat, [lx, ly] = shape.size ?? [];
    const points = shape.points ?? (shape.size ? [[lx, ly], [-lx, ly], [lx, -ly], [-lx, -ly]].map((p) => p.map((c) => c / 2)) : []);
    bodies.nodes[b].updateMatrixWorld(true);
    for (const p of points) {
      const at = bodies.nodes[b].position.clone().set(p[0], p[1], 0), turn = bodies.nodes[b].quaternion.clone().set(x, y, z, w);
      at.applyQuaternion(turn).add(at.clone().set(...shape.position));
      found.push(bodies.nodes[b].localToWorld(at).project(flatCamera).toArray());
    }
  }));
  return found;
});

for (const screen of SCREENS) {
  test(`a push over a table is seen from above, ${screen.width} px`, async () => {
    const log = logOf("narrow", example("push-through-narrow")), steps = contentOf(log).steps;
    const { page, wrong, close } = await open(browser, pageOf("narrow", log), { viewport: screen });
    await checkLayout(page, screen);
    for (const frame of [0, 250, 500]) {
      await show(page, frame);
      const at = await corners(page), reach = (k) => Math.max(...at.map((p) => p[k])) - Math.min(...at.map((p) => p[k]));
      assert.ok(at.length >= 14 && at.every((p) => Math.abs(p[0]) < 1 && Math.abs(p[1]) < 1), `all of the scene is in sight: ${at}`);
      assert.ok(Math.max(reach(0), reach(1)) > 0.5, "and not lost in it");
    }
    // every point that the slider lies on has its dot, where the log has it, and a force in its disc
    const rests = steps[500].contacts.contacts.filter((c) => c.a === c.b), seen = await page.evaluate(() => window.perpReplay.view.forces[0].samples.map((s) =>
      ({ name: window.perpReplay.run.contactName(s.contact), at: s.point, ft: s.ft, fn: s.fn })).filter((s) => s.name === "slider on the table"));
    assert.equal(rests.length, 16);
    assert.equal(seen.length, 16);
    for (const c of rests) {
      const dot = seen.find((s) => Math.hypot(s.at[0] - c.point[0], s.at[1] - c.point[1]) < 1e-5);
      assert.ok(dot && Math.hypot(dot.ft[0] - c.ft[0], dot.ft[1] - c.ft[1]) < 1e-5 && Math.abs(dot.fn - c.fn) < 1e-5, c.feature);
    }
    const option = (await page.locator("#contact option").allTextContents()).find((o) => o.includes("support.5"));
    assert.equal(option, "slider on the table  support.5");
    await page.selectOption("#contact", { label: option });
    await page.evaluate(() => window.perpReplay.draw());
    assert.match(await page.locator("#why-mode").textContent(), /slide/);
    assert.match(await page.locator("#facts").textContent(), /loadgiven/);
    // fit brings it back after a turn of the wheel
    const before = await canvas(page);
    await page.locator("#view > canvas").hover();
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(300);
    assert.notEqual(await canvas(page), before);
    await page.locator("#home").click();
    await page.waitForTimeout(300);
    assert.equal(await canvas(page), before);
    assert.deepEqual(wrong, []);
    await close();
  });
}
