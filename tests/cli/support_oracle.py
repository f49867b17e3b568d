"""What pushes a part on a table where, by other means than perp's: from the principle of least power alone.

A slider rests on points r_i that carry the loads N_i. Friction costs it the power W(nu) = sum mu_i N_i s(u_i) at the twist
nu = (vx, vy, omega), where u_i = (vx - omega y_i, vy + omega x_i) and s is the size of u, or its support function where friction is a
polygon. Pushed by a force along f at p it moves in the direction that costs least at f . v(p) = 1."""
import math

TINY = 1e-13


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def at(twist, point):
    """The velocity of a point."""
    return (twist[0] - twist[2] * point[1], twist[1] + twist[2] * point[0])


def wrench(force, point):
    return (*force, cross(point, force))


def solve(rows, right):
    """Gauss' elimination with pivots; None where the rows depend on each other."""
    m = [list(row) + [b] for row, b in zip(rows, right)]
    n = len(m)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(m[i][k]))
        m[k], m[p] = m[p], m[k]
        if abs(m[k][k]) < TINY:
            return None
        for i in range(n):
            if i != k:
                factor = m[i][k] / m[k][k]
                m[i] = [x - factor * y for x, y in zip(m[i], m[k])]
    return [m[k][n] / m[k][k] for k in range(n)]


