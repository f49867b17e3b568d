"""The numbers that an example's README states, in one place for the tests and for the gallery.

A README has at most one table with the header

    | what | in the result | expected | within |

Each row names a number in the JSON of `perp run examples/NAME/scene.yaml --json`: keys and list indices joined by dots. Of
contacts a pair of bodies is named, `contacts.table cube.fn`: the normal forces of its contacts in all, or with `phi` its
smallest gap; any other key is that of a pair's only contact."""
import re

HEADER = "| what | in the result | expected | within |"


class Number:
    def __init__(self, what, path, expected, within):
        self.what, self.path = what, path
        self.expected, self.within = float(expected), float(within)
        self.expected_text = expected

    def measured(self, result):
        return _find(result, self.path)

    def holds(self, result):
        return abs(self.measured(result) - self.expected) <= self.within


def _of_pair(contacts, pair, keys):
    chosen = [c for c in contacts if f"{c['a']} {c['b']}" == pair]
    if not chosen:
        raise KeyError(f"no contact of `{pair}`")
    if keys == ["fn"]:
        return sum(c["fn"] for c in chosen)
    if keys == ["phi"]:
        return min(c["phi"] for c in chosen)
    if len(chosen) > 1:
        raise KeyError(f"`{pair}` has {len(chosen)} contacts: {'.'.join(keys)} of which?")
    return _walk(chosen[0], keys)


def _walk(value, keys):
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def _find(result, path):
    keys = path.split(".")
    if keys[0] == "contacts" and len(keys) > 2 and " " in keys[1]:
        return float(_of_pair(result["contacts"], keys[1], keys[2:]))
    return float(_walk(result, keys))


def numbers(readme):
    """The rows of the table in a README's text; none where it has no such table."""
    if HEADER not in readme:
        return []
    found = []
    for line in readme.split(HEADER)[1].splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 4:
            break
        found.append(Number(cells[0], cells[1].strip("`"), cells[2], cells[3]))
    return found


def story(readme):
    """The first sentence below the title."""
    paragraph = " ".join(readme.split("\n\n")[1].split())
    return re.split(r"(?<=[a-z0-9)`])[.:](?= [A-Z`]|$)", paragraph)[0].rstrip(".") + "."


def command(readme):
    """The first command in a block of the README."""
    block = readme.split("```\n")[1]
    return block.splitlines()[0].removeprefix("$ ")
