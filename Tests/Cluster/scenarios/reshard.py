"""Part 1: half of all slots move to a new primary and back, under load."""

from __future__ import annotations

import pathlib
import random

from Containers.report import Section
from SystemTests.faults.load import Maker

from ..loaded_run import Progress, Size, make_system, play
from ..redis_cluster import RedisCluster
from . import show, show_nothing_lost

NUMBER, TITLE = "1", "Half of all slots moved to a new primary and back"
MOST_REFUSED = 0.01


def run(section: Section, folder: pathlib.Path, size: Size, seed: int) -> None:
    dice = random.Random(seed)
    maker, cluster = Maker(dice), RedisCluster(folder / "cluster")
    system = make_system(folder, maker, cluster)
    took: list[float] = []

    def work(progress: Progress) -> None:
        progress.wait_for_load(0.1)
        old = cluster.primaries()
        before = [cluster.slots_of(node) for node in old]
        new = cluster.add_node()
        took.append(cluster.reshard(new, size.slots, old))
        progress.share = 0.5
        progress.wait_for_load(0.5)
        # Returns to each primary the slots that it had.
        back = [count - cluster.slots_of(node) for node, count in zip(old, before, strict=True)]
        took.append(sum(cluster.reshard(node, count, [new]) for node, count in zip(old, back, strict=True)))

    with system:
        result = play(system, maker, dice, size, work)
    show(section, result)
    section.add("seconds of the move; of the move back", "; ".join(f"{one:.0f}" for one in took))
    section.add("refused, of all requests", f"{result.refused_share:.2%}", f"at most {MOST_REFUSED:.0%}", result.refused_share <= MOST_REFUSED)
    section.add("connections broken", result.broken, "0", result.broken == 0)
    show_nothing_lost(section, result)
