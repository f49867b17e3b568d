"""`perp plot --map`: areas and lines against closed forms, in the JSON and again in the paths of the picture."""
import csv
import math
import re
import xml.etree.ElementTree as ET

import pytest

import svg_page
from conftest import ROOT, SANITIZED

SVG = "{http://www.w3.org/2000/svg}"


def table(perp, name, xs, ys, output, head="case,x,y,f,error"):
    rows = [head] + [f"{k},{x!r},{y!r},{output(x, y)}," for k, (x, y) in enumerate((x, y) for x in xs for y in ys)]
    perp.write(name, "\n".join(rows) + "\n")


def spread(low, high, count):
    return [low + (high - low) * k / (count - 1) for k in range(count)]


def shoelace(points):
    return 0.5 * sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1]))


def rings(path):
    """The closed or open runs of points of a path of M, L and Z."""
    return [[tuple(map(float, pair.split())) for pair in run.replace("Z", "").split("L")] for run in path.split("M") if run]


class Picture:
    """Paths of a picture in the units of its axes, by the labels of the ticks."""

    def __init__(self, text, x_range, y_range):
        self.root = ET.fromstring(text)
        frame = [r for r in self.root.iter(SVG + "rect") if r.get("fill") == "none" and float(r.get("width")) > 100][0]
        left, top, width, height = (float(frame.get(k)) for k in ("x", "y", "width", "height"))
        self.place = lambda p: (x_range[0] + (p[0] - left) / width * (x_range[1] - x_range[0]),
                                y_range[1] - (p[1] - top) / height * (y_range[1] - y_range[0]))

    def regions(self):
        """{(fill, opacity): area}"""
        areas = {}
        for path in self.root.iter(SVG + "path"):
            if path.get("fill-rule"):
                areas[path.get("fill")] = -sum(shoelace([self.place(p) for p in ring]) for ring in rings(path.get("d")))
                areas[path.get("fill")] = abs(areas[path.get("fill")])
        return areas

    def lines(self):
        """[(dashes, points)]"""
        return [(path.get("stroke-dasharray"), [self.place(p) for p in ring]) for path in self.root.iter(SVG + "path")
                if path.get("stroke-linejoin") for ring in rings(path.get("d"))]

    def words(self):
        return [t.text for t in self.root.iter(SVG + "text")]


# ---- numbers ---------------------------------------------------------------------------------------------------------

def test_bands_of_a_plane_are_exact(perp):
    """f = x + 2 y on [0, 1]^2 is linear, so bands are exact: below f = s the area is s^2 / 4 up to s = 1."""
    table(perp, "t.csv", [0, 0.1, 0.4, 1], spread(0, 1, 5), lambda x, y: x + 2 * y + 1e-9)
    layer = perp.json("plot", "t.csv", "--map", "x,y,f", "--levels", "0.5,1,2,2.5")["layers"][0]
    below = [0.5**2 / 4, 1 / 4, 3 / 4, 1 - 0.5**2 / 4, 1]
    got = [r["area"] for r in layer["regions"]]
    assert got == pytest.approx([b - a for a, b in zip([0] + below, below)], abs=1e-8)
    assert [(r["from"], r["to"]) for r in layer["regions"]][1:4] == [(0.5, 1), (1, 2), (2, 2.5)]
    assert len(layer["lines"]) == 4
    for line, level in zip(layer["lines"], (0.5, 1, 2, 2.5)):
        assert all(x + 2 * y + 1e-9 == pytest.approx(level, abs=1e-12) for x, y in line["points"])
        ends = sorted(line["points"])[0], sorted(line["points"])[-1]
        assert ends[0][0] == 0 or ends[0][1] == 1
    assert [r["share"] for r in layer["regions"]] == pytest.approx(got, abs=1e-12)


