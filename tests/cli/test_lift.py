"""Two pads on springs squeeze a cube and lift it. That it sticks is an answer at every step, and it is the one that is taken:
the cube stays level and goes where the pads go."""
import math

import pytest

from conftest import ROOT

SCENE = str(ROOT / "tests" / "step" / "scenes" / "lift-one.yaml")
PALM = 2000.0  # N/m
VARIANTS = {
    "as it is": {},
    "soft squeeze": {"joints.l.stiffness": 800, "joints.r.stiffness": 800},
    "hard squeeze": {"joints.l.stiffness": 1500, "joints.r.stiffness": 1500},
    "heavy": {"bodies.red.mass": 0.4},
    "light": {"bodies.red.mass": 0.05},
    "small pads": {"bodies.fl.shapes.0.box.1": 0.02, "bodies.fl.shapes.0.box.2": 0.03, "bodies.fr.shapes.0.box.1": 0.02,
                   "bodies.fr.shapes.0.box.2": 0.03},
    "unequal pads": {"bodies.fl.shapes.0.box.1": 0.06, "bodies.fr.shapes.0.box.2": 0.04},
}


def lifted(perp, h, until, values):
    more = [word for path, value in values.items() for word in ("--set", f"{path}={value}")]
    result = perp.json("run", SCENE, "--model", "qs-impedance-lcp", "--h", h, "--until", until, *more)
    assert result["status"] == "ok", result
    return result["final"]["q"]["red"]


def check(q, until, mass):
    tilt = 2 * math.asin(min(1, math.sqrt(q[4] ** 2 + q[5] ** 2 + q[6] ** 2)))
    assert tilt < 1e-6
    # the palm rises from 1 s on by 0.15 m/s, less what its spring gives under the weight
    wanted = 0.05 + 0.15 * (until - 1) - mass * 9.81 / PALM
    assert q[:3] == pytest.approx((0, 0, wanted), abs=1e-6)


@pytest.mark.parametrize("until", (1.5, 3))
@pytest.mark.parametrize("h", (0.1, 0.05, 0.02, 0.01))
def test_level_for_every_step(perp, h, until):
    check(lifted(perp, h, until, {}), until, 0.2)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("h", (0.1, 0.03))
def test_other_values(perp, name, h):
    check(lifted(perp, h, 1.5, VARIANTS[name]), 1.5, VARIANTS[name].get("bodies.red.mass", 0.2))
