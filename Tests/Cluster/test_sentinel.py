"""Services use the primary that Sentinels name, also after its failure."""

import dataclasses

from .scenarios import sentinel


def test_no_acknowledged_delivery_is_lost_when_sentinels_promote_a_replica(section, tmp_path, size, seed):
    sentinel.run(section, tmp_path, dataclasses.replace(size, kills=1), seed)