def test_circles(perp):
    """Of x^2 + y^2 the line at r^2 is a polygon inside the circle, off by h^2/8 per side: its area by pi h^2 / 6."""
    n = 41
    table(perp, "t.csv", spread(-1, 1, n), spread(-1, 1, n), lambda x, y: x * x + y * y)
    layer = perp.json("plot", "t.csv", "--map", "x,y,f", "--levels", "0.25,0.81")["layers"][0]
    h = 2 / (n - 1)
    for region, area in zip(layer["regions"], (math.pi * 0.25, math.pi * 0.56)):
        assert area - math.pi * h * h / 3 <= region["area"] <= area + math.pi * h * h / 3 and region["area"] != area
    assert sum(r["area"] for r in layer["regions"]) == pytest.approx(4, abs=1e-12)
    for line, level in zip(layer["lines"], (0.25, 0.81)):
        assert line["closed"] and shoelace(line["points"]) > 0  # the lower band at its left
        assert all(level - h * h / 4 <= x * x + y * y <= level + 1e-12 for x, y in line["points"])


def test_saddle(perp):
    """x y on 2 x 2 points, cut about its middle: the two corners above a level do not meet, nor do the two below."""
    table(perp, "t.csv", [-1, 1], [-1, 1], lambda x, y: x * y)
    layer = perp.json("plot", "t.csv", "--map", "x,y,f", "--levels", "-0.2,0.2")["layers"][0]
    assert [line["between"] for line in layer["lines"]] == [["below -0.2", "-0.2 to 0.2"]] * 2 + [["-0.2 to 0.2", "above 0.2"]] * 2
    assert [r["area"] for r in layer["regions"]] == pytest.approx([2 * 0.64, 4 - 4 * 0.64, 2 * 0.64], abs=1e-12)


def test_levels_and_labels(perp):
    table(perp, "t.csv", spread(0, 10, 21), spread(0, 5, 21), lambda x, y: 0.37 * x * y)
    text = perp("plot", "t.csv", "--map", "x,y,f", "--label", "x=length (mm)", "--label", "f=force (N)").stdout
    picture = Picture(text, (0, 10), (0, 5))
    assert {"length (mm)", "y", "force (N)"} <= set(picture.words())
    layer = perp.json("plot", "t.csv", "--map", "x,y,f")["layers"][0]
    levels = [r["to"] for r in layer["regions"]][:-1]
    assert levels == [2, 4, 6, 8, 10, 12, 14, 16, 18]  # 18.5 / 6 rounded down to 1, 2 or 5 times ten to a power
    for level in levels:
        assert picture.words().count(str(level)) >= 1  # at the colour bar
    on_lines = [w for w in picture.words() if w in map(str, levels)]
    assert len(on_lines) >= len(levels) + 4
    fills = [r.get("fill") for r in picture.root.iter(SVG + "rect") if r.get("width") == "16" and r.get("stroke") is None]
    areas = picture.regions()
    assert len(fills) == len(levels) + 1 and len(set(fills)) == len(fills) and set(areas) == set(fills)
    for fill, region in zip(fills, layer["regions"]):
        assert areas[fill] == pytest.approx(region["area"], abs=50 * 1e-4)


# ---- words -----------------------------------------------------------------------------------------------------------

def test_words_without_refining(perp):
    """Half-way between neighbours: x < 0.25 is of the first column alone, up to 0.125 from it to the second."""
    table(perp, "t.csv", spread(0, 1, 5), spread(0, 2, 3), lambda x, y: "yes" if x < 0.2 else "" if x > 0.9 else "no")
    layer = perp.json("plot", "t.csv", "--map", "x,y,f")["layers"][0]
    assert {r["value"]: r["area"] for r in layer["regions"]} == pytest.approx({"yes": 0.25, "no": 1.5, None: 0.25}, abs=1e-12)
    assert {frozenset(line["between"]) for line in layer["lines"]} == {frozenset(("yes", "no")), frozenset(("no", None))}
    picture = Picture(perp("plot", "t.csv", "--map", "x,y,f").stdout, (0, 1), (0, 2))
    assert picture.regions()["url(#missing)"] == pytest.approx(0.25, abs=1e-4)
    assert {"yes", "no", "no value"} <= set(picture.words())


