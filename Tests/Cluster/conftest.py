"""The short forms of the cluster test: the same parts as Deploy/cluster-test, with a few thousand deliveries."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from Containers.report import Section

from .loaded_run import SHORT, Size


@pytest.fixture
def seed() -> int:
    found = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
    print(f"seed {found}")
    return found


@pytest.fixture
def size() -> Size:
    return SHORT


@pytest.fixture
def section(request: pytest.FixtureRequest) -> Iterator[Section]:
    """A section of the report; the test fails if a measured value misses its target."""
    found = Section("", request.node.name)
    yield found
    missed = [f"{row.what}: {row.value}, {row.target}" for row in found.rows if row.met is False]
    assert not missed, missed
