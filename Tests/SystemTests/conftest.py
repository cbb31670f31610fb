"""System tests: the real executables, a real Redis and the Apple simulator, started by Deploy/up."""

import collections
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from SystemTests.public_edge.edge import edge, edge_with_short_timeouts  # noqa: F401 fixtures of the tests of ingest's public port
from SystemTests.recovery.system import recovery_system
from SystemTests.support.running_system import VECTORS, System, start_system, stop_system

# Long files with few tests, the longest first. xdist assigns files in order, and would otherwise start these last.
LONG = ("test_upgrade", "test_benchmarks_start", "test_killing", "test_partition", "test_sentinel", "test_reshard", "test_faults",
        "test_feed_kills", "test_push_faults", "test_recovery_outage_of_a_day", "test_token_backlog", "test_backup", "test_secured",
        "test_failures", "test_push")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, then those with many tests, so that the processes end at about the same time."""
    counts = collections.Counter(item.path for item in items)
    ranks = {name: rank for rank, name in enumerate(LONG)}
    items.sort(key=lambda item: (ranks.get(item.path.stem, len(LONG)), -counts[item.path], item.path.name))


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    running = start_system(tmp_path_factory.mktemp("system"))
    yield running
    stop_system(running)


@pytest.fixture(scope="session")
def recovering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system whose recovery takes seconds."""
    with recovery_system(tmp_path_factory.mktemp("recovering")) as running:
        yield running


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], Any]:
    def load(name: str) -> Any:
        return json.loads((VECTORS / name).read_text())

    return load
