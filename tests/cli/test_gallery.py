"""`make gallery`: the page lists every example, its links lead somewhere, its numbers are those of the runs."""
import html.parser
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from conftest import PERP, ROOT, SANITIZED

sys.path.append(str(ROOT / "tools"))
import gallery as gallery_tool  # noqa: E402



class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.elements, self.articles = [], set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.elements.add(tag)
        self.links += [given[key] for key in ("href", "src") if key in given]
        if tag == "article":
            self.articles.append(given["id"])


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gallery")
    done = subprocess.run([sys.executable, ROOT / "tools" / "gallery.py", "--perp", PERP, "--out", folder, "--jobs", "1"],
                          capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("open ") and "index.html" in done.stdout
    return folder


@pytest.mark.skipif(SANITIZED, reason="runs every example, which other tests do under the sanitizers")
def test_every_example_is_there_and_every_link_resolves(gallery):
    text = (gallery / "index.html").read_text()
    page = Links()
    page.feed(text)
    examples = sorted(path.parent.name for path in (ROOT / "examples").glob("*/README.md"))
    assert sorted(page.articles) == examples and len(examples) >= 26
    assert "script" not in page.elements and not any(link.startswith(("http", "//")) for link in page.links)
    for link in page.links:
        assert (gallery / link).is_file(), link
    scenes = [path.parent.name for path in (ROOT / "examples").glob("*/scene.yaml")]
    for name in scenes:
        for picture in ("scene.svg", "plots.svg"):
            assert len(list(ET.parse(gallery / name / picture).getroot().iter())) > 15
        assert f"{name}/plots.svg" in page.links and f"{name}/run.mcap" in page.links
        assert f"<code>perp run examples/{name}/scene.yaml</code>" in text
    if "no replay page" not in text:
        assert all(f"{name}/replay.html" in page.links for name in scenes)
    assert 'class="differs"' not in text
    assert "<td>10.333331</td><td>10.3333315</td>" in text  # the gripper's: expected, measured


@pytest.mark.skipif(SANITIZED, reason="as above")
def test_a_number_that_is_not_met_is_shown_and_fails(perp):
    """With a command whose answers are a little off."""
    perp.write("perp", f'#!/bin/sh\n"{PERP}" "$@" | sed "s/10\\.3333314/10.4333314/"\n')
    (perp.folder / "perp").chmod(0o755)
    card = gallery_tool.make(str(perp.folder / "perp"), "gripper-2d", perp.folder / "gripper-2d")
    shown = gallery_tool.card_html(card, perp.folder)
    wrong = re.findall(r'<tr class="differs"><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td>', shown)
    assert wrong == [("normal force of the left finger, N", "10.333331", "10.4333315")]


@pytest.mark.skipif(SANITIZED, reason="as above")
def test_the_pictures_of_the_documents_are_current(tmp_path):
    """Those that `make pictures` writes say the same, word for word, and show as much; every one that is shown is there."""
    done = subprocess.run([ROOT / "tools" / "pictures.sh", PERP, tmp_path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    made = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert len(made) >= 7
    for name in made:
        old, new = (ET.parse(folder / name).getroot() for folder in (ROOT / "docs" / "images", tmp_path))
        assert ["".join(e.itertext()) for e in old.iter()] == ["".join(e.itertext()) for e in new.iter()], name
        assert [e.tag for e in old.iter()] == [e.tag for e in new.iter()], name
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r'(?:\]\(|src=")((?:docs/)?images/[^)"]+)', page.read_text()):
            assert (page.parent / link).is_file(), (page.name, link)
