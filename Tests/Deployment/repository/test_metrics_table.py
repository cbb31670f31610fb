"""The table of metrics in Documentation/observability.md lists what the code declares, and other pages name only these metrics."""

import re
from pathlib import Path

import pytest

from Deployment.observability.sources import Metric, read_metrics

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTATION = ROOT / "Documentation"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCUMENTATION.rglob("*.md")])
ROW = re.compile(r"^\| `((?:attribution|process)_\w+)` \| (\w+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def table() -> list[tuple[str, Metric]]:
    """The rows, in their order."""
    text = (DOCUMENTATION / "observability.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
    rows = ROW.findall(text)
    assert len(rows) == len(re.findall(r"^\| `", text, re.MULTILINE)), "a row has another form"
    assert all(meaning.strip() for *_, meaning in rows)
    return [(name, Metric(kind, frozenset(re.findall(r"`(\w+)`", labels)))) for name, kind, labels, _ in rows]


def families() -> dict[str, Metric]:
    """The declared metrics; histograms by their own name."""
    return {
        name.removesuffix("_count") if metric.kind == "histogram" else name: metric for name, metric in read_metrics().items()
        if metric.kind != "histogram" or name.endswith("_count")
    }


def test_the_table_is_sorted_and_has_each_metric_once() -> None:
    names = [name for name, _ in table()]
    assert len(names) > 90 and names == sorted(set(names))


def test_the_table_lists_exactly_the_declared_metrics() -> None:
    listed, declared = dict(table()), families()
    assert set(listed) - set(declared) == set(), "metrics that no source in Shared or Services declares"
    assert set(declared) - set(listed) == set(), "metrics that Documentation/observability.md does not list"
    assert {name: metric for name, metric in listed.items() if metric != declared[name]} == {}, "another kind, or other labels"


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_metrics_that_a_page_names_exist(page: Path) -> None:
    """A name that ends with an underscore or an asterisk stands for all metrics that begin with it."""
    known = set(families()) | set(read_metrics())
    for name, asterisk in re.findall(r"`(attribution_[a-z_]+)(\*?)(?:\{[^`]*\})?`", page.read_text()):
        exists = any(one.startswith(name) for one in known) if asterisk or name.endswith("_") else name in known
        assert exists, f"no metric {name}"
