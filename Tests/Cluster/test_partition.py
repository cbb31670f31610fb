"""A primary and an instance of ingest are cut off from all others."""

import pytest

from .network import Network, reason_against
from .scenarios import partition


@pytest.mark.parametrize("replicated", [True, False], ids=["replicated", "disk"])
def test_a_delivery_that_both_sides_of_a_partition_accept_counts_once(section, tmp_path, size, seed, replicated):
    if reason := reason_against():
        pytest.skip(reason)
    with Network(2) as network:
        network.run(lambda: partition.part(section, tmp_path, size, seed, network, replicated))
