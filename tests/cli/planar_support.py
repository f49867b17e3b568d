"""A rigid body on a plane, carried by equal springs without length: forces linear in the place, fn = a + b x + c y. By other
means than perp's: three equations, and Runge and Kutta's rule."""
import math


def solve3(rows, right):
    """Gauss' elimination with pivots."""
    m = [list(row) + [b] for row, b in zip(rows, right)]
    for k in range(3):
        p = max(range(k, 3), key=lambda i: abs(m[i][k]))
        m[k], m[p] = m[p], m[k]
        for i in range(k + 1, 3):
            factor = m[i][k] / m[k][k]
            m[i] = [x - factor * y for x, y in zip(m[i], m[k])]
    z = [0.0] * 3
    for k in (2, 1, 0):
        z[k] = (m[k][3] - sum(m[k][j] * z[j] for j in range(k + 1, 3))) / m[k][k]
    return z


def normal_forces(places, weight, moments):
    """Of places (x, y) about the centre of mass: sum fn = weight, sum x fn and sum y fn = moments."""
    rows = [[sum(u * v for u, v in zip(one, other)) for other in zip(*[(1, x, y) for x, y in places])]
            for one in zip(*[(1, x, y) for x, y in places])]
    a, b, c = solve3(rows, (weight, *moments))
    return [a + b * x + c * y for x, y in places]


class Slider:
    """A body that slides and spins on feet `places` at a depth below its centre of mass, on which friction mu acts. The state
    is x, y, angle and their rates."""

    def __init__(self, places, depth, mass, inertia, mu, gravity):
        self.places, self.depth, self.mass, self.inertia, self.mu, self.gravity = places, depth, mass, inertia, mu, gravity

    def rates(self, state):
        x, y, angle, vx, vy, spin = state
        c, s = math.cos(angle), math.sin(angle)
        arms = [(c * px - s * py, s * px + c * py) for px, py in self.places]
        slips = [(vx - spin * ay, vy + spin * ax) for ax, ay in arms]
        ways = [(sx / math.hypot(sx, sy), sy / math.hypot(sx, sy)) for sx, sy in slips]
        # sum x fn = depth * mu * sum fn * way_x, and so for y: friction's moment about the centre, with fn = a + b x + c y
        basis = [(1, ax, ay) for ax, ay in arms]
        rows = [[sum(f[k] for f in basis) for k in range(3)]]
        for i in range(2):
            rows.append([sum(f[k] * (arm[i] - self.depth * self.mu * way[i]) for f, arm, way in zip(basis, arms, ways))
                         for k in range(3)])
        z = solve3(rows, (self.mass * self.gravity, 0, 0))
        forces = [self.mu * sum(u * v for u, v in zip(f, z)) for f in basis]
        fx = -sum(f * way[0] for f, way in zip(forces, ways))
        fy = -sum(f * way[1] for f, way in zip(forces, ways))
        torque = -sum(f * (arm[0] * way[1] - arm[1] * way[0]) for f, arm, way in zip(forces, arms, ways))
        return vx, vy, spin, fx / self.mass, fy / self.mass, torque / self.inertia

    def stop(self, state, h=2e-4, slow=1e-5):
        """Where it comes to rest: (x, y, angle). Runge and Kutta's rule, in steps that shorten as it slows down."""
        reach = max(math.hypot(*p) for p in self.places)

        def moved(from_state, step, rates):
            return [u + step * v for u, v in zip(from_state, rates)]
        while True:
            speed = math.hypot(state[3], state[4]) + reach * abs(state[5])
            if speed < slow:
                return state[:3]
            step = min(h, 0.02 * speed / (self.mu * self.gravity))
            k1 = self.rates(state)
            k2 = self.rates(moved(state, step / 2, k1))
            k3 = self.rates(moved(state, step / 2, k2))
            k4 = self.rates(moved(state, step, k3))
            state = [u + step / 6 * (a + 2 * b + 2 * c + d) for u, a, b, c, d in zip(state, k1, k2, k3, k4)]
