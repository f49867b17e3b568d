"""Where a C file can be changed, and how: the mutants that tools/mutants.py plants.

The places are found by patterns, not by a parser. They rely on the project's format (.clang-format): binary operators
stand between spaces, the braces of a function stand alone in the first column, every block has braces. A change that
does not compile is harmless: it is not counted.
"""

import dataclasses
import re

SWAPS = {
    "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=",
    "-=": "+=", "*=": "/=", "/=": "*=", "|": "&", "&": "|"}
# Counts are compared one off. Real numbers are compared the other way round: that two of them are equal happens only
# where a test makes it happen, and most of the time it does not matter what is done then.
ONE_OFF = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OTHER_WAY = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
COUNT = re.compile(r"\b(?:int|size_t|long|unsigned|u?int\d+_t) (?:const )?((?:\w+(?: = [^;,()]+)?, )*\w+)")
COUNTED = re.compile(r"^(?:\d+|n|\w*count|length|size|begin|end|first|last|index|capacity|used|sizeof)$")
BLANKED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
FUNCTION = re.compile(r"^((?:[A-Za-z_][^;{}=]*?)\([^;{}]*\))\n\{\n(.*?)^\}$", re.S | re.M)
BLOCK = re.compile(r"^(if|else|for|while|switch|do)\b|^$")
DECLARATION = re.compile(r"^(?:const |static |struct |unsigned |enum )*[A-Za-z_]\w* (?:const )?\**[A-Za-z_]\w*")
CALL = re.compile(r"^(?:\(void\))?([A-Za-z_][\w.>\[\]-]*)\(.*\)$", re.S)
ASSIGNMENT = re.compile(r"^[^=!<>]*(?:\+\+|--|[^=!<>]=[^=].*)$", re.S)
NOT_SEEN = re.compile(r"^(?:free|assert|json_decref|\w+_free|\w+_destroy)$")  # what the sanitized tests alone can see, or nobody


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str  # within the source tree
    line: int
    start: int
    end: int
    put: str  # in place of text[start:end]
    change: str  # in words
    text: str  # of the line
    outside: bool  # of functions: a constant of the file

    def name(self):
        """What it is called in results: without the line's number, which changes when other lines do."""
        return f"{self.path}|{self.text}|{self.change}"


def blank(text):
    """The text with comments, strings and preprocessor lines turned to spaces; every place stays where it was."""
    return BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def closing(text, start):
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    return len(text) - 1


def counts_in(code):
    """The names that the file declares as integers."""
    return {re.match(r"\w+", name).group() for m in COUNT.finditer(code) for name in m.group(1).split(", ")}


def compares_counts(code, m, counts):
    sides = (re.search(r"(\w+)[\])]*\s*$", code[max(0, m.start() - 80):m.start()]),
             re.match(r"\s*[(&*!-]*([\w.]+(?:->\w+|\.\w+|\[\w+\])*)", code[m.end():m.end() + 160]))
    names = [re.split(r"->|\.(?=[A-Za-z_])|\[\w+\]$", side.group(1).strip())[-1] for side in sides if side]
    return any(name in counts or COUNTED.match(name) for name in names)


def operators(code, start, end, counts):
    for m in re.compile(r"(?<=\s)(<=?|>=?|[=!]=|&&|\|\||[-+*/]=?|[%|&])(?=\s)").finditer(code, start, end):
        swaps = SWAPS if m.group() in SWAPS else ONE_OFF if compares_counts(code, m, counts) else OTHER_WAY
        yield m.start(), m.end(), swaps[m.group()], f"`{m.group()}` becomes `{swaps[m.group()]}`"
    for m in re.compile(r"(?<=\s)\?(?=\s)").finditer(code, start, end):
        yield m.start(), m.end(), "|| 1 ?", "`?` becomes `|| 1 ?`"
        yield m.start(), m.end(), "&& 0 ?", "`?` becomes `&& 0 ?`"
    for m in re.compile(r"!(?=[\w(])").finditer(code, start, end):
        yield m.start(), m.end(), "", "`!` is dropped"
    for m in re.compile(r"(?<=[\s(,\[])-(?=[\w(.])").finditer(code, start, end):
        yield m.start(), m.end(), "", "the sign `-` is dropped"


def conditions(code, start, end):
    """Negates them, unless one operator is all there is: it is changed elsewhere."""
    for m in re.compile(r"\b(?:if|while) \(").finditer(code, start, end):
        last = closing(code, m.end() - 1)
        if re.search(r" [=!<>]=? |^!", code[m.end():last]) and not re.search(r"&&|\|\|", code[m.end():last]):
            continue
        yield m.end() - 1, last + 1, f"(!{code[m.end() - 1:last + 1]})", f"the condition of `{m.group()[:-2]}` is negated"


def in_declared_length(code, start, at):
    """True if the number at `at` is the length of an array that is declared there."""
    statement = max(code.rfind(c, start, at) for c in ";{}") + 1
    before = code[statement:at].strip()
    return DECLARATION.match(before) is not None and "=" not in before and before.count("[") > before.count("]")


