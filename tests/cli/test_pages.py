"""What README.md, docs and examples show of a terminal is what a terminal shows: every `$ perp ..` in a block of a page
is run, page by page in a folder of its own, and its output compared, errors last. `...` stands for any number of lines;
times and what is below 1e-11 are not compared. `$ cat FILE` makes the file, or shows one of the examples. Commands of other programs are not
run."""
import difflib
import os
import re
import subprocess

import pytest

from conftest import PERP, ROOT, SANITIZED

PROGRAMS = {"perp", "build/bin/perp", "cat", "head", "tail", "grep", "sed", "sort", "cut", "wc", "ls"}
TIME = r"[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?( us| ms)\b"
ROUNDING = r"\b[0-9](\.[0-9]+)?e-(1[2-9]|[2-9][0-9])\b"  # of residuals


def sessions(page):
    """(command, output) of every prompt in the blocks of a page."""
    for block in re.findall(r"^```\w*\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        for command, output in re.findall(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            yield command.split("   #")[0].replace("\\\n", " "), output


def programs(command):
    """The program of each part of a pipeline."""
    return {part.split()[0] for part in re.split(r"\||&&|;", command) if part.strip()}


def without_chance(output):
    """Lines without trailing blanks, times and rounding."""
    return [re.sub(ROUNDING, "TINY", re.sub(TIME, "TIME", line.rstrip())) for line in output.splitlines()]


def is_shown(page, printed):
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in without_chance(page))
    return re.fullmatch(pattern, "".join(line + "\n" for line in without_chance(printed))) is not None


def difference(command, output, printed):
    return "\n".join(difflib.unified_diff(without_chance(output), without_chance(printed), "the page", command, lineterm=""))


def pages():
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*/README.md"))]
    return [page for page in every if any("perp" in command for command, _ in sessions(page))]


@pytest.fixture
def folder(tmp_path):
    """Looks like a clone that was built."""
    (tmp_path / "build" / "bin").mkdir(parents=True)
    (tmp_path / "build" / "bin" / "perp").symlink_to(PERP)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.skipif(SANITIZED, reason="the release build's command is what pages show; test_examples walks its paths")
@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_page_shows_what_is_printed(folder, page):
    if page.parent.parent.name == "examples":  # such a page may be read in its own folder
        for path in page.parent.iterdir():
            if not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    environment = {**os.environ, "PATH": f"{folder / 'build' / 'bin'}:{os.environ['PATH']}"}
    for command, output in sessions(page):
        made = re.fullmatch(r"cat (\S+)", command)
        if made and not (folder / made[1]).exists():
            (folder / made[1]).write_text(output)
        if not programs(command) <= PROGRAMS:
            continue
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        printed = done.stdout + done.stderr
        if not is_shown(output, printed):
            pytest.fail(difference(command, output, printed), pytrace=False)
