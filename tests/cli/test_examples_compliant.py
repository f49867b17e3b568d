"""The examples of the rung `compliant` give the numbers that their READMEs state: closed forms, and integrations by other
means (tools/compliant_forms.py)."""
import csv
import math
import sys

import pytest

from conftest import ROOT

sys.path.append(str(ROOT / "tools"))
import compliant_forms as forms  # noqa: E402  (the plots use the same)


def scene(name):
    return str(ROOT / "examples" / name / "scene.yaml")


def readme(name):
    return (ROOT / "examples" / name / "README.md").read_text()


def run(perp, name, *arguments):
    result = perp.json("run", scene(name), "--model", "compliant", *map(str, arguments))
    assert result["status"] == "ok"
    assert all(result["residual"][key] <= 1e-8 for key in ("balance", "complementarity", "cone"))
    return result


def extrapolate(coarse, fine):
    """Of values at h and h / 2 with an error of first order."""
    return [2 * b - a for a, b in zip(coarse, fine)]


@pytest.mark.parametrize("steps, x, y", [(100, 0.55905441276, -0.05118198405), (101, 0.56334012704, -0.05332484120)])
def test_masse_ball(perp, steps, x, y):
    """1e-10 m: as many digits as the reference has."""
    ball = run(perp, "masse-ball", "--steps", steps)["final"]["q"]["ball"]
    assert ball[:3] == pytest.approx([x, y, 0.05 - 0.2 * 9.8 / 1e4], abs=1e-10)
    assert f"{x:.11f} | {y:.11f}" in readme("masse-ball")


def first_tops(perp, h):
    """How high `half` and `lively` rise first."""
    run(perp, "bounce", "--h", h, "--until", 0.62, "--csv", perp.folder / "csv")
    with open(perp.folder / "csv" / "state.csv") as file:
        lines = list(csv.DictReader(file))
    ways = [[float(line[name + ".z"]) - 0.05 for line in lines] for name in ("half", "lively")]
    return [next(b for a, b, c in zip(z, z[1:], z[2:]) if a < b >= c) for z in ways]


def test_bounce(perp):
    """Extrapolated from h and h / 2 the rebound is that with gravity, to what is left of second order (1 %: w h = 0.03). Both
    restitutions come out of the same formula, to the digits that the scene has of C."""
    dampers = (16.14505, 2.167122)
    for damping, e in zip(dampers, (0.5, 0.9)):
        assert forms.restitution(damping / (2 * math.sqrt(1e4 * 0.1))) == pytest.approx(e, abs=1e-6)
    exact = [forms.rebound(0.1, 1e4, damping, 9.81, 0.5) for damping in dampers]
    tops = [first_tops(perp, h) for h in (2e-4, 1e-4)]
    assert extrapolate(*tops) == pytest.approx(exact, rel=1e-2)
    for number in (*exact, *tops[0], *tops[1]):
        assert f"{number:.6f}" in readme("bounce")


def test_hunt_crossley(perp):
    """The speeds away: extrapolated from h and h / 2 to the closed form, with 2e-4 for what is left of second order (w h =
    0.006). That is also what Runge-Kutta has, to what a secant leaves of its last step, and for slow balls 1 - 2/3 s."""
    balls = {"slow": 0.5, "brisk": 1, "quick": 2, "fast": 4}
    exact = [v * forms.hunt_crossley(0.25 * v) for v in balls.values()]
    assert [forms.hunt_crossley_rebound(0.1, 1e4, 2500, v) for v in balls.values()] == pytest.approx(exact, abs=1e-7)
    assert forms.hunt_crossley(1e-3) == pytest.approx(1 - 2e-3 / 3, abs=1e-6)
    found = []
    for h in (4e-5, 2e-5):
        result = run(perp, "bounce-hunt-crossley", "--h", h)
        assert not result["fallbacks"]
        found.append([result["final"]["v"][name][2] for name in balls])
    assert extrapolate(*found) == pytest.approx(exact, abs=2e-4)
    for number in (*exact, *found[0], *found[1]):
        assert f"{number:.6f}" in readme("bounce-hunt-crossley")


