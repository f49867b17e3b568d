"""Convex contact problems as bench/convex_dump writes them, and one residual for everybody's answers.

    min 1/2 x'H x + g'x,  A x + offset in its cones,  C x = target,  lower <= x <= upper

A file is one problem after another, in the machine's byte order: twelve int32 (the magic "PCQP", index, claim, 1 where
the solution is unique plus 2 where one is known, n, slacks, equalities, contacts, entries of H, A and C, outcome or
-1), an int32 a contact (its slacks, negative where they are rays), the entries of H, A and C (int32 row, int32 column,
float64), then float64: g, offset, target, (lower, upper) by turns; the x that the problem was made from where it is
known; and unless the outcome is -1 this library's answer: seconds, x, y, y_equality, y_lower, y_upper.
"""

import dataclasses
import functools

import numpy as np
from scipy import sparse

CLAIMS = ["solvable", "infeasible", "unbounded"]
OUTCOMES = ["solved", "ray", "infeasible", "unbounded", "iteration-limit", "ill-conditioned", "cancelled", "refused"]
MAGIC = 0x50514350
ENTRY = np.dtype([("row", np.int32), ("col", np.int32), ("value", np.float64)])


@dataclasses.dataclass
class Point:
    """With H x + g = A'y + C'y_equality + y_lower - y_upper at a solution."""
    x: np.ndarray
    y: np.ndarray
    y_equality: np.ndarray
    y_lower: np.ndarray
    y_upper: np.ndarray


