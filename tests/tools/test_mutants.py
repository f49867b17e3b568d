"""tools/mutants.py on a project of one file: what it plants, what dies, what survives, what is explained."""

import os
import subprocess
import sys

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools")
sys.path.insert(0, TOOLS)
import mutant_sites  # noqa: E402  pylint: disable=wrong-import-position

CLAMP = """#include <stdio.h>

int clamp(int value, int most)
{
    double scale[2] = {1e-9, 2.0}; /* not read: 0 == 0 */
    if (value > most && value >= 0) {
        value = most;
    }
    return value; // "1 + 1"
}

static int log_of(int value)
{
    puts("1 + 1");
    return !value;
}
"""


def changes(text):
    return [(m.line, m.change) for m in mutant_sites.mutants_of("src/clamp.c", text)]


def test_what_is_planted():
    found = changes(CLAMP)
    assert (6, "the condition of `if` is negated") in found
    assert (6, "`>` becomes `>=`") in found and (6, "`>=` becomes `>`") in found and (6, "`&&` becomes `||`") in found
    assert (6, "`0` becomes `1`") in found
    assert (7, "`value = most` is deleted") in found
    assert (14, '`puts( )` is deleted') in found
    assert (15, "`!` is dropped") in found
    assert (5, "`1e-9` times 100") in found
    assert (3, "returns at once 0") in found and (12, "returns at once 0") in found


def test_tolerances_of_a_table_are_planted_where_they_are_used():
    names = mutant_sites.tolerances_in(["/* m: TINY = 3. */\nstatic const double NEAR = 1e-9, FAR = 1e-3;\n"])
    assert names == {"NEAR", "FAR"}
    text = "int near(double x)\n{\n    return x < NEAR || x < NEARER;\n}\n"
    found = [m for m in mutant_sites.mutants_of("src/near.c", text, names) if "100" in m.put]
    assert [(m.line, m.change) for m in found] == [(3, "`NEAR` times 100")]
    assert "x < (100 * NEAR) || x < NEARER" in mutant_sites.planted(text, found[0])


def test_constants_of_a_file_are_outside_its_functions():
    text = "static const double NEAR = 1e-9;\n\nint near(double x)\n{\n    return x < 1e-6;\n}\n"
    assert {m.change: m.outside for m in mutant_sites.mutants_of("src/near.c", text) if "100" in m.put} == {
        "`1e-9` times 100": True, "`1e-6` times 100": False}


def test_what_is_left_alone():
    found = changes(CLAMP)
    assert not [c for line, c in found if line in (1, 9)], "preprocessor, comments and strings"
    assert (5, "`2` becomes `3`") not in found, "the length of an array"
    assert (5, "`==` becomes `!=`") not in found, "a comment"


def test_real_numbers_are_compared_the_other_way_round():
    text = "double least(double x, double y)\n{\n    return x < y ? x : y;\n}\n"
    assert (3, "`<` becomes `>`") in changes(text) and (3, "`<` becomes `<=`") not in changes(text)


def test_a_planted_mutant_keeps_every_line_where_it_was():
    for mutant in mutant_sites.mutants_of("src/clamp.c", CLAMP):
        planted = mutant_sites.planted(CLAMP, mutant)
        assert planted.count("\n") == CLAMP.count("\n") and planted != CLAMP


PROJECT = """cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
enable_testing()
add_library(perp_static SHARED src/sign.c)
set_target_properties(perp_static PROPERTIES OUTPUT_NAME perp_tests SOVERSION 0)
add_executable(test_sign test_sign.c)
target_link_libraries(test_sign PRIVATE perp_static)
add_test(NAME sign COMMAND test_sign)
set_tests_properties(sign PROPERTIES LABELS unit)
"""
SIGN = """int sign(double x);
int unused(void);

int sign(double x)
{
    if (x < 0.0) {
        return -1;
    }
    int i = 3;
    while (i > 0) {
        i--;
    }
    return x > 0.0;
}

int unused(void)
{
    return 0;
}
"""
TEST = """int sign(double x);
int main(void)
{
    return sign(-2.0) == -1 && sign(0.5) == 1 ? 0 : 1;
}
"""
EXPLAINED = """# what no test notices, and why
src/sign.c
return 0;
`0` becomes `1`
nobody calls it

src/sign.c
int unused(void)
returns at once 0
nobody calls it, and this line of the reason
goes on
"""


def run(project, *arguments):
    return subprocess.run([sys.executable, f"{TOOLS}/mutants.py", "--source", str(project), *arguments],
                          capture_output=True, text=True, check=False, timeout=300)


def project_at(folder):
    for name, text in {"CMakeLists.txt": PROJECT, "src/sign.c": SIGN, "test_sign.c": TEST}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_dead_and_alive(tmp_path):
    project = project_at(tmp_path)
    done = run(project, "--files", "src")
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "src/sign.c:18: `0` becomes `1` (no test runs this line)" in lines
    assert "src/sign.c:7: the sign `-` is dropped" not in lines, "the test sees sign(-2) = -1"
    assert "src/sign.c:11: `i--` is deleted" not in lines, "a loop without end is a death"
    assert "src/sign.c:13: `0.0` becomes `1.0`" not in lines, "sign(0.5) = 1"
    survived = [line for line in lines if line.startswith("src/sign.c:")]

    (project / "tests").mkdir()
    (project / "tests/mutants-explained.txt").write_text(EXPLAINED)
    explained = run(project, "--files", "src")
    assert explained.returncode == 0, explained.stdout + explained.stderr
    assert [w for w in explained.stdout.splitlines()[-1].split() if w.isdigit()][2] == str(len(survived)), "explained"

    # A sharper test: what survived is shown to it, and dies.
    (project / "tests/mutants-explained.txt").unlink()
    (project / "test_sign.c").write_text(TEST.replace("sign(0.5) == 1", "sign(0.5) == 1 && unused() == 0")
                                         .replace("int main", "int unused(void);\nint main"))
    sharper = run(project, "--files", "src/sign.c")
    assert sharper.returncode == 0 and "no test runs" not in sharper.stdout, sharper.stdout + sharper.stderr


def test_sample_is_repeatable(tmp_path):
    project = project_at(tmp_path)
    one, two, other = (run(project, "--files", "src", "--list", "--sample", "3", "--seed", s).stdout for s in "112")
    assert one == two != other and one.count("src/sign.c:") == 3


def test_nothing_changed_says_so(tmp_path):
    done = run(project_at(tmp_path))
    assert done.returncode == 0 and "--files" in done.stdout
