"""`perp view` and `perp run --html`: the page as a file. tests/replay opens it in a browser."""
import os
import re
import stat
import subprocess

import pytest

GRIPPER = """perp: 1
name: squeeze
planar: true
gravity: [0, -10]
bodies:
  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}
  ball: {mass: 1, pose: {position: [0, 0.1]}, shapes: [{disc: 0.1}]}
run: {model: quasidynamic, h: 0.01, steps: 4}
"""


@pytest.fixture
def view(perp):
    """The command, where its build has the page; elsewhere it must say how to get it."""
    perp.write("scene.yaml", GRIPPER)
    perp("run", "scene.yaml", "--quiet", "--log", "run.mcap")
    done = subprocess.run([os.environ["PERP"], "view", "run.mcap", "-o", "probe.html"], cwd=perp.folder,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        assert done.returncode == 1 and "PERP_VIEWER=ON" in done.stderr
        assert "PERP_VIEWER=ON" in perp("run", "scene.yaml", "--html", "x.html", code=1).stderr
        pytest.skip("this build has no replay page, and says so")
    return perp


def files(perp):
    return sorted(os.listdir(perp.folder))


def test_page_is_one_file_with_a_policy(view):
    assert view("view", "run.mcap", "-o", "page.html").stdout == "page.html\n"
    text = (view.folder / "page.html").read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy and "http" not in policy
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert "{{" not in text[: text.index("perp-headers")]
    assert [f for f in files(view) if "partial" in f] == []


def test_same_log_same_bytes_by_either_way(view):
    view("view", "run.mcap", "-o", "a.html")
    view("run", "scene.yaml", "--quiet", "--html", "b.html")
    view("run", "scene.yaml", "--quiet", "--html", "c.html", "--log", "c.mcap")
    first = (view.folder / "a.html").read_bytes()
    assert first == (view.folder / "b.html").read_bytes() == (view.folder / "c.html").read_bytes()


def test_without_a_place_it_goes_to_the_cache(view):
    environment = {**os.environ, "XDG_CACHE_HOME": str(view.folder / "cache" / "deep"), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    done = view("view", "run.mcap", env=environment)
    assert done.stdout.strip() == str(view.folder / "cache" / "deep" / "perp" / "run.mcap.html")
    assert "no browser" in done.stderr
    assert os.path.getsize(done.stdout.strip()) > 100000


def test_browser_is_asked_to_open_it(view):
    opener = view.folder / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{view.folder}/opened"\n')
    opener.chmod(opener.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "XDG_CACHE_HOME": str(view.folder), "DISPLAY": ":9", "PATH": f"{opener.parent}:{os.environ['PATH']}"}
    assert view("view", "run.mcap", env=environment).stdout == ""
    assert (view.folder / "opened").read_text() == str(view.folder / "perp" / "run.mcap.html")


def test_what_cannot_be_shown_is_refused(view):
    view.write("text.mcap", "not a log")
    view("view", "text.mcap", "-o", "x.html", code=3)
    view("view", "missing.mcap", "-o", "x.html", code=3)
    view("view", "run.mcap", "-o", "no/such/folder/x.html", code=1)
    view("view", code=2)
    view.write("space.yaml", "perp: 1\nbodies: {ball: {mass: 1, shapes: [{sphere: 1}]}}\nrun: {model: quasidynamic, steps: 2}\n")
    view("run", "space.yaml", "--quiet", "--log", "space.mcap")
    assert "planar and spatial" in view("view", "run.mcap", "space.mcap", "-o", "x.html", code=3).stderr
    assert not (view.folder / "x.html").exists()


def test_thousand_steps_of_twelve_bodies_stay_below_two_megabytes(view):
    lines = ["perp: 1", "bodies:",
             "  table: {driven: {x: {sines: [{amplitude: 0.06, omega: 3}, {amplitude: 0.02, omega: 7.3}]},"
             " y: {sines: [{amplitude: 0.03, omega: 4.1, phase: 1}]}}, pose: {position: [0, 0, -0.05]},"
             " shapes: [{box: [4, 4, 0.1]}]}"]
    for stack in range(3):
        height = 0.0
        for layer in range(4):
            side = 0.1 - 0.008 * layer
            lines.append(f"  box{stack}{layer}: {{mass: {1 + 0.1 * layer}, shapes: [{{box: [{side}, {side}, {side}]}}],"
                         f" pose: {{position: [{0.2 * stack}, 0, {height + side / 2}], rpy: [0, 0, {0.05 * layer}]}}}}")
            height += side
    lines += ["  left: {fixed: true, pose: {position: [-0.13, 0, 0.05]}, shapes: [{box: [0.1, 0.1, 0.1]}]}",
              "  right: {fixed: true, pose: {position: [0.53, 0, 0.05]}, shapes: [{box: [0.1, 0.1, 0.1]}]}",
              "contacts: {friction: 0.4, margin: 0.01}", "run: {model: quasidynamic, h: 0.01, steps: 1000}"]
    view.write("stacks.yaml", "\n".join(lines) + "\n")
    view("run", "stacks.yaml", "--quiet", "--html", "stacks.html", "--csv", "out")
    rows = (view.folder / "out" / "contacts.csv").read_text().count("\n") - 1
    assert rows >= 55000  # four contacts a box, and the walls now and then
    assert os.path.getsize(view.folder / "stacks.html") < 2e6
