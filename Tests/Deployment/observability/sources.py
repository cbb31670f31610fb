"""The metrics that the Swift sources declare, and the metrics that PromQL expressions use."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

_DECLARATION = re.compile(r"(?<!func )\b\w+\.(counter|gauge|histogram)\(\s*")
_NAME = re.compile(r'"(?P<literal>[^"]+)"|(?:Self\.)?(?P<constant>\w+)')
_WORDS = {"and", "or", "unless", "offset", "bool", "by", "without", "on", "ignoring", "group_left", "group_right", "inf", "nan"}


@dataclass(frozen=True)
class Metric:
    kind: str
    labels: frozenset[str]


@cache
def swift_files() -> tuple[Path, ...]:
    return tuple(sorted(path for folder in ("Shared", "Services") for path in (ROOT / folder).rglob("*.swift")))


def _arguments(text: str, start: int) -> str:
    """The text between an opening parenthesis (just before `start`) and its closing one. Parentheses in strings must be in pairs."""
    depth = 1
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return text[start:index]
    raise AssertionError("a declaration of a metric does not end")


def _names(text: str, start: int, path: Path) -> list[str]:
    """The name of a declaration; several if it is in a loop over a list of names."""
    found = _NAME.match(text, start)
    assert found, f"{path}: a metric's name is neither a literal nor a constant: {text[start : start + 60]!r}"
    name = found["literal"]
    if name is None:
        constant = re.search(rf'\bstatic let {found["constant"]} = "([^"]+)"', text)
        assert constant, f"{path}: no value of {found['constant']}"
        return [constant[1]]
    variable = re.search(r"\\\((\w+)\)", name)
    if variable is None:
        return [name]
    loops = re.findall(rf"for \({variable[1]}, \w+\) in \[(.*?)\] \{{", text[:start], re.DOTALL)
    assert loops, f"{path}: nothing says what {variable[0]} in a metric's name is"
    return [name.replace(variable[0], value) for value in re.findall(r'\("(\w+)",', loops[-1])]


@cache
def read_metrics(files: tuple[Path, ...] | None = None) -> dict[str, Metric]:
    """Every metric that the code registers, by name; histograms by the names of their series."""
    metrics: dict[str, Metric] = {}
    for path in swift_files() if files is None else files:
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
        for found in _DECLARATION.finditer(text):
            arguments = _arguments(text, found.end())
            if "help:" not in arguments:
                continue
            labels = re.search(r"labels: \[([^\]]*)\]", arguments)
            own = frozenset(re.findall(r'"(\w+)"', labels[1])) if labels else frozenset()
            for name in _names(text, found.end(), path):
                if found[1] == "histogram":
                    metrics[name + "_bucket"] = Metric("histogram", own | {"le"})
                    metrics[name + "_sum"] = metrics[name + "_count"] = Metric("histogram", own)
                else:
                    metrics[name] = Metric(found[1], own)
    return metrics


@cache
def raw_values(location: str) -> frozenset[str]:
    """The raw values of an enum's cases. `location` is the file and the enum's name: `Shared/A/B.swift#State`."""
    file, name = location.split("#")
    text = re.sub(r"//.*", "", (ROOT / file).read_text())
    found = re.search(rf"\benum {name}: [^{{]*\bString\b[^{{]*\{{", text)
    assert found, f"{file}: no enum {name} with raw values that are strings"
    depth, values = 1, set()
    for line in text[found.end():].splitlines():
        if depth == 1 and (cases := re.match(r"\s*case (\w[^{}()]*)", line)):
            values |= {raw or case for case, raw in re.findall(r'`?(\w+)`?(?: = "([^"]*)")?(?:, |\s*$)', cases[1])}
        depth += line.count("{") - line.count("}")
        if depth <= 0:
            break
    assert values, f"{file}: {name} has no cases"
    return frozenset(values)


def default_ports() -> dict[str, int]:
    """The internal port of each service by its name (`ServiceName.swift`)."""
    text = (ROOT / "Shared/AttributionProtocol/ServiceName.swift").read_text()
    names = {case: raw or case for case, raw in re.findall(r'^  case (\w+)(?: = "([^"]+)")?$', text, re.MULTILINE)}
    return {names[case]: int(port) for case, port in re.findall(r"case \.(\w+): (\d{4,5})", text)}


@dataclass(frozen=True)
class Selector:
    """A metric as used in an expression."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]


def selectors(expression: str) -> list[Selector]:
    """The series that an expression selects."""
    strings: list[str] = []

    def keep(found: re.Match[str]) -> str:
        strings.append(found[0][1:-1])
        return f'"{len(strings) - 1}"'

    text = re.sub(r'"(?:[^"\\]|\\.)*"', keep, expression)
    text = re.sub(r"\[[^\]]*\]", "", text)
    text = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", text)
    text = re.sub(r"\boffset\s+\w+", "", text)
    found = []
    for match in re.finditer(r"(?<![\w.$])([a-zA-Z_:][\w:]*)\s*(\(|\{([^}]*)\})?", text):
        if match[1].lower() in _WORDS or match[2] == "(":
            continue
        matchers = re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"(\d+)"', match[3] or "")
        found.append(Selector(match[1], tuple((label, operator, strings[int(index)]) for label, operator, index in matchers)))
    return found


def grouped_labels(expression: str) -> set[str]:
    """The labels that an expression groups or matches by."""
    lists = re.findall(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)", expression)
    return {label.strip() for text in lists for label in text.split(",") if label.strip()}
