"""Closed forms and integrations by other means of visco-elastic contact, for tests and plots."""
import cmath
import math


def restitution(zeta):
    """Speed out over speed in of a mass that meets a spring and a damper with damping ratio zeta = c / (2 sqrt(k m)),
    without gravity, and leaves where the force k x + c x' comes to zero, not where x does (a contact cannot pull).

    x = v / w_d exp(-s t) sin(w_d t), s = zeta w, w_d = w sqrt(1 - zeta^2). With zeta = cos p the force, -m x'', vanishes at
    w_d t = 2 p, and there x' = -v exp(-s t): e = exp(-2 p cot p). Beyond zeta = 1 the same with cosh."""
    if zeta == 1:
        return math.exp(-2)
    if zeta < 1:
        return math.exp(-2 * zeta * math.acos(zeta) / math.sqrt(1 - zeta * zeta))
    return math.exp(-2 * zeta * math.acosh(zeta) / math.sqrt(zeta * zeta - 1))


def runge_kutta(rate, y, h):
    a = rate(y)
    b = rate([p + 0.5 * h * q for p, q in zip(y, a)])
    c = rate([p + 0.5 * h * q for p, q in zip(y, b)])
    d = rate([p + h * q for p, q in zip(y, c)])
    return [p + h / 6 * (q + 2 * r + 2 * s + t) for p, q, r, s, t in zip(y, a, b, c, d)]


def rebound(m, k, c, g, height, h=1e-6):
    """How high above the ground a ball rises that falls by `height` onto a spring and a damper, with gravity: from touch,
    x (compression) by Runge-Kutta until the force vanishes, by the secant within the last step; then it flies."""
    def force(y):
        return k * y[0] + c * y[1]

    def rate(y):
        return [y[1], g - force(y) / m]

    y = [0.0, math.sqrt(2 * g * height)]
    while True:
        before, y = y, runge_kutta(rate, y, h)
        if force(y) <= 0:
            part = force(before) / (force(before) - force(y))
            x, v = (p + part * (q - p) for p, q in zip(before, y))
            return v * v / (2 * g) - x


def hunt_crossley(s):
    """Speed out over speed in of a mass that meets a spring and a damper that grows with the depth, m x'' = -k x - c x x', at
    the speed v, s = v c / k, without gravity: (c / k) v - log(1 + (c / k) v) falls with x^2 alone, so that both ends of the
    contact have the same of it. For small s that is 1 - 2/3 s; e < 1 / s however fast."""
    low, high = 0.0, min(1.0, 1 / s)
    for _ in range(200):
        e = 0.5 * (low + high)
        low, high = (low, e) if e * s >= 1 or -e * s - math.log(1 - e * s) > s - math.log(1 + s) else (e, high)
    return low


def hunt_crossley_rebound(m, k, c, v, h=1e-6):
    """The same by Runge-Kutta: the speed at which it leaves."""
    def rate(y):
        return [y[1], -y[0] * (k + c * y[1]) / m]

    y = [0.0, v]
    while True:
        before, y = y, runge_kutta(rate, y, h)
        if y[0] <= 0:
            part = before[0] / (before[0] - y[0])
            return -(before[1] + part * (y[1] - before[1]))


def torsion(mu, fn, size, side=None):
    """Moment of friction of a square patch under even pressure that spins about its centre: mu fn times the mean distance
    from it, over the cells' centres, or without `side` over the square: size (sqrt 2 + asinh 1) / 6."""
    if side is None:
        return mu * fn * size * (math.sqrt(2) + math.asinh(1)) / 6
    at = [((i + 0.5) / side - 0.5) * size for i in range(side)]
    return mu * fn * sum(math.hypot(x, y) for x in at for y in at) / side ** 2


def rolling(c, size, side):
    """N m s: moment over rate of turning of a patch of side^2 dampers c, all in contact, about an axis through it."""
    at = [((i + 0.5) / side - 0.5) * size for i in range(side)]
    return c * side * sum(x * x for x in at)


