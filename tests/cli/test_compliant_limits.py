"""The rung `compliant` beside closed forms and limits: restitution, K without end, h without length, and Dupont and Yamajako's
full-order rod. The studies are those of tools/draw_compliant.py, on fewer points."""
import math
import sys

import pytest

from conftest import PERP, ROOT

sys.path.append(str(ROOT / "tools"))
import compliant_forms as forms  # noqa: E402
import draw_compliant as studies  # noqa: E402


@pytest.fixture
def runner(tmp_path):
    return studies.Runner(PERP, tmp_path)


@pytest.mark.parametrize("zeta", (0, 0.1, 0.5, 1, 2))
def test_restitution(runner, zeta):
    """Steps lose more than the continuum, without damping by the factor exp(-pi/2 w h): extrapolated from w h = 0.04 and 0.02
    it is e(zeta) to what is left of second order, (pi/2 0.04)^2 / 4 = 1e-3, times two."""
    pulse, damping = math.sqrt(1e4 / 0.1), 2 * zeta * math.sqrt(1e4 * 0.1)
    found = [runner.run(studies.BALL, settings={"compliance.damping": damping}, h=phase / pulse,
                        until=0.02)["final"]["v"]["ball"][2] for phase in (0.04, 0.02)]
    exact = forms.restitution(zeta)
    assert found[0] < found[1] < exact
    assert 2 * found[1] - found[0] == pytest.approx(exact, abs=2e-3)


def test_large_steps_are_damped(runner):
    """h = 0.05 s with K = 1e6, no damper: w h = 158, and of a speed of 1 m/s a step leaves 1 / (w h)^2."""
    result = runner.run(studies.BALL, settings={"compliance.stiffness": 1e6, "compliance.damping": 0}, h=0.05, until=1.0)
    assert 0 <= result["final"]["v"]["ball"][2] <= 1 / (0.05 ** 2 * 1e6 / 0.1)
    assert result["final"]["q"]["ball"][2] == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("name", studies.RIGID)
def test_stiff_contact_is_rigid(runner, name):
    """Where the surfaces do not turn in a step the end is that of dyn-ncp but for what the springs give, the load over K:
    exactly first order, down to 1e-8 m."""
    rigid = runner.run(name, "dyn-ncp")["final"]["q"]
    off = []
    for k in (1e4, 1e6, 1e9):
        settings = {"compliance.stiffness": k, "compliance.damping": math.sqrt(k * studies.RIGID[name]), "compliance.gamma": 0}
        off.append(studies.distance(runner.run(name, settings=settings)["final"]["q"], rigid))
    assert off[0] / off[1] == pytest.approx(1e2, rel=0.02) and off[1] / off[2] == pytest.approx(1e3, rel=0.02)
    assert off[2] < 5e-8


def test_rod_beside_the_rigid_one(runner):
    """theta and its rate at 0.2 s are the reference's (integrated by other means to 1e-10, runs extrapolated in h to 1e-9), and
    over the last decade of eps all errors fall as its root, to what the next order leaves of the slope."""
    reference = {1e-6: (1.4149720611434338, 0.185457965096104), 1e-7: (1.4149571567158963, 0.18537970599519932)}
    theta, turning, fn = forms.rigid_rod((0.5, 0.5), studies.LOAD, 0.3, studies.END)
    assert (theta, turning, *fn) == pytest.approx(
        (1.4149504131901303, 0.1853441295808221, 2.2298187019635094, 2.165027978540741), abs=1e-10)
    errors = {}
    for eps, (angle, rate) in reference.items():
        errors[eps] = studies.rod_errors(runner, eps, 8e-5)
        assert errors[eps][0] == pytest.approx(abs(angle - theta), abs=1e-9)
        assert errors[eps][1] == pytest.approx(abs(rate - turning), abs=1e-9)
    slopes = [math.log10(a / b) for a, b in zip(errors[1e-6], errors[1e-7])]
    assert slopes == pytest.approx([0.5] * 4, abs=0.015)


def test_unstable_rod_grows_as_predicted(runner):
    """D is a P-matrix, so that the rigid rod's forces are unique, and yet they are not stable. 0.5 %: extrapolated in h the
    rate is within 0.05 %; one run at h = 1e-3 sqrt(eps) is 0.3 % short, as steps damp."""
    exponent, _ = forms.rod_modes((1, 1.5), math.sqrt(0.1), 1)
    assert exponent.real == pytest.approx(0.35526350004841734, abs=1e-12)
    matrix = forms.rod_matrix((1, 1.5))
    assert min(matrix[0][0], matrix[1][1], matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]) > 0
    rates = [studies.rate_of(studies.rod_growth(runner, 1e-8, phase, 6), phase) for phase in (4e-3, 2e-3)]
    assert 2 * rates[1] - rates[0] == pytest.approx(exponent.real, rel=2e-3)
    assert rates[0] < rates[1] < exponent.real


ROLLING = """perp: 1
bodies:
  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  ball:
    mass: 0.2
    inertia: [2.0e-4, 2.0e-4, 2.0e-4]
    pose: {position: [0, 0, 0.04992152]}        # sunk in by m g / (25 K)
    velocity: {angular: [0.06, 0.08, 0]}
    shapes: [{sphere: 0.05}]
contacts: {friction: 0}
compliance: {stiffness: 1.0e3, damping: 5, elements: 5, size: 0.06, gamma: 0}
run: {tolerance: 1.0e-11}    # to which the tilt of a step settles
"""


@pytest.mark.parametrize("h", (1e-3, 1e-4, 1e-5))
def test_patch_resists_rolling(runner, h):
    """Without friction: dampers feel that a patch turns on what it touches, springs do not: the moment is C sum r^2 omega at any h.
    All elements stay pressed: C omega r < 0.02 N of 0.078 N each."""
    steps = 10
    end = runner.run(ROLLING, h=h, until=steps * h)["final"]["v"]["ball"]
    left = (1 + h * forms.rolling(5, 0.06, 5) / 2e-4) ** -steps
    assert end[3:5] == pytest.approx([0.06 * left, 0.08 * left], rel=1e-8)
    assert end[5] == pytest.approx(0, abs=1e-12)