def test_dead_ball_stays(perp):
    ball = run(perp, "bounce", "--h", 1e-3, "--until", 1)["final"]["q"]["dead"]
    assert ball[2] == pytest.approx(0.05 - 0.1 * 9.81 / 1e4, abs=1e-9)


@pytest.mark.parametrize("side, until", [(1, 0.2), (2, 0.2), (2, 0.4), (5, 0.05), (5, 0.4)])
def test_patch_spin(perp, side, until):
    """The spin loses M t / I, exactly, until it is used up; before that the puck is at rest on its springs to 1e-12."""
    fall = forms.torsion(0.3, 0.2 * 9.81, 0.06, side) / 2e-4
    stiffness, damping = 25e3 / side ** 2, 125 / side ** 2  # the same patch, in other pieces
    result = run(perp, "patch-spin", "--until", until, "--set", f"compliance.elements={side}", "--set",
                 f"compliance.stiffness={stiffness}", "--set", f"compliance.damping={damping}")
    spin = result["final"]["v"]["puck"][5]
    if 20 - fall * until > 0:
        assert spin == pytest.approx(20 - fall * until, abs=1e-8 if until > 0.1 else 1e-4)  # sinking in is over at 0.1 s
        assert until != 0.2 or f"{spin:.6f}".rstrip("0").rstrip(".") in readme("patch-spin")
        assert until != 0.2 or side == 1 or f"{20 / fall:.4f}" in readme("patch-spin")
    else:
        assert spin == pytest.approx(0, abs=1e-5)
    assert result["contacts"][0]["fn"] == pytest.approx(0.2 * 9.81, rel=1e-9 if until > 0.1 else 1e-4)


def test_patch_tends_to_the_square():
    """The mean over cells' centres misses the square's by less than a cell's share."""
    limit = forms.torsion(1, 1, 1)
    assert limit == pytest.approx(0.38259785823210635, abs=1e-15)
    errors = [limit - forms.torsion(1, 1, 1, n) for n in (5, 15, 45)]
    assert all(a / b == pytest.approx(9, rel=0.25) for a, b in zip(errors, errors[1:]))  # second order
    for number in (limit, *(forms.torsion(1, 1, 1, n) for n in (2, 5, 15))):
        assert f"{number:.6f}" in readme("patch-spin")


def test_newton_cradle(perp):
    """Of first order: errors are halved with h, and rates extrapolated to h = 0 are those of the other integration, to what
    is left of second order (w h = 0.025, and its square). Contact forces keep the sum of the rates, whatever h, but
    that the balls are a little elsewhere when gravity turns them back."""
    rates = forms.cradle(5, 3, 0.05)[1]
    found = []
    for h in (8e-5, 4e-5):
        final = run(perp, "newton-cradle", "--h", h, "--until", 0.05)["final"]
        found.append([final["v"][f"rod{i}"][0] for i in range(1, 6)])
        assert sum(found[-1]) == pytest.approx(sum(rates), abs=2e-3)
    assert extrapolate(*found) == pytest.approx(rates, abs=5e-3)
    assert (found[0][4] - rates[4]) / (found[1][4] - rates[4]) == pytest.approx(2, abs=0.1)


def test_reorient(perp):
    """At 1.2 s, before it lands, first order: errors at h = 1e-3 and 5e-4 are as 2 to 1, against the README's limit,
    which has four decimals."""
    limit = (3.3842, 2.3611, 1.8437)
    found = [run(perp, "reorient", "--until", 1.2, "--h", h)["final"]["q"]["part"] for h in (1e-3, 5e-4)]
    for part, h in zip(found, ("1e-3", "5e-4")):
        assert f"| {h} | " + " | ".join(f"{value:.5f}" for value in part) in readme("reorient")
    for k in range(3):
        assert (found[0][k] - limit[k]) / (found[1][k] - limit[k]) == pytest.approx(2, abs=0.2)