class Table:
    """The points (x, y, mu N) that a slider rests on, in the world, about the world's origin; `directions` of a polygon of
    friction, None: a disc."""

    def __init__(self, points, directions=None):
        self.points, self.directions = points, directions

    def power(self, twist):
        return sum(load * self.size(at(twist, (x, y))) for x, y, load in self.points)

    def size(self, u):
        return math.hypot(*u) if self.directions is None else max(dot(d, u) for d in self.directions)

    def friction(self, twist):
        """The wrench of the plane's friction against a twist that moves every point, of discs."""
        sums = [0.0, 0.0, 0.0]
        for x, y, load in self.points:
            u = at(twist, (x, y))
            size = math.hypot(*u)
            for k, w in enumerate(wrench((-load * u[0] / size, -load * u[1] / size), (x, y))):
                sums[k] += w
        return sums

    # ---- least power -------------------------------------------------------------------------------------------------

    def easiest(self, force, point):
        """The twist of least power at force . v(point) = 1."""
        return self.easiest_of_discs(force, point) if self.directions is None else self.easiest_of_polygons(force, point)

    def easiest_of_polygons(self, force, point):
        """W is linear but for the lines where u_i goes from one corner of its polygon to the next, so least where two cross."""
        push = wrench(force, point)
        lines = []
        for x, y, _ in self.points:
            for i, a in enumerate(self.directions):
                for b in self.directions[:i]:
                    lines.append(wrench((a[0] - b[0], a[1] - b[1]), (x, y)))
        corners = (solve([push, one, other], (1, 0, 0)) for i, one in enumerate(lines) for other in lines[:i])
        return min((c for c in corners if c), key=self.power)

    def easiest_of_discs(self, force, point):
        push = wrench(force, point)
        turns = [self.about(i, push) for i in range(len(self.points))]
        for twist in turns:
            if twist:
                return twist
        return self.descend(push)

    def about(self, i, push):
        """The least where slider turns about its point i, at which friction may be anything less than mu N: None, it is elsewhere."""
        x, y, load = self.points[i]
        rate = push[2] + push[0] * y - push[1] * x  # push . (y, -x, 1)
        if abs(rate) < 1e-9 or load == 0:
            return None
        twist = (y / rate, -x / rate, 1 / rate)
        rest = Table([p for k, p in enumerate(self.points) if k != i]).friction(twist)
        # rest + wrench(g) + scale push = 0
        g = solve([[1, 0, push[0]], [0, 1, push[1]], [-y, x, push[2]]], [-r for r in rest])
        return twist if g and math.hypot(g[0], g[1]) <= load else None

    def descend(self, push):
        """Newton's method in the plane push . nu = 1, from the least of fans that narrow."""
        middle = [sum(p[k] * p[2] for p in self.points) / sum(p[2] for p in self.points) for k in (0, 1)]
        reach = max(math.dist(p[:2], middle) for p in self.points)
        # coordinates (v of the middle, omega reach), so that all are alike
        def twist_of(z):
            return (z[0] + z[2] / reach * middle[1], z[1] - z[2] / reach * middle[0], z[2] / reach)

        normal = [dot(push, twist_of([float(k == j) for k in range(3)])) for j in range(3)]
        size = math.sqrt(dot(normal, normal))
        first = [n / size for n in normal]
        helper = [float(k == min(range(3), key=lambda j: abs(first[j]))) for k in range(3)]
        second = [h - dot(helper, first) * f for h, f in zip(helper, first)]
        length = math.sqrt(dot(second, second))
        second = [s / length for s in second]
        third = [first[1] * second[2] - first[2] * second[1], first[2] * second[0] - first[0] * second[2],
                 first[0] * second[1] - first[1] * second[0]]

        def twist(a, b):
            return twist_of([(f + a * s + b * t) / size for f, s, t in zip(first, second, third)])

        def slope(a, b):
            """Gradient and second derivatives along a and b."""
            now, one, other = twist(a, b), twist_of([s / size for s in second]), twist_of([t / size for t in third])
            g, h = [0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]]
            for x, y, load in self.points:
                u, du = at(now, (x, y)), [at(one, (x, y)), at(other, (x, y))]
                r = math.hypot(*u)
                side = [cross(u, d) / r for d in du]
                for k in range(2):
                    g[k] += load * dot(u, du[k]) / r
                    for m in range(2):
                        h[k][m] += load * side[k] * side[m] / r
            return g, h

        place, width = (0.0, 0.0), 1.0
        for _ in range(12):
            fan = [(place[0] + width * i, place[1] + width * k) for i in range(-3, 4) for k in range(-3, 4)]
            place, width = min(fan, key=lambda c: self.power(twist(*c))), 0.5 * width
        for _ in range(200):
            g, h = slope(*place)
            if max(map(abs, g)) < 1e-14 * sum(p[2] for p in self.points) * reach:
                break
            step = solve(h, [-v for v in g]) or [-v for v in g]
            part = 1.0
            while part > 1e-12 and self.power(twist(*[p + part * s for p, s in zip(place, step)])) > self.power(twist(*place)):
                part /= 2
            if part <= 1e-12:
                break
            place = tuple(p + part * s for p, s in zip(place, step))
        return twist(*place)

    # ---- a finger ----------------------------------------------------------------------------------------------------

    def sticking(self, point, u):
        """The twist of least power at v(point) = u, of discs, and the force that it takes at the point."""
        def twist(omega):
            return (u[0] + omega * point[1], u[1] - omega * point[0], omega)

        def slope(omega):
            total = 0.0
            for x, y, load in self.points:
                w, arm = at(twist(omega), (x, y)), (point[1] - y, x - point[0])
                total += load * dot(w, arm) / math.hypot(*w)
            return total

        low = high = 0.0
        span = math.hypot(*u) / max(math.dist(p[:2], point) for p in self.points)
        while slope(low) > 0:
            low -= span
            span *= 2
        while slope(high) < 0:
            high += span
            span *= 2
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        found = twist(0.5 * (low + high))
        return found, [-f for f in self.friction(found)[:2]]


def scaled(twist, factor):
    return tuple(factor * t for t in twist)


def pushed(table, point, normal, mu, u, dilates):
    """The twists of a slider that a finger with friction mu pushes at `point`, its surface's normal into the slider, with the
    velocity u; with the force of each, where that is known. `dilates`: friction that does most work (the convex rungs), under which
    what slides also parts; else Coulomb's. One, but where Coulomb's law has several."""
    across = (-normal[1], normal[0])
    twist, force = table.sticking(point, u)
    answers = []
    if abs(dot(force, across)) <= mu * dot(force, normal):
        answers.append((twist, force))
    for side in (1, -1):
        edge = tuple(n + side * mu * t for n, t in zip(normal, across))
        easiest = table.easiest(edge, point)
        held = edge if dilates else normal  # along this the finger leads the slider
        pace = dot(held, at(easiest, point))
        if pace <= 0:
            continue
        twist = scaled(easiest, dot(held, u) / pace)
        slip = side * (dot(across, u) - dot(across, at(twist, point)))  # of the finger on the slider, along the force on that
        if slip >= 0 and dot(held, u) > 0:
            # power: force . v(point) = W
            answers.append((twist, scaled(edge, table.power(twist) / dot(edge, at(twist, point)))))
    return answers