def test_three_words_meet(perp):
    table(perp, "t.csv", [0, 1], [0, 1], lambda x, y: ("a", "b", "c", "a")[2 * x + y])
    layer = perp.json("plot", "t.csv", "--map", "x,y,f")["layers"][0]
    assert {r["value"]: r["area"] for r in layer["regions"]} == pytest.approx({"a": 0.5, "b": 0.25, "c": 0.25}, abs=1e-12)


def test_missing_rows_are_shown(perp):
    table(perp, "t.csv", range(5), range(5), lambda x, y: 0.5 * x + y)
    lines = (perp.folder / "t.csv").read_text().splitlines()
    perp.write("t.csv", "\n".join(line for line in lines if ",2,2," not in line) + "\n")
    regions = perp.json("plot", "t.csv", "--map", "x,y,f")["layers"][0]["regions"]
    assert [r["area"] for r in regions if r.get("value", 1) is None] == [4] and sum(r["area"] for r in regions) == pytest.approx(16)


def test_layers_and_at(perp):
    rows = ["case,k,x,y,f"] + [f"0,{k},{x},{y},{'in' if x < k else 'out'}" for k in (1, 2) for x in range(4) for y in range(2)]
    perp.write("t.csv", "\n".join(rows) + "\n")
    layers = perp.json("plot", "t.csv", "--map", "x,y,f")["layers"]
    assert [layer["at"] for layer in layers] == [{"k": "1"}, {"k": "2"}]
    assert [layer["regions"][0]["area"] for layer in layers] == [0.5, 1.5]
    assert perp.json("plot", "t.csv", "--map", "x,y,f", "--at", "k=2")["layers"][0]["regions"] == layers[1]["regions"]
    picture = Picture(perp("plot", "t.csv", "--map", "x,y,f").stdout, (0, 3), (0, 1))
    assert [dash for dash, _ in picture.lines()] == ["8 4", None]  # the first layer is on top
    assert {"k = 1", "k = 2", "at k = 1", "in", "out"} <= set(picture.words())


GRID = "x,y,f\n0,0,1\n0,1,2\n1,0,a\n1,1,3\n"


@pytest.mark.parametrize("text, options, code, words", [
    (GRID, ["x,y,ff"], 2, "did you mean `f`"),
    (GRID, ["x,z,f"], 2, "`z`"),
    (GRID, ["x,y"], 2, "X,Y,OUTPUT"),
    (GRID, ["x,x,f"], 2, "two different columns"),
    (GRID, ["x,y,f", "--at", "x=7"], 2, "no row"),
    (GRID, ["x,y,f", "--at", "x"], 2, "NAME=VALUE"),
    (GRID, ["x,y,f", "--label", "g=1"], 2, "`g`"),
    (GRID, ["x,y,f", "--levels", "1,a"], 2, "--levels"),
    (GRID, ["x,y,f", "--levels", "2,1"], 2, "rise"),
    (GRID, ["x,y,f", "--what", "gaps"], 2, "--what is for logs"),
    (GRID, ["x,y,f", "--size", "200"], 2, "300"),
    (GRID, ["f,y,x"], 2, "has to be numbers"),
    ("x,y,f\n0,0,1\n0,1,2\n1,0,3,4\n", ["x,y,f"], 3, "t.csv:4:1: this row has 4 cells"),
    ("x,y,f\n0,0,1\n0,0,2\n1,0,3\n", ["x,y,f"], 2, "two values"),
    ("x,y,f\n0,0,1\n0,0,2\n1,1,3\n", ["x,y,f"], 2, "several rows at the same point"),
    ("x,y,f\n0,0,1\n1,1,2\n2,2,3\n3,3,4\n", ["x,y,f"], 2, "is no grid"),
    ("x,y,f\n-1e308,0,1\n1e308,0,2\n-1e308,1,3\n1e308,1,4\n", ["x,y,f"], 2, "up to 1e+100, not `-1e308`"),
    ("x,y,f\n", ["x,y,f"], 3, "no rows"),
    ("x,y\n", ["x,y,f"], 3, "at least 3 columns"),
])
def test_wishes_that_cannot_be(perp, text, options, code, words):
    perp.write("t.csv", text)
    assert words in perp("plot", "t.csv", "--map", *options, "-o", "t.svg", code=code).stderr
    assert not (perp.folder / "t.svg").exists()


