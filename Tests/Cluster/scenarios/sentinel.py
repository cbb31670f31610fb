"""Part 4: the primary that Sentinels name is killed under load."""

from __future__ import annotations

import pathlib
import random

from Containers.report import Section
from SystemTests.faults.load import Maker

from ..loaded_run import Progress, Size, make_system, play
from ..redis_node import Settings
from ..sentinel import RedisSentinel
from . import show, show_nothing_lost

NUMBER, TITLE = "4", "Sentinel: the primary killed, a replica promoted"


def run(section: Section, folder: pathlib.Path, size: Size, seed: int) -> None:
    dice = random.Random(seed)
    maker = Maker(dice)
    store = RedisSentinel(folder / "sentinel", Settings(min_replicas=1))
    system = make_system(folder, maker, store, "durability: replicated, replicas: 1")
    took: list[float] = []

    def work(progress: Progress) -> None:
        for number in range(size.kills):
            progress.wait_for_load((number + 0.5) / (size.kills + 1))
            victim, seconds = store.kill()
            took.append(seconds)
            if number + 1 < size.kills:
                store.start_again(victim)
            progress.share = (number + 1) / size.kills

    with system:
        result = play(system, maker, dice, size, work)
    section.add("kills; seconds until the Sentinels name another, mean and most", f"{len(took)}; {sum(took) / len(took):.1f}, {max(took):.1f}")
    show(section, result)
    show_nothing_lost(section, result)
