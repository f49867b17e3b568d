#!/usr/bin/env python3
"""Runs every example and writes a page that shows them: picture, story, command, numbers expected and measured, replay.

usage: tools/gallery.py [--perp build/bin/perp] [--out out/gallery] [--jobs 2]

The page is OUT/index.html; OUT/NAME has the run's log, the replay and the plots of an example. What the numbers should be
stands in examples/NAME/README.md (tools/example_numbers.py). Ends with code 1 where one of them is not met."""
import argparse
import concurrent.futures
import html
import json
import os
import pathlib
import subprocess
import sys

import example_numbers

ROOT = pathlib.Path(__file__).resolve().parents[1]

STYLE = """
:root { --back: #f4f6f8; --panel: #fff; --text: #1d2733; --faint: #5c6875; --line: #d5dbe1; --accent: #0072b2; --bad: #b84a00; }
@media (prefers-color-scheme: dark) { :root { --back: #12161b; --panel: #191f26; --text: #e6ebf0; --faint: #9aa6b2;
  --line: #303a45; --accent: #56b4e9; --bad: #ff8a4a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1500px; background: var(--back); color: var(--text);
  font: 14px/1.45 system-ui, sans-serif; }
h1 { margin: 0 0 4px; font-size: 26px; } h2 { margin: 0; font-size: 17px; } p { margin: 6px 0; }
.faint { color: var(--faint); } a { color: var(--accent); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr)); gap: 18px; margin-top: 18px; }
article { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 14px; min-width: 0;
  display: flex; flex-direction: column; gap: 8px; }
article img { width: 100%; height: auto; background: #fff; border-radius: 5px; display: block; }
code { font: 12px ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: 0; padding: 7px 9px; background: var(--back); border-radius: 5px; white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; font-size: 12px; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--faint); } th, td { text-align: right; padding: 2px 0 2px 10px; vertical-align: top; }
th:first-child, td:first-child { text-align: left; padding-left: 0; overflow-wrap: anywhere; }
tr.differs { color: var(--bad); font-weight: 600; } nav { margin-top: auto; display: flex; flex-wrap: wrap; gap: 14px; }
"""