def test_usage(perp):
    perp.write("t.csv", GRID)
    assert "is for maps" in perp("plot", "t.csv", "--at", "x=1", "-o", "t.svg", code=2).stderr
    assert "cannot read `none.csv`" in perp("plot", "none.csv", "--map", "x,y,f", "-o", "t.svg", code=1).stderr
    assert "overwrite" in perp("plot", "t.csv", "--map", "x,y,f", "-o", "t.csv", code=2).stderr
    assert perp("plot", "t.csv", "--map", "x,y,f", "-o", "t.svg").stdout == "t.svg\n"
    assert (perp.folder / "t.svg").read_text() == perp("plot", "t.csv", "--map", "x,y,f").stdout


def test_quoted_and_hostile_words(perp):
    perp.write("u.csv", 'x,y,f\r\n0,0,"<script>, ""1"""\r\n0,1,&\r\n1,0,&\r\n1,1,&\r\n')
    layer = perp.json("plot", "u.csv", "--map", "x,y,f")["layers"][0]
    assert {r["value"] for r in layer["regions"]} == {'<script>, "1"', "&"}
    assert '<script>, "1"' in Picture(perp("plot", "u.csv", "--map", "x,y,f").stdout, (0, 1), (0, 1)).words()


# ---- Dupont and Yamajako's rod -----------------------------------------------------------------------------------------

THETA, ALPHA = math.pi / 2.3, math.pi / 4
KAPPAS = (0, 0.1, 0.5, 1, 5)
AREAS = {0: 9.67618252, 0.1: 10.59355556, 0.5: 12.68067452, 1: 13.16078067, 5: 13.16078067}


def matrix(mu1, mu2):
    """Their (41), with m = l = 1 and J = 1/3."""
    c, s, ca, sa, cd, sd = (f(a) for a in (THETA, ALPHA, THETA - ALPHA) for f in (math.cos, math.sin))
    return (1 + 3 * (c * c + mu1 * s * c), -(ca + mu2 * sa) + 3 * c * (cd - mu2 * sd),
            -(ca + mu1 * sa) + 3 * cd * (c + mu1 * s), 1 + 3 * cd * (cd - mu2 * sd))


def stable(kappa, mu1, mu2):
    """Their (35) of both eigenvalues: trace and determinant of D, and c^2/k."""
    a, b, c, d = matrix(mu1, mu2)
    trace, det = a + d, a * d - b * c
    return trace > 0 and det > 0 and 2 * kappa * trace * det + trace * trace - 4 * det > 0


def is_p(mu1, mu2):
    a, b, c, d = matrix(mu1, mu2)
    return a > 0 and d > 0 and a * d - b * c > 0


def crosses(verdict, point):
    """Does the verdict change within 1e-6 of a point?"""
    x, y = point
    return len({verdict(x + dx, y + dy) for dx in (-1e-6, 0, 1e-6) for dy in (-1e-6, 0, 1e-6)}) > 1


def sweep_text(name, **changes):
    text = (ROOT / "examples/rod-two-walls" / name).read_text()
    text = text.replace("scene: scene.yaml", f"scene: {ROOT}/examples/rod-two-walls/scene.yaml")
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return text


def check_rows(path, output, verdict):
    """The verdict of every case of the grid, and of the finer cells."""
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["refined"] != output]
    wrong = [row for row in rows if row[output] != str(verdict(row, float(row["mu1"]), float(row["mu2"]))).lower()]
    assert len(rows) > 80 and wrong == []


def check_lines(layer, verdict, inside):
    """Every point of every line is on the boundary."""
    points = [tuple(p) for line in layer["lines"] for p in line["points"] if abs(p[0]) < inside and abs(p[1]) < inside]
    assert len(points) > 100 and sum(not crosses(verdict, p) for p in points) == 0


