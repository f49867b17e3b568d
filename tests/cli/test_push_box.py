"""A box on a table, pushed off its middle by a driven finger. Which of its corners carry how much decides how it turns: rigid
rungs take the answer of equal springs, which `compliant` tends to as its stiffness grows."""
import math

import pytest

from conftest import ROOT, SANITIZED

pytestmark = pytest.mark.skipif(SANITIZED, reason="thousands of steps; test_least_forces.py walks the same paths")

SCENE = str(ROOT / "tests" / "step" / "scenes" / "push-box.yaml")
WITH_INERTIA = {"dyn-ncp": (), "dyn-lcp": ("--set", "run.rays=16")}
RUNGS = {**WITH_INERTIA, "qs-ncp": ()}
ROUND = ("dyn-ncp", "qs-ncp")
STEPS = (0.01, 0.005, 0.002, 0.001)


def settings(values):
    return [word for path, value in values.items() for word in ("--set", f"{path}={value}")]


def variant(y=0.01, size=(0.1, 0.1, 0.04), mass=0.5, table=None, finger=None, mirrored=False, gravity=9.81):
    """The scene with the finger at y, 2 cm off the face of a box; friction of the two pairs, None: as in the file."""
    side, start = -1 if mirrored else 1, -(size[0] / 2 + 0.03)
    values = {"bodies.slider.mass": mass, "bodies.slider.pose.position.2": size[2] / 2, "bodies.finger.pose.position.0": start,
              "bodies.finger.pose.position.1": side * y, "gravity": f"[0, 0, {-gravity}]"}
    values |= {f"bodies.slider.shapes.0.box.{i}": length for i, length in enumerate(size)}
    values |= {f"bodies.finger.driven.x.values.{i}": start + way for i, way in enumerate((0, 0.1, 0.18))}
    values |= {f"bodies.finger.driven.y.values.{i}": side * (y + way) for i, way in enumerate((0, 0.01, 0.04))}
    if table is not None:
        values["contacts.pairs.table slider.friction"] = table
    if finger is not None:
        values["contacts.pairs.slider finger.friction"] = finger
    return settings(values)


VARIANTS = {
    "slippery table": {"table": 0.25, "mass": 2},
    "slippery finger": {"table": 0.6, "finger": 0.1},
    "far off": {"y": 0.02, "finger": 0.5},
    "other side": {"y": -0.015, "mass": 0.1},
    "long box": {"size": (0.14, 0.08, 0.05)},
    "wide box": {"size": (0.06, 0.12, 0.03), "table": 0.3},
}


def pushed(perp, model, h, *more):
    """x, y and yaw at the end, and the run's result."""
    result = perp.json("run", SCENE, "--model", model, "--h", h, *more)
    assert result["status"] == "ok", result
    q = result["final"]["q"]["slider"]
    return (q[0], q[1], 2 * math.atan2(q[6], q[3])), result


def stiff(perp, h, *more, k=1e7):
    """Dampers in proportion, so that all that contacts give goes as 1 / K; they lose the impact at the first touch."""
    compliance = {"compliance.stiffness": k, "compliance.damping": k / 100, "compliance.gamma": 0}
    return pushed(perp, "compliant", h, *more, *settings(compliance))[0]


LIMITS = {}  # that were run already


def limit(perp, *more, k=1e7):
    """Of the yaw, as h goes to 0: `compliant` is of first order."""
    if more not in LIMITS:
        coarse, fine = stiff(perp, 0.004, *more, k=k), stiff(perp, 0.002, *more, k=k)
        LIMITS[more] = 2 * fine[2] - coarse[2]
    return LIMITS[more]


def test_the_limit(perp):
    """What all others are held against: first order in 1 / K and in h."""
    by_k = [stiff(perp, 0.002, k=k)[2] for k in (1e5, 1e6, 1e7)]
    assert abs(by_k[2] - by_k[1]) < 0.2 * abs(by_k[1] - by_k[0])
    by_h = [stiff(perp, h)[2] for h in (0.004, 0.002, 0.001)]
    assert abs(by_h[2] - by_h[1]) == pytest.approx(0.5 * abs(by_h[1] - by_h[0]), rel=0.2)
    assert limit(perp) == pytest.approx(-0.7764, abs=5e-4)


@pytest.mark.parametrize("model", RUNGS)
def test_yaw_converges(perp, model):
    """From one side, and ever nearer; on the round cone within 0.01 rad of `compliant` for every h. 1e-4: of what a corner does that
    starts to slip a step later."""
    found = [pushed(perp, model, h, *RUNGS[model])[0][2] for h in STEPS]
    if model != "dyn-lcp":
        assert found == pytest.approx([limit(perp)] * len(STEPS), abs=0.01)
    ways = [b - a for a, b in zip(found, found[1:])]
    assert all(way <= 1e-4 for way in ways) or all(way >= -1e-4 for way in ways), found
    assert abs(ways[2]) <= abs(ways[0]) + 1e-4, found


@pytest.mark.parametrize("model", ROUND)
@pytest.mark.parametrize("name", VARIANTS)
def test_other_values(perp, model, name):
    """Without inertia the motion is that under a hundredfold weight, where inertia is nothing beside friction."""
    keys = VARIANTS[name]
    wanted = limit(perp, *variant(**keys)) if model in WITH_INERTIA else limit(perp, *variant(**keys, gravity=981), k=1e9)
    for h in (0.01, 0.004):
        assert pushed(perp, model, h, *variant(**keys))[0][2] == pytest.approx(wanted, abs=0.01), h


@pytest.mark.parametrize("name", VARIANTS)
def test_rays_tend_to_the_round_cone(perp, name):
    """With n rays friction pulls up to pi / n beside the slip: with 16 of them the box of the file ends 0.07 rad off the round cone."""
    keys = variant(**VARIANTS[name])
    wanted = pushed(perp, "dyn-ncp", 0.01, *keys)[0][2]
    off = [abs(pushed(perp, "dyn-lcp", 0.01, *keys, "--set", f"run.rays={n}")[0][2] - wanted) for n in (16, 64)]
    assert off[0] < math.pi / 16 and off[1] < math.pi / 64 and off[1] < 0.5 * off[0] + 1e-3, off


@pytest.mark.parametrize("model", RUNGS)
@pytest.mark.parametrize("keys", ({}, VARIANTS["far off"], VARIANTS["long box"]))
def test_mirrored(perp, model, keys):
    x, y, yaw = pushed(perp, model, 0.01, *variant(**keys), *RUNGS[model])[0]
    assert pushed(perp, model, 0.01, *variant(**keys, mirrored=True), *RUNGS[model])[0] == pytest.approx((x, -y, -yaw), abs=1e-9)


def test_stiff_contact_pushes_alike(perp):
    """What is left between the two is how the finger's springs were stretched along its tangents while it stuck, which a rigid step
    does not know (docs/choices.md)."""
    apart = [abs(stiff(perp, h)[2] - pushed(perp, "dyn-ncp", h)[0][2]) for h in (0.008, 0.004, 0.002)]
    assert max(apart) < 0.002, apart


@pytest.mark.parametrize("model", RUNGS)
def test_several_is_counted(perp, model):
    """Four corners leave the normal forces open, and friction with them: other motions would have met the law."""
    several = pushed(perp, model, 0.01, *RUNGS[model])[1]["several"]
    assert several > 0
    said = perp("run", SCENE, "--model", model, "--h", 0.01, *RUNGS[model]).stdout.splitlines()
    assert said[-2].startswith(f"solved, not the only answer: in {several} of 200 steps another motion meets the same law")