def perform(perp, *arguments):
    return subprocess.run([perp, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


def make(perp, name, folder):
    """Runs one example and leaves its files in `folder`; what the card shows of it."""
    folder.mkdir(parents=True, exist_ok=True)
    readme = (ROOT / "examples" / name / "README.md").read_text()
    scene, log = f"examples/{name}/scene.yaml", folder / "run.mcap"
    done = perform(perp, "run", scene, "--json", "--log", log)
    card = {"name": name, "story": example_numbers.story(readme), "command": f"perp run {scene}", "numbers": [], "links": [],
            "problem": done.stderr.strip() if done.returncode else ""}
    if done.returncode:
        return card
    result = json.loads(done.stdout)
    for number in example_numbers.numbers(readme):
        card["numbers"].append((number.what, number.expected_text, number.measured(result), number.holds(result)))
    pictures = {"scene.svg": ("--what", "scene", "--size", "430x330"), "plots.svg": ()}
    for picture, options in pictures.items():
        drawn = perform(perp, "plot", log, *options, "-o", folder / picture)
        card["problem"] = card["problem"] or drawn.stderr.strip()
    card["links"].append(("plots", f"{name}/plots.svg"))
    viewed = perform(perp, "view", log, "-o", folder / "replay.html")
    if viewed.returncode == 0:
        card["links"].insert(0, ("replay", f"{name}/replay.html"))
    elif "PERP_VIEWER" not in viewed.stderr:  # a build without the page says so once, below
        card["problem"] = card["problem"] or viewed.stderr.strip()
    card["links"].append(("log", f"{name}/run.mcap"))
    return card


def words_html(text):
    """Text with its `names` as code."""
    parts = text.split("`")
    return "".join(f"<code>{html.escape(part)}</code>" if i % 2 else html.escape(part) for i, part in enumerate(parts))


def like(measured, expected):
    """The measured number to one figure more than the expected one is given to, seven at least."""
    figures = len(expected.lower().split("e")[0].replace(".", "").lstrip("-0")) + 1
    return f"{measured:.{max(7, figures)}g}"


def links_html(card, out):
    links = card["links"] + [("README", os.path.relpath(ROOT / "examples" / card["name"] / "README.md", out))]
    return "".join(f'<a href="{html.escape(to)}">{html.escape(what)}</a>' for what, to in links)


def card_html(card, out):
    e = html.escape
    parts = [f'<article id="{e(card["name"])}"><h2>{e(card["name"])}</h2>']
    links = dict(card["links"])
    if "plots" in links:
        picture = f'<img src="{e(card["name"])}/scene.svg" alt="{e(card["name"])} at its end" width="430" height="330">'
        parts.append(f'<a href="{e(links.get("replay", links["plots"]))}">{picture}</a>')
    parts.append(f'<p>{words_html(card["story"])}</p><pre><code>{e(card["command"])}</code></pre>')
    if card["problem"]:
        parts.append(f'<p class="differs">{e(card["problem"])}</p>')
    if card["numbers"]:
        parts.append("<table><tr><th></th><th>expected</th><th>measured</th></tr>")
        for what, expected, measured, holds in card["numbers"]:
            differs = "" if holds else ' class="differs"'
            parts.append(f"<tr{differs}><td>{words_html(what)}</td><td>{e(expected)}</td><td>{like(measured, expected)}</td></tr>")
        parts.append("</table>")
    parts.append(f"<nav>{links_html(card, out)}</nav></article>")
    return "".join(parts)


def page(cards, others, version, out):
    without = "" if any("replay" in dict(c["links"]) for c in cards) else (
        "<p>This build has no replay page: install nodejs and npm and build again.</p>")
    numbers = sum(len(c["numbers"]) for c in cards)
    return (f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>perp: gallery</title><style>{STYLE}</style>\n<h1>perp: gallery</h1>"
            f'<p class="faint">{len(cards)} scenes, {numbers} numbers, made by <code>make gallery</code> with '
            f"{html.escape(version)}. A picture opens its replay.</p>{without}"
            f'<div class="cards">{"".join(card_html(c, out) for c in cards)}</div>'
            f'<h1 style="margin-top:32px">Without a scene</h1><p class="faint">Problems for <code>perp solve</code>, and C.</p>'
            f'<div class="cards">{"".join(card_html(c, out) for c in others)}</div></html>\n')


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--perp", default=str(ROOT / "build" / "bin" / "perp"))
    arguments.add_argument("--out", default=str(ROOT / "out" / "gallery"))
    arguments.add_argument("--jobs", type=int, default=2)
    chosen = arguments.parse_args()
    perp, out = os.path.abspath(chosen.perp), pathlib.Path(chosen.out).resolve()
    names = sorted(path.parent.name for path in (ROOT / "examples").glob("*/README.md"))
    scenes = [name for name in names if (ROOT / "examples" / name / "scene.yaml").exists()]
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        cards = list(pool.map(lambda name: make(perp, name, out / name), scenes))
    others = []
    for name in sorted(set(names) - set(scenes)):
        readme = (ROOT / "examples" / name / "README.md").read_text()
        others.append({"name": name, "story": example_numbers.story(readme), "command": example_numbers.command(readme),
                       "numbers": [], "links": [], "problem": ""})
    (out / "index.html.partial").write_text(page(cards, others, perform(perp, "--version").stdout.strip(), out))
    os.replace(out / "index.html.partial", out / "index.html")
    wrong = [c["name"] for c in cards if c["problem"] or not all(holds for *_, holds in c["numbers"])]
    for name in wrong:
        print(f"gallery: {name} is not what its README says", file=sys.stderr)
    print(f"open {os.path.relpath(out / 'index.html')} in a browser: {len(cards)} examples with replays and plots")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
