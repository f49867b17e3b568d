"""Runs the `perp` command as a user does. PERP names the binary; the default is the release build's."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERP = os.environ.get("PERP", str(ROOT / "build" / "bin" / "perp"))
SANITIZED = os.environ.get("PERP_SANITIZE", "") not in ("", "OFF")


def pytest_collection_modifyitems(config, items):
    """Under the sanitizers paths are walked: every value of every parameter once, not every combination of them."""
    seen, kept, left_out = set(), [], []
    for item in items:
        values = {(item.function, name, repr(value)) for name, value in getattr(item, "callspec", Nothing).params.items()}
        (left_out if SANITIZED and values and values <= seen else kept).append(item)
        seen |= values
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


class Nothing:
    params = {}


class Perp:
    def __init__(self, folder):
        self.folder = folder

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def __call__(self, *arguments, code=0, **options):
        done = subprocess.run([PERP, *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                              timeout=120, **options)
        assert code in (None, done.returncode), (done.returncode, done.stdout, done.stderr)
        return done

    def json(self, *arguments, code=0):
        return json.loads(self(*arguments, "--json", code=code).stdout)


@pytest.fixture
def perp(tmp_path):
    return Perp(tmp_path)