@dataclasses.dataclass
class Problem:
    index: int
    claim: str
    unique: bool
    cones: list  # (first slack, slacks, quadratic)
    hessian: sparse.csc_matrix
    rows: sparse.csc_matrix
    equalities: sparse.csc_matrix
    g: np.ndarray
    offset: np.ndarray
    target: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    reference: np.ndarray  # a solution by construction; None: not known
    outcome: str  # of this library; None: not solved
    seconds: float
    answer: Point

    @property
    def n(self):
        return len(self.g)

    @functools.cached_property
    def has_cones(self):
        return any(quadratic for _, _, quadratic in self.cones)

    @functools.cached_property
    def linear(self):
        """Of every slack: it is that of a ray."""
        mask = np.ones(len(self.offset), dtype=bool)
        for first, count, quadratic in self.cones:
            mask[first:first + count] = not quadratic
        return mask

    @functools.cached_property
    def bounded(self):
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def objective(self, x):
        return float(0.5 * x @ (self.hessian @ x) + self.g @ x)

    def distance(self, s):
        """How far slacks are outside of their cones: of every ray, and of every quadratic cone."""
        outside = [np.maximum(0.0, -s[self.linear])]
        for first, count, quadratic in self.cones:
            if quadratic:
                head, rest = s[first], np.linalg.norm(s[first + 1:first + count])
                inside = head >= rest
                polar = head <= -rest
                outside.append([0.0 if inside else np.hypot(head, rest) if polar else (rest - head) / np.sqrt(2.0)])
        return np.concatenate(outside) if outside else np.zeros(0)

    def by_constraint(self, rows):
        """The largest of a cone's rows; those of rays as they are: in the order of `distance`."""
        cones = [[np.max(rows[first:first + count])] for first, count, quadratic in self.cones if quadratic]
        return np.concatenate([rows[self.linear], *cones])

    def residual(self, point):
        """The largest of primal, dual and complementarity, row by row as perp/problem.h says; inf where not finite."""
        parts = (point.x, point.y, point.y_equality, point.y_lower, point.y_upper)
        if not all(np.isfinite(part).all() for part in parts):
            return np.inf
        x, size = point.x, np.abs(point.x)
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        s = self.rows @ x + self.offset
        slack_scale = self.by_constraint(1.0 + np.abs(self.offset) + abs(self.rows) @ size)
        primal = [self.distance(s) / slack_scale,
                  np.abs(self.equalities @ x - self.target) / (1.0 + np.abs(self.target) + abs(self.equalities) @ size),
                  (np.maximum(0.0, self.lower - x) / (1.0 + np.abs(self.lower) + size))[low],
                  (np.maximum(0.0, x - self.upper) / (1.0 + np.abs(self.upper) + size))[high]]
        gradient = (self.hessian @ x + self.g - self.rows.T @ point.y - self.equalities.T @ point.y_equality
                    - point.y_lower + point.y_upper)
        dual_scale = (1.0 + np.abs(self.g) + abs(self.hessian) @ size + abs(self.rows).T @ np.abs(point.y)
                      + abs(self.equalities).T @ np.abs(point.y_equality) + np.abs(point.y_lower) + np.abs(point.y_upper))
        force_scale = self.by_constraint(1.0 + np.abs(point.y))
        dual = [np.abs(gradient) / dual_scale, self.distance(point.y) / force_scale,
                np.maximum(0.0, -point.y_lower) / (1.0 + np.abs(point.y_lower)),
                np.maximum(0.0, -point.y_upper) / (1.0 + np.abs(point.y_upper))]
        dots = [[abs(s[first:first + count] @ point.y[first:first + count])]
                for first, count, quadratic in self.cones if quadratic]
        products = [np.concatenate([np.abs(s * point.y)[self.linear], *dots]) / (slack_scale * force_scale),
                    (np.abs((x - self.lower) * point.y_lower)
                     / ((1.0 + np.abs(self.lower) + size) * (1.0 + np.abs(point.y_lower))))[low],
                    (np.abs((x - self.upper) * point.y_upper)
                     / ((1.0 + np.abs(self.upper) + size) * (1.0 + np.abs(point.y_upper))))[high]]
        return max(np.concatenate(part).max(initial=0.0) for part in (primal, dual, products))

    def objective_error(self, point):
        """By how much the objective at a point may differ from the least one, from the point's own residuals:
        |f(x) - f*| <= |y.s| + |violation||y|_1 + |gradient of the Lagrangian| (1 + |x|_1), bounds included."""
        s = self.rows @ point.x + self.offset
        error = abs(s @ point.y)
        finite_lower, finite_upper = np.isfinite(self.lower), np.isfinite(self.upper)
        error += np.abs((point.x - self.lower)[finite_lower] * point.y_lower[finite_lower]).sum()
        error += np.abs((point.x - self.upper)[finite_upper] * point.y_upper[finite_upper]).sum()
        below, above = np.maximum(0.0, self.lower - point.x), np.maximum(0.0, point.x - self.upper)
        outside = max(self.distance(s).max(initial=0.0), below.max(initial=0.0), above.max(initial=0.0))
        error += outside * (np.abs(point.y).sum() + np.abs(point.y_lower).sum() + np.abs(point.y_upper).sum())
        error += np.abs(self.equalities @ point.x - self.target) @ np.abs(point.y_equality)
        gradient = (self.hessian @ point.x + self.g - self.rows.T @ point.y - self.equalities.T @ point.y_equality
                    - point.y_lower + point.y_upper)
        signs = max(self.distance(point.y).max(initial=0.0), -point.y_lower.min(initial=0.0),
                    -point.y_upper.min(initial=0.0))
        return float(error + np.abs(gradient).max(initial=0.0) * (1.0 + np.abs(point.x).sum())
                     + signs * (1.0 + np.abs(s).sum()))


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, dtype, count):
        result = np.frombuffer(self.data, dtype=dtype, count=count, offset=self.at).copy()
        self.at += result.nbytes
        return result

    def matrix(self, shape, count):
        entries = self.take(ENTRY, count)
        return sparse.csc_matrix((entries["value"], (entries["row"], entries["col"])), shape=shape)

    def point(self, n, slacks, equalities):
        return Point(self.take(float, n), self.take(float, slacks), self.take(float, equalities),
                     self.take(float, n), self.take(float, n))


def read(path):
    """The problems of a file, one by one."""
    with open(path, "rb") as file:
        reader = _Reader(file.read())
    while reader.at < len(reader.data):
        (magic, index, claim, unique, n, slacks, equalities, contacts, in_h, in_a, in_c,
         outcome) = (int(value) for value in reader.take(np.int32, 12))
        if magic != MAGIC:
            raise ValueError(f"{path}: no problem at byte {reader.at - 48}")
        cones, first = [], 0
        for signed in reader.take(np.int32, contacts):
            cones.append((first, abs(int(signed)), bool(signed > 0)))
            first += abs(int(signed))
        hessian = reader.matrix((n, n), in_h)
        rows, closed = reader.matrix((slacks, n), in_a), reader.matrix((equalities, n), in_c)
        g, offset, target = reader.take(float, n), reader.take(float, slacks), reader.take(float, equalities)
        bounds = reader.take(float, 2 * n)
        reference = reader.take(float, n) if unique & 2 else None
        seconds, answer = None, None
        if outcome >= 0:
            seconds, answer = float(reader.take(float, 1)[0]), reader.point(n, slacks, equalities)
        yield Problem(index, CLAIMS[claim], bool(unique & 1), cones, hessian, rows, closed, g, offset, target,
                      bounds[::2], bounds[1::2], reference, OUTCOMES[outcome] if outcome >= 0 else None, seconds,
                      answer)
