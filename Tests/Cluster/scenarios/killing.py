"""Part 2: primaries are killed under load and their replicas are promoted. Nothing that replicas confirmed is lost; other losses are
counted."""

from __future__ import annotations

import pathlib
import random

from Containers.report import Section
from SystemTests.faults.load import Maker

from ..loaded_run import Progress, Size, make_system, play
from ..redis_cluster import RedisCluster
from ..redis_node import Settings
from . import show, show_nothing_lost

NUMBER, TITLE = "2", "Primaries killed, their replicas promoted"
BOUND = (
    "With `durability: disk` a primary answers when its own disk has a write, and sends the write to its replicas at the same time. By the "
    "Redis Cluster specification (“Write safety”), a write is lost if it was answered and had not reached the replica when the primary "
    "died: the old primary drops it when it returns as a replica. Only writes within the delay of the replication link are lost, not those "
    "until the promotion, because until then no node accepts writes for these slots.")


def run(section: Section, folder: pathlib.Path, size: Size, seed: int) -> None:
    kill(section, folder / "replicated", size, seed, replicated=True)
    kill(section, folder / "disk", size, seed + 1, replicated=False)


def kill(section: Section, folder: pathlib.Path, size: Size, seed: int, replicated: bool) -> None:
    dice = random.Random(seed)
    maker = Maker(dice)
    cluster = RedisCluster(folder / "cluster", settings=Settings(min_replicas=1 if replicated else 0))
    system = make_system(folder, maker, cluster, "durability: replicated, replicas: 1" if replicated else "")
    took: list[float] = []

    def work(progress: Progress) -> None:
        for number in range(size.kills):
            progress.wait_for_load((number + 0.5) / (size.kills + 1))
            victim = dice.choice(cluster.primaries())
            took.append(cluster.kill(victim))
            cluster.start_again(victim)
            progress.share = (number + 1) / size.kills

    with system:
        # A loss may remove a user's answer and leave the session that it decided, so only independent deliveries are counted then.
        result = play(system, maker, dice, size, work, others=replicated, losing=not replicated)
    word = "replicated" if replicated else "disk (the default)"
    section.add(f"durability {word}: kills; seconds until a replica has the slots, mean and most",
                f"{len(took)}; {sum(took) / len(took):.1f}, {max(took):.1f}")
    show(section, result)
    if replicated:
        show_nothing_lost(section, result)
    else:
        section.add("acknowledged and lost", f"{len(result.lost)} of {result.acknowledged:,}")
        section.add("doubled; out of order", "0; 0", "0; 0", True)
        section.notes.append(BOUND)
    section.figures["replicated" if replicated else "disk"] = section.figures.pop("load")
