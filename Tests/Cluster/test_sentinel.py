"""The primary is the one that Sentinels name."""

import dataclasses

from .scenarios import sentinel


def test_the_primary_under_sentinels_is_killed_under_load(section, tmp_path, size, seed):
    sentinel.run(section, tmp_path, dataclasses.replace(size, kills=1), seed)
