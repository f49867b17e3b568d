"""`perp run --watch`: the scene is run again at every save. tests/replay opens its page in a browser."""
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import time

import pytest

from conftest import PERP, SANITIZED

PATIENCE = 300 if SANITIZED else 60  # s; what is waited for takes less than one


def ball(mass=1, steps=4, more=""):
    """A ball at rest: the ground carries mass * 10 N."""
    return f"""perp: 1
planar: true
gravity: [0, -10]
{more}
bodies:
  ground: {{fixed: true, shapes: [{{halfplane: {{normal: [0, 1], offset: 0}}}}]}}
  ball: {{mass: {mass}, pose: {{position: [0, 0.1]}}, shapes: [{{disc: 0.1}}]}}
run: {{model: quasidynamic, h: 0.01, steps: {steps}}}
"""


class Watch:
    """A watch that goes on beside the test; its outputs are files."""

    def __init__(self, folder, *arguments, **environment):
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        settings = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "DISPLAY": "", "WAYLAND_DISPLAY": "", **environment}
        with open(self.out, "w") as out, open(self.err, "w") as err:
            self.process = subprocess.Popen([PERP, "run", *arguments, "--watch"], cwd=folder, stdout=out, stderr=err, env=settings)

    def wait(self, what, true):
        end = time.monotonic() + PATIENCE
        while not true():
            assert self.process.poll() is None and time.monotonic() < end, (what, self.out.read_text(), self.err.read_text())
            time.sleep(0.02)

    def results(self):
        text, found = self.out.read_text(), []
        while text.strip():
            try:
                result, end = json.JSONDecoder().raw_decode(text.lstrip())
            except json.JSONDecodeError:
                break  # the rest is being written
            found.append(result)
            text = text.lstrip()[end:]
        return found

    def result(self, number):
        """The result of that run, when the watch has said that it waits for the next."""
        self.wait(f"result {number}", lambda: len(self.results()) >= number and self.err.read_text().count("watching") >= number)
        return self.results()[number - 1]

    def said(self, text, times=1):
        self.wait(text, lambda: self.err.read_text().count(text) >= times)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture
def watch(perp):
    started = []

    def start(*arguments, **environment):
        started.append(Watch(perp.folder, *arguments, **environment))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def load(result):
    return sum(c["fn"] for c in result["contacts"])


def test_every_save_is_a_run(perp, watch):
    perp.write("s.yaml", ball(1))
    w = watch("s.yaml", "--json")
    assert load(w.result(1)) == pytest.approx(10, rel=1e-9)
    for number, mass in ((2, 2), (3, 5), (4, 3)):  # two of the same size: the time tells
        perp.write("s.yaml", ball(mass))
        assert load(w.result(number)) == pytest.approx(10 * mass, rel=1e-9)
    assert w.interrupt() == 0
    assert len(w.results()) == 4


@pytest.mark.parametrize("way", ["rename", "remove", "backup"])
def test_editors_that_replace_the_file(perp, watch, way):
    path = pathlib.Path(perp.write("s.yaml", ball(1)))
    w = watch("s.yaml", "--json")
    w.result(1)
    if way == "rename":
        perp.write("s.yaml.tmp", ball(2))
        os.replace(perp.folder / "s.yaml.tmp", path)
    elif way == "remove":
        path.unlink()
        time.sleep(0.3)  # longer than between two looks
        path.write_text(ball(2))
    else:
        os.replace(path, perp.folder / "s.yaml~")
        path.write_text(ball(2))
    assert load(w.result(2)) == pytest.approx(20, rel=1e-9)
    assert "cannot" not in w.err.read_text()


def test_included_files_and_meshes_count(perp, watch):
    def mesh(lowest):
        return "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (lowest, 1)) + "\nf 1 2 3\n"
    perp.write("scene/parts/part.obj", mesh(0))
    perp.write("scene/parts/part.yaml", "bodies: {part: {fixed: true, pose: {position: [0, 0, 3]}, shapes: [{mesh: {file: part.obj}}]}}\n")
    scene = perp.write("scene/s.yaml", "perp: 1\ninclude: [parts/part.yaml]\nbodies:\n  ball: {mass: 1, shapes: [{sphere: 1}], pose: {position: [0.5, 0.5, 0]}}\n"
                       "contacts: {margin: 10}\nrun: {model: geometric}\n")
    perp.write("scene/part.obj", mesh(0))  # not of this scene: a mesh is named from the file that names it
    w = watch(scene, "--json")
    gap = lambda number: min(c["phi"] for c in w.result(number)["contacts"])
    assert gap(1) == pytest.approx(2, rel=1e-9)
    perp.write("scene/parts/part.obj", mesh(-0.5))
    assert gap(2) == pytest.approx(1.5, rel=1e-9)
    perp.write("scene/parts/part.yaml", (perp.folder / "scene/parts/part.yaml").read_text().replace("0, 0, 3", "0, 0, 4"))
    assert gap(3) == pytest.approx(2.5, rel=1e-9)
    perp.write("scene/part.obj", mesh(-1))
    time.sleep(0.6)
    assert len(w.results()) == 3