@pytest.mark.skipif(SANITIZED, reason="the sanitized commands do the same below")
@pytest.mark.parametrize("kappa", KAPPAS)
def test_stability_of_the_rod(perp, kappa):
    perp.write("s.yaml", sweep_text("stability.yaml", k=("values: [0, 0.1, 0.5, 1, 5]", f"values: [{kappa}]")))
    perp("sweep", "s.yaml", "-o", "s.csv")
    check_rows(perp.folder / "s.csv", "stable", lambda row, x, y: stable(float(row["kappa"]), x, y))
    [layer] = perp.json("plot", "s.csv", "--map", "mu1,mu2,stable")["layers"]
    area = {r["value"]: r["area"] for r in layer["regions"]}
    assert area["true"] == pytest.approx(AREAS[kappa], abs=1e-4) and area["true"] + area["false"] == pytest.approx(16, abs=1e-9)
    check_lines(layer, lambda x, y: stable(kappa, x, y), 1.99999)


@pytest.mark.skipif(SANITIZED, reason="the sanitized commands do the same below")
def test_styles_of_the_rod(perp):
    perp.write("s.yaml", sweep_text("stability.yaml", n=("count: 33", "count: 17"), k=("levels: 3", "levels: 1")))
    perp("sweep", "s.yaml", "-o", "s.csv")
    layers = perp.json("plot", "s.csv", "--map", "mu1,mu2,stable", "-o", "s.svg")["layers"]
    assert [float(layer["at"]["kappa"]) for layer in layers] == list(KAPPAS)
    picture = Picture((perp.folder / "s.svg").read_text(), (-2, 2), (-2, 2))
    styles = {}
    for dash, points in picture.lines():
        styles.setdefault(dash, []).extend(points)
    assert list(styles) == ["9 3 2 3 2 3", "2 3", "9 3 2 3", "8 4", None]
    for kappa, (_, points) in zip(KAPPAS[::-1], styles.items()):
        drawn = [p for p in points if max(map(abs, p)) < 1.999]
        # the frame is written to 0.005 px, of 470 for 4 units
        assert all(len({stable(kappa, x + dx, y + dy) for dx in (-6e-5, 6e-5) for dy in (-6e-5, 6e-5)}) > 1 for x, y in drawn)
    assert picture.regions()["#009e73"] == pytest.approx(AREAS[0], abs=1e-2)
    outlines = {path.get("fill"): len(rings(path.get("d"))) for path in picture.root.iter(SVG + "path") if path.get("fill-rule")}
    assert outlines == {"#009e73": 1, "#d55e00": 2}  # cells of one kind are one region, whatever their sizes


def test_p_matrix_of_the_rod(perp):
    changes = {"n": ("[p_matrix, d11, d22, det], levels: 3", "p_matrix, levels: " + ("1" if SANITIZED else "3"))}
    if SANITIZED:
        changes["count"] = ("count: 33", "count: 9")
    perp.write("p.yaml", sweep_text("p-matrix.yaml", **changes))
    perp("sweep", "p.yaml", "-o", "p.csv")
    check_rows(perp.folder / "p.csv", "p_matrix", lambda row, x, y: is_p(x, y))
    layer = perp.json("plot", "p.csv", "--map", "mu1,mu2,p_matrix")["layers"][0]
    area = {r["value"]: r["area"] for r in layer["regions"]}["true"]
    assert area == pytest.approx(12.94935376, abs=2e-2 if SANITIZED else 1e-4)
    points = [q for line in layer["lines"] for q in line["points"] if max(map(abs, q)) < 1.99999]
    assert len(points) > 10 and all(crosses(is_p, q) for q in points)


@pytest.mark.parametrize("name, reach, verdict", [
    ("stability", 2, lambda x, y: stable(0, x, y)), ("stability-wide", 8, lambda x, y: stable(0, x, y)),
    ("p-matrix", 2, is_p), ("p-matrix-wide", 8, is_p)])
