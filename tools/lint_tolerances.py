#!/usr/bin/env python3
"""Every small number of src has a name, a unit and a reason: the table of a layer is src/<layer>/tolerances.h.

Refuses a literal with a negative exponent (1e-9) that stands neither there nor in a named `static const` or `#define`
with a comment on it or above it; and, in a table, a constant without a comment that begins with its unit
("/* rad: ..."), one that no code uses, and a name that two tables have.
"""

import pathlib
import re
import sys

LITERAL = re.compile(r"(?<![\w.])\d[\d.]*[eE]-\d+")
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
NAMED = re.compile(r"\bstatic const [\w ]+(?:\[[^\]]*\])? =[^;]*;|^#define [^\n]*", re.M)
CONSTANT = re.compile(r"((?:/\*(?:(?!\*/).)*\*/\n)?)static const double ([^;]*);", re.S)
UNIT = re.compile(r"/\* [^:.]+: ")


def blank(text):
    """The text without comments and strings, every line and column where it was."""
    return COMMENT_OR_STRING.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def literals(name, text):
    code = blank(text)
    named = [m.span() for m in NAMED.finditer(code)]
    for literal in LITERAL.finditer(code):
        line = text.count("\n", 0, literal.start()) + 1
        span = next((s for s in named if s[0] <= literal.start() < s[1]), None)
        if not span:
            yield f"{name}:{line}: {literal.group()} has no name: give it one, with unit and reason, in tolerances.h"
            continue
        end = text.find("\n", span[1])
        above = text[: text.rfind("\n", 0, span[0]) + 1]
        if not above.endswith("*/\n") and "/*" not in text[span[0] : end]:
            yield f"{name}:{line}: {literal.group()} has a name but no comment"


def main():
    source = pathlib.Path(__file__).resolve().parent.parent / "src"
    files = {str(p.relative_to(source)): p.read_text() for p in sorted(source.rglob("*.*")) if p.suffix in (".c", ".h", ".inc")}
    faults, owner = [], {}
    for name, text in files.items():
        if name.endswith("/tolerances.h"):
            for comment, declared in CONSTANT.findall(text):
                names = re.findall(r"(\w+) =", declared)
                if not UNIT.match(comment):
                    faults.append(f"src/{name}: {names[0]} has no comment that begins with its unit (/* m: ... */)")
                for constant in names:
                    if constant in owner:
                        faults.append(f"src/{name}: {constant} is in src/{owner[constant]} too")
                    owner[constant] = name
        else:
            faults += literals(f"src/{name}", text)
    used = set()
    for name, text in files.items():
        words = re.findall(r"\w+", blank(text))
        used |= {w for w in words if w in owner and (owner[w] != name or words.count(w) > 1)}
    faults += [f"src/{owner[constant]}: {constant} is used nowhere" for constant in owner if constant not in used]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(owner)} tolerances in {len(set(owner.values()))} tables, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