def test_a_broken_scene_is_said_and_a_mended_one_runs(perp, watch):
    perp.write("s.yaml", ball(1))
    w = watch("s.yaml", "--quiet")
    w.said("watching")
    perp.write("s.yaml", ball(1).replace("disc", "dosc"))
    w.said("s.yaml:7:57: unknown key `dosc`; did you mean `disc`?")
    perp.write("s.yaml", ball(1) + "bodies: [\n")
    w.said("watching", 3)
    assert re.search(r"^s\.yaml:\d+:\d+: ", w.err.read_text()[w.err.read_text().rindex("changed"):], re.M)
    perp.write("s.yaml", ball(2))
    w.said("watching", 4)
    assert not re.search(r"^s\.yaml:\d", w.err.read_text()[w.err.read_text().rindex("changed"):], re.M)
    assert w.interrupt() == 0


def test_a_file_that_is_missing_may_come(perp, watch):
    perp.write("s.yaml", ball(1, more="include: [more.yaml]"))
    w = watch("s.yaml", "--json")
    assert "error" in w.result(1)
    w.said("include `more.yaml`: cannot be opened")
    perp.write("more.yaml", "contacts: {friction: 0.2}\n")
    assert load(w.result(2)) == pytest.approx(10, rel=1e-9)


def test_a_save_stops_the_run_that_is_going_on(perp, watch):
    perp.write("s.yaml", ball(1, steps=100000000))
    w = watch("s.yaml", "--json", "--csv", "out")
    w.wait("the run", lambda: (perp.folder / "out").exists() and any((perp.folder / "out").iterdir()))
    perp.write("s.yaml", ball(2, steps=3))
    assert load(w.result(1)) == pytest.approx(20, rel=1e-9)
    assert w.results()[0]["steps"] == 3 and len(w.results()) == 1
    assert "stopped" not in w.err.read_text()
    assert w.interrupt() == 0


def test_interrupt_ends_a_run_too(perp, watch):
    perp.write("s.yaml", ball(1, steps=100000000))
    w = watch("s.yaml", "--csv", "out")
    w.wait("the run", lambda: (perp.folder / "out").exists() and any((perp.folder / "out").iterdir()))
    assert w.interrupt() == 0
    assert w.out.read_text() == "" and list((perp.folder / "out").iterdir()) == []


def test_usage(perp):
    perp("run", "missing.yaml", "--watch", code=3)
    perp.write("s.yaml", ball(1))
    perp("run", "s.yaml", "--quiet", "--log", "run.mcap")
    assert "--watch" in perp("run", "--resume", "run.mcap", "--watch", code=2).stderr


# ---- the page ------------------------------------------------------------------------------------------------------------

@pytest.fixture
def page(perp):
    """Skips where the build has no page."""
    perp.write("s.yaml", ball(1))
    if perp("run", "s.yaml", "--quiet", "--html", "plain.html", code=None).returncode != 0:
        pytest.skip("this build has no replay page")
    return perp


def number_of(path):
    return int(re.search(r'<meta name="perp-watch" content="(\d+)"', path.read_text()).group(1))


def news_of(path):
    text = pathlib.Path(f"{path}.watch.js").read_text()
    return json.loads(re.fullmatch(r"perpWatch\((.*)\);\n", text, re.S).group(1))


def test_page_and_its_news(page, watch):
    html = page.folder / "run.html"
    w = watch("s.yaml", "--quiet", "--html", "run.html", "--log", "run.mcap")
    w.said("the replay is run.html")
    w.said("watching")
    first = number_of(html)
    assert news_of(html) == {"page": first, "message": ""}
    page.write("s.yaml", ball(1).replace("disc", "<b>"))
    w.said("watching", 2)
    assert number_of(html) == first and news_of(html)["page"] == first
    assert news_of(html)["message"].startswith("s.yaml:7:57: unknown key `<b>`")
    assert "<" not in pathlib.Path(f"{html}.watch.js").read_text()
    page.write("s.yaml", ball(2))
    w.said("watching", 3)
    assert number_of(html) > first and news_of(html) == {"page": number_of(html), "message": ""}
    assert w.interrupt() == 0
    assert news_of(html)["page"] == number_of(html) and "no longer" in news_of(html)["message"]
    assert json.loads(page("export", "run.mcap", "--json").stdout)["steps"]


def test_only_a_watched_page_may_load_a_file(page, watch):
    plain = (page.folder / "plain.html").read_text()
    assert 'name="perp-watch"' not in plain and "file:" not in plain[: plain.index("<title>")]
    w = watch("s.yaml", "--quiet", "--html", "run.html")
    w.said("watching")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', (page.folder / "run.html").read_text()).group(1)
    assert policy.endswith(" blob: file: 'self'") and "unsafe" not in policy


def test_without_a_place_it_is_in_the_cache_and_opened_once(page, watch):
    opener = page.folder / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" >> "{page.folder}/opened"\n')
    opener.chmod(opener.stat().st_mode | stat.S_IXUSR)
    w = watch("s.yaml", "--quiet", DISPLAY=":9", PATH=f"{opener.parent}:{os.environ['PATH']}")
    w.said("watching")
    page.write("s.yaml", ball(2))
    w.said("watching", 2)
    opened = (page.folder / "opened").read_text().splitlines()
    whole = str((page.folder / "s.yaml").resolve())[1:].replace("/", "-")
    assert opened == [str(page.folder / "cache" / "perp" / f"{whole[-200:]}.html")]
    assert number_of(pathlib.Path(opened[0])) == news_of(opened[0])["page"]
    assert "the replay is" not in w.err.read_text()