def test_pictures_of_the_docs(name, reach, verdict):
    """The pictures that are there: shares of a fine grid within one of its steps along the lines, and the README's areas."""
    picture = Picture((ROOT / f"docs/images/map-rod-{name}.svg").read_text(), (-reach, reach), (-reach, reach))
    n = 200
    at = spread(-reach + reach / n, reach - reach / n, n)
    expected = sum(verdict(x, y) for x in at for y in at) * (2 * reach / n)**2
    assert picture.regions()["#009e73"] == pytest.approx(expected, abs=0.01 * reach * reach)
    solid = [p for dash, points in picture.lines() if dash is None for p in points if max(map(abs, p)) < 0.999 * reach]
    off = 2e-5 * reach
    assert len(solid) > 30 and all(
        len({verdict(x + dx, y + dy) for dx in (-off, 0, off) for dy in (-off, 0, off)}) > 1 for x, y in solid)


def test_areas_of_the_page():
    page = (ROOT / "examples/rod-two-walls/README.md").read_text()
    for area in ("12.94935", "9.67618", "10.59356", "12.68067", "13.16078"):
        assert any(abs(float(area) - exact) < 6e-6 for exact in [12.94935376, *AREAS.values()]) and f"| {area} |" in page


# ---- Painleve's rod ----------------------------------------------------------------------------------------------------

def solutions(theta, mu):
    """R a_n + b: one solution where R > 0; else two where the free tip lifts off, and none where it does not."""
    t = math.radians(theta)
    lifts = -9.81 + 16 * math.sin(t) > 0
    return 1 if 1 + 3 * math.cos(t) * (math.cos(t) - mu * math.sin(t)) > 0 else 2 if lifts else 0


@pytest.mark.skipif(SANITIZED, reason="the sanitized commands have done the same above")
def test_painleve(perp):
    text = (ROOT / "examples/painleve-rod/map.yaml").read_text()
    perp.write("m.yaml", text.replace("scene: scene.yaml", f"scene: {ROOT}/examples/painleve-rod/scene.yaml"))
    perp("sweep", "m.yaml", "-o", "m.csv")
    layer = perp.json("plot", "m.csv", "--map", "theta,mu,solutions")["layers"][0]
    area = {r["value"]: r["area"] for r in layer["regions"]}
    n = 4000
    least = [(1 + 3 * math.cos(t)**2) / (3 * math.sin(t) * math.cos(t)) for t in (math.radians(5 + 80 * (k + 0.5) / n) for k in range(n))]
    above = [max(0, 4 - m) * 80 / n for m in least]
    turn = (math.degrees(math.asin(9.81 / 16)) - 5) / 80 * n
    none = sum(above[:int(turn)]) + above[int(turn)] * (turn % 1)
    assert area["0"] == pytest.approx(none, abs=0.01) and area["2"] == pytest.approx(sum(above) - none, abs=0.01)
    for line in layer["lines"]:
        for theta, mu in line["points"]:
            if 5.001 < theta < 84.999 and mu < 3.9999:
                around = {solutions(theta + a, mu + b) for a in (-2e-6, 2e-6) for b in (-1e-6, 1e-6)}
                assert len(around) > 1 or abs(theta - 37.8) < 0.3  # where all three meet, a finest cell is crossed anyhow
    at_60 = [p[1] for line in layer["lines"] for p in line["points"] if abs(p[0] - 60) < 1e-9 and p[1] < 3]
    assert at_60 == [pytest.approx(1.347150628, abs=1e-6)]


# ---- a peg, and a part that is pushed ----------------------------------------------------------------------------------

def swept(perp, example, name, columns, *changes):
    """The layers of an example's map, with changes to its file."""
    text = (ROOT / f"examples/{example}/{name}.yaml").read_text()
    for old, new in ((": scene.yaml", f": {ROOT}/examples/{example}/scene.yaml"),
                     (": free-peg.yaml", f": {ROOT}/examples/{example}/free-peg.yaml"), *changes):
        text = text.replace(old, new)
    perp.write("map.yaml", text)
    perp("sweep", "map.yaml", "-o", "map.csv")
    return perp.json("plot", "map.csv", "--map", columns)["layers"]


def jams(tilt, mu):
    """The line through both contacts lies in both friction cones."""
    d = (0.042 * math.cos(tilt) - 0.04) / math.sin(tilt)
    return mu > math.tan(math.atan(d / 0.042) + tilt)