def numbers(code, start, end):
    for m in re.compile(r"(?<![\w.])(?<!\de-)\d+(?:\.\d*)?(?![\w.])").finditer(code, start, end):
        number, around = m.group(), code[m.start() - 2:m.start()] + code[m.end():m.end() + 2]
        if number in ("0", "1", "0.0", "1.0"):
            put = number.translate(str.maketrans("01", "10")) if len(number) == 1 else {"0.0": "1.0", "1.0": "0.0"}[number]
        elif re.fullmatch(r"[2-9]", number) and re.search(r"[\[\]]|[-+*] | [-+*]", around):
            put = str(int(number) + 1)
        else:
            continue
        if around[1:3] != "{}" and not in_declared_length(code, start, m.start()):
            yield m.start(), m.end(), put, f"`{number}` becomes `{put}`"


def tolerances_in(tables):
    """The names of the constants in the texts of the tables of tolerances (src/<layer>/tolerances.h)."""
    constants = [m for text in tables for m in re.findall(r"^static const double ([^;]*);", blank(text), re.M)]
    return {name for constant in constants for name in re.findall(r"(\w+)(?=\s*=)", constant)}


def uses(code, start, end, names):
    """A tolerance of a table is another one where it is used: one use at a time."""
    for m in re.compile(r"(?<![\w.>])[A-Z]\w+").finditer(code, start, end):
        if m.group() in names:
            yield m.start(), m.end(), f"(100 * {m.group()})", f"`{m.group()}` times 100"


def tolerances(code):
    for m in re.finditer(r"(?<![\w.])\d+(?:\.\d*)?e-\d+(?!\w)", code):
        yield m.start(), m.end(), f"(100 * {m.group()})", f"`{m.group()}` times 100"


def statements(code, start, end):
    """Start and end (at the semicolon) of the statements that are not blocks."""
    at = begin = start
    while at < end:
        here = code[at]
        if here in "([" or (here == "{" and not BLOCK.match(code[begin:at].strip())):
            at = closing(code, at)
        elif here in "{}":
            begin = at + 1
        elif here == ":" and re.match(r"\s*(?:case\b|default\b|\w+$)", code[begin:at]):
            begin = at + 1
        elif here == ";":
            text = code[begin:at]
            yield begin + len(text) - len(text.lstrip()), at
            begin = at + 1
        at += 1


def deletions(code, start, end, returns):
    for begin, stop in statements(code, start, end):
        text = code[begin:stop]
        first = re.match(r"\w*", text).group()
        if first == "return":
            if returns == "bool" and text != "return":
                yield begin + 7, stop, f"!({code[begin + 7:stop]})", "the returned value is negated"
            continue
        call = CALL.match(text)
        if call and NOT_SEEN.match(call.group(1)):
            continue
        if first in ("break", "continue") or call or (ASSIGNMENT.match(text) and not DECLARATION.match(text)):
            yield begin, stop, re.sub(r"[^\n]", " ", text), f"`{' '.join(text.split())[:50]}` is deleted"


def early_return(head, at):
    m = re.match(r"(?:static |inline |extern )*(.*?)(\**)\w+\(", " ".join(head.split()))
    kind, pointer = m.group(1).removeprefix("const ").strip(), m.group(2)
    zero = "NULL" if pointer else "" if kind == "void" else "0" if kind in ("bool", "int", "double", "size_t") else f"({kind}){{0}}"
    yield at, at, f"return {zero};", f"returns at once{' ' + zero if zero else ''}"
    if kind == "bool" and not pointer:
        yield at, at, "return 1;", "returns at once 1"


def mutants_of(path, text, names=frozenset()):
    """Every mutant of a file, in order of place. Names are those of tolerances in tables."""
    code, found = blank(text), list(tolerances(blank(text)))
    counts, heads, bodies = counts_in(code), {}, []
    for m in FUNCTION.finditer(code):
        start, end = m.span(2)
        heads[start] = m.start()
        bodies.append((start, end))
        returns = re.match(r"(?:static |inline )*(\w+ \**)", m.group(1))
        inside = [*operators(code, start, end, counts), *conditions(code, start, end), *numbers(code, start, end), *uses(code, start, end, names),
                  *deletions(code, start, end, returns.group(1).strip() if returns else "")]
        asserts = [(a.start(), closing(code, a.end() - 1)) for a in re.compile(r"\bassert\(").finditer(code, start, end)]
        found += [f for f in inside if not any(a <= f[0] < b for a, b in asserts)]
        found += early_return(m.group(1), start)
    lines, seen, result = text.split("\n"), {}, []
    for start, end, put, change in sorted(found, key=lambda f: (f[0], f[1], f[2])):
        line = text.count("\n", 0, start) + 1
        if change.startswith("returns at once"):  # said of the line with the function's name
            line = text.count("\n", 0, heads[start]) + 1
        key = (lines[line - 1].strip(), change)
        seen[key] = seen.get(key, 0) + 1
        times = f" (number {seen[key]})" if seen[key] > 1 else ""
        outside = not any(a <= start <= b for a, b in bodies)
        result.append(Mutant(path, line, start, end, put, change + times, key[0], outside))
    return result


def planted(text, mutant):
    return text[:mutant.start] + mutant.put + text[mutant.end:]
