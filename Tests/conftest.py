"""Tests that Tests/unsteady.txt names are repeated once if they fail, and each repetition is printed at the end of the run."""

import pathlib
from typing import NamedTuple

import pytest

UNSTEADY = pathlib.Path(__file__).parent / "unsteady.txt"
# The most tests that may be named there.
LIMIT = 10


class Unsteady(NamedTuple):
    """A line of the list."""

    test: str
    reason: str
    mended_by: str


def unsteady(text: str) -> dict[str, Unsteady]:
    """Lines of three parts with `|` between them: the name that pytest prints, without its parameters; why it fails at times; what would mend it.
    Lines that begin with # are comments."""
    found: dict[str, Unsteady] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or not all(parts):
            raise ValueError(f"unsteady.txt, line {number}: not `test | reason | what would mend it`")
        found[parts[0]] = Unsteady(*parts)
    if len(found) > LIMIT:
        raise ValueError(f"unsteady.txt names {len(found)} tests; at most {LIMIT} may be repeated")
    return found


LISTED = unsteady(UNSTEADY.read_text())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.split("[")[0] in LISTED:
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if failed := terminalreporter.stats.get("rerun"):
        terminalreporter.section("repeated, because Tests/unsteady.txt names them")
        for report in failed:
            terminalreporter.line(f"{report.nodeid}: {LISTED[report.nodeid.split('[')[0]].reason}\n{str(report.longrepr)[-600:]}")