@pytest.mark.skipif(SANITIZED, reason="the sanitized commands have done the same above")
def test_peg_jams(perp):
    [layer] = swept(perp, "peg-in-hole-2d", "jamming", "tilt,mu,jammed", ("count: 28", "count: 10"), ("count: 31", "count: 11"))
    points = [p for line in layer["lines"] for p in line["points"] if 0.0301 < p[0] < 0.2999 and p[1] < 1.4999]
    assert len(points) > 50 and all(crosses(jams, p) for p in points)
    n = 400
    shares = [min(1.5, max(0, 1.5 - math.tan(math.atan((0.042 * math.cos(t) - 0.04) / math.sin(t) / 0.042) + t)))
              for t in (0.03 + 0.27 * (k + 0.5) / n for k in range(n))]
    area = {r["value"]: r["area"] for r in layer["regions"]}["true"]
    assert area == pytest.approx(0.27 * sum(shares) / n, abs=1e-3)
    assert "0.5508760" in (ROOT / "examples/peg-in-hole-2d/README.md").read_text()
    assert jams(0.1, 0.5508760 + 5e-7) and not jams(0.1, 0.5508760 - 5e-7)


def sticking_force(points, offset):
    """(across / normal) of the force at a finger that sticks while it pushes at 30 degrees: the part turns so that friction
    with the table takes the least power, and the force moves the finger against it."""
    def slips(w):
        return [(math.cos(math.pi / 6) - w * (y - offset), math.sin(math.pi / 6) + w * (x + 0.05)) for x, y, _ in points]

    low, high = -1e3, 1e3
    for _ in range(100):
        w = 0.5 * (low + high)
        slope = sum(n * (vy * (x + 0.05) - vx * (y - offset)) / math.hypot(vx, vy)
                    for (x, y, n), (vx, vy) in zip(points, slips(w)))
        low, high = (low, w) if slope > 0 else (w, high)
    along = [sum(n * v[k] / math.hypot(*v) for (_, _, n), v in zip(points, slips(w))) for k in (0, 1)]
    return along[1] / along[0]


@pytest.mark.skipif(SANITIZED, reason="the sanitized commands have done the same above")
def test_pushed_part_turns(perp):
    turn, slides = swept(perp, "push-turn", "map", "offset,mu,turn,slides", ("count: 37", "count: 7"), ("count: 25", "count: 5"))

    def counterclockwise(offset, mu):
        return offset < -0.05 * min(math.tan(math.pi / 6), mu)
    points = [p for line in turn["lines"] for p in line["points"] if 1e-5 < p[1] < 1.19999]
    assert len(points) > 10 and all(crosses(counterclockwise, p) for p in points)
    contacts = perp.json("run", str(ROOT / "examples/push-turn/scene.yaml"), "--set", "run.steps=1", "--set", "run.h=1e-9")["contacts"]
    support = [(*c["point"], c["fn"]) for c in contacts if c["a"] == c["b"]]
    assert sum(n for _, _, n in support) == pytest.approx(9.81, abs=1e-12)
    points = [p for line in slides["lines"] for p in line["points"] if abs(p[0]) < 0.0899 and p[1] < 1.19999]
    assert len(points) > 20
    assert all(crosses(lambda x, y: abs(sticking_force(support, x)) > y, p) for p in points)


@pytest.mark.skipif(SANITIZED or not svg_page.BROWSER, reason="looks at pictures in a browser")
def test_words_do_not_meet(perp):
    table(perp, "t.csv", spread(0, 1, 11), spread(-2000, 2000, 11), lambda x, y: x * y)
    files = {f"{w}": perp("plot", "t.csv", "--map", "x,y,f", "--size", w, "--label", "f=" + "long " * 9).stdout
             for w in (300, 480, 1000, "640x300")}
    for seen in svg_page.look(perp.folder, files).values():
        words = seen["words"]
        for k, (_, left, top, right, bottom) in enumerate(words):
            assert left >= 0 and top >= 0 and right <= seen["width"] + 0.5 and bottom <= seen["height"] + 0.5
            assert not any(left < r - 1 and l < right - 1 and top < b - 1 and t < bottom - 1 for _, l, t, r, b in words[k + 1:])