def cradle(count, speed, until, h=1e-5, mass=0.2, radius=0.05, length=0.5, stiffness=1e4, g=9.81):
    """Angles and rates of discs that hang side by side on rods, touching, with springs between them that only push; the
    first one comes in at `speed` (rad/s). By Runge-Kutta: forces have kinks, so that it is of second order only, 1e-6."""
    inertia = mass * length ** 2 + 0.5 * mass * radius ** 2

    def rate(y):
        angle, turning = y[:count], y[count:]
        sine, cosine = [math.sin(a) for a in angle], [math.cos(a) for a in angle]
        moment = [-mass * g * length * s for s in sine]
        for i in range(count - 1):
            x = 2 * radius + length * (sine[i + 1] - sine[i])
            z = -length * (cosine[i + 1] - cosine[i])
            distance = math.hypot(x, z)
            force = stiffness * (2 * radius - distance)
            if force > 0:
                for k, sign in ((i, -1), (i + 1, 1)):
                    moment[k] += sign * force * length * (x * cosine[k] + z * sine[k]) / distance
        return turning + [m / inertia for m in moment]

    y = [0.0] * count + [speed] + [0.0] * (count - 1)
    for _ in range(round(until / h)):
        y = runge_kutta(rate, y, h)
    return y[:count], y[count:]


THETA, ALPHA = math.pi / 2.3, math.pi / 4  # of the rod between two walls, Dupont and Yamajako 1997; m = l = 1, J = 1/3


def rod_matrix(mu, theta=THETA):
    """Their (41), with signed mu: accelerations of the gaps by newton of normal force."""
    c, s, near, off = math.cos(theta), math.sin(theta), math.cos(theta - ALPHA), math.sin(theta - ALPHA)
    return [[1 + 3 * c * (c + mu[0] * s), -math.cos(ALPHA) - mu[1] * math.sin(ALPHA) + 3 * c * (near - mu[1] * off)],
            [-math.cos(ALPHA) - mu[0] * math.sin(ALPHA) + 3 * near * (c + mu[0] * s), 1 + 3 * near * (near - mu[1] * off)]]


def rod_forces(mu, load, theta, turning):
    """Normal forces of the rigid rod that slides at both ends: D fn + b = 0."""
    c, s, near, off = math.cos(theta), math.sin(theta), math.cos(theta - ALPHA), math.sin(theta - ALPHA)
    b = (load[1] - 3 * c * load[2] + s * turning ** 2,
         math.sin(ALPHA) * load[0] - math.cos(ALPHA) * load[1] - 3 * near * load[2] + off * turning ** 2)
    d = rod_matrix(mu, theta)
    det = d[0][0] * d[1][1] - d[0][1] * d[1][0]
    return [(d[0][1] * b[1] - d[1][1] * b[0]) / det, (d[1][0] * b[0] - d[0][0] * b[1]) / det]


def rigid_rod(mu, load, turning, until, steps=2000):
    """Angle, its rate and the normal forces of the rigid rod, from THETA."""
    def rate(y):
        fn = rod_forces(mu, load, *y)
        near, off = math.cos(y[0] - ALPHA), math.sin(y[0] - ALPHA)
        return [y[1], 3 * (load[2] - fn[0] * (math.cos(y[0]) + mu[0] * math.sin(y[0])) - fn[1] * (near - mu[1] * off))]

    y = [THETA, turning]
    for _ in range(steps):
        y = runge_kutta(rate, y, until / steps)
    return y[0], y[1], rod_forces(mu, load, *y)


def rod_modes(mu, c, k):
    """The fastest growing of the motions of z = gaps / eps in the time t / sqrt(eps), z'' = -D (c z' + k z): its exponent,
    and what of (z, z') goes with it alone. An eigenvalue d of D with its left vector l has m^2 + d (c m + k) = 0, and l z'
    less the other root times l z is left of the first."""
    d = rod_matrix(mu)
    trace, det = d[0][0] + d[1][1], d[0][0] * d[1][1] - d[0][1] * d[1][0]
    value = (trace + cmath.sqrt(trace ** 2 - 4 * det)) / 2
    left = (d[1][0], value - d[0][0])
    root = cmath.sqrt((c * value) ** 2 - 4 * k * value)
    slow, fast = sorted(((-c * value - root) / 2, (-c * value + root) / 2), key=lambda m: m.real)

    def amplitude(z, rate):
        return sum(p * (b - slow * a) for p, a, b in zip(left, z, rate))

    return fast, amplitude
