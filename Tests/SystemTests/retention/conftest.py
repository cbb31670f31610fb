"""The system of the tests of outages. Each test starts again what it stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from .outage_steps import TimedSystem
from .steps import RULES


@pytest.fixture(scope="module")
def timed_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TimedSystem]:
    running = TimedSystem(tmp_path_factory.mktemp("retention"), RULES, ingests=2)
    with running:
        yield running


@pytest.fixture
def timed(timed_system: TimedSystem) -> Iterator[TimedSystem]:
    """The system of one test. Afterwards, ingest's metric must not have more late answers than the client: it measures a part of the
    time."""
    seen, measured = timed_system.slow, timed_system.slow_by_metric()
    yield timed_system
    assert timed_system.slow_by_metric() - measured <= timed_system.slow - seen


@pytest.fixture
def settings(timed: TimedSystem) -> Iterator[Callable[..., None]]:
    """Changes settings of `retention` for one test."""
    usual = dict(timed.settings)

    def change(decisions: dict | None = None, **changed: str) -> None:
        timed.settings = {**usual, **changed}
        timed.reload(RULES, decisions)

    yield change
    timed.settings = usual
    timed.reload(RULES)
