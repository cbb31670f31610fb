"""Part 3: a primary and an instance of ingest are on the losing side of a partition."""

from __future__ import annotations

import asyncio
import collections
import functools
import pathlib
import random
import time

from Containers.load import Pace
from Containers.report import Section
from SystemTests.faults.load import Connection, Delivery, Ledger, Maker, deliver
from SystemTests.faults.system import FaultSystem

from ..loaded_run import QUEUES, Size, compare
from ..network import Network
from ..redis_cluster import RedisCluster
from ..redis_node import RedisNode, Settings
from . import show

NUMBER, TITLE = "3", "A partition with a primary and an ingest on the losing side"
# The number of senders on each side of the partition.
SENDERS = 16
# Seconds that ingest on the losing side has to answer while it is cut off.
ANSWER_TIMEOUT = 0.5


def run(section: Section, folder: pathlib.Path, size: Size, seed: int) -> None:
    for replicated in (True, False):
        with Network(2) as network:
            name = "replicated" if replicated else "disk"
            network.run(functools.partial(part, section, folder / name, size, seed + replicated, network, replicated))


def part(section: Section, folder: pathlib.Path, size: Size, seed: int, network: Network, replicated: bool) -> None:
    dice = random.Random(seed)
    maker, (losing, winning) = Maker(dice), network.hosts
    # The first primary is alone; its replica and all other nodes are on the other side.
    locations = [(losing.address, losing.prefix)] + [(winning.address, winning.prefix)] * 5
    cluster = RedisCluster(folder / "cluster", settings=Settings(min_replicas=1 if replicated else 0), locations=locations)
    queues = QUEUES + (", durability: replicated, replicas: 1" if replicated else "")
    system = FaultSystem(folder, maker.apple_key, f"{{ {queues} }}", store=cluster)
    losing_ingest = system.service("ingest", host=losing.address, prefix=losing.prefix)
    winning_ingest = system.service("ingest", host=winning.address, prefix=winning.prefix)
    for _ in range(2):
        system.service("verifier", host=winning.address, prefix=winning.prefix)
    with system:
        split = Partition(system, cluster, network, maker, dice, [(one.host, one.public_port) for one in (losing_ingest, winning_ingest)])
        split.play(size)
        result = compare(system, split.ledger, split.loaded, split.worked_off, not replicated, frozenset(split.unanswered))
    word = "replicated" if replicated else "disk (the default)"
    section.add(f"durability {word}: seconds of partition; until the winning side had all slots", f"{size.seconds:g}; {split.promoted:.1f}")
    show(section, result)
    section.add("acknowledged by the losing side's ingest meanwhile, or under way when it was cut off", f"{len(split.answered_by_losing_side):,}")
    lost = set(result.lost)
    if replicated:
        section.add("lost; doubled; out of order", f"{len(lost)}; 0; 0", "0; 0; 0", not lost)
    else:
        section.add("acknowledged and lost", f"{len(lost):,}", "on the losing side alone", lost <= split.answered_by_losing_side)
        section.add("doubled; out of order", "0; 0", "0; 0", True)
        section.notes.append(
            "With `durability: disk` a primary on the losing side accepts writes until it has been without a majority for cluster-node-timeout, "
            f"here {cluster.settings.node_timeout / 1000:g} s, and drops them when it returns as a replica: the limit that the Redis Cluster "
            "specification gives (“Write safety”). With `min-replicas-to-write 1` this time is min-replicas-max-lag if that is "
            "shorter; with `durability: replicated` none of them is acknowledged.")
    section.figures["replicated" if replicated else "disk"] = {
        **section.figures.pop("load"), "acknowledged on the losing side": len(split.answered_by_losing_side)}


class Partition:
    """Senders on both sides with two thirds of their postbacks in common, as a device sends a postback again if it got no answer."""

    def __init__(self, system: FaultSystem, cluster: RedisCluster, network: Network, maker: Maker, dice: random.Random,
                 addresses: list[tuple[str, int]]) -> None:
        self.system, self.cluster, self.network, self.maker, self.dice, self.addresses = system, cluster, network, maker, dice, addresses
        self.ledger = Ledger()
        self.also_to_winning_side: collections.deque[Delivery] = collections.deque()
        self.also_to_losing_side: collections.deque[Delivery] = collections.deque(maxlen=1000)
        # Ids of deliveries that the losing side's ingest acknowledged while it was cut off, or that were in progress when the network was
        # cut: a primary may have answered before its replica had the write.
        self.answered_by_losing_side: set[str] = set()
        self.was_cut = False
        # Names of postbacks that were sent to the losing side's ingest and not answered with 200.
        self.unanswered: set[str] = set()
        self.is_cut = self.is_over = False
        # The paces of the winning side and of the losing side.
        self.paces: list[Pace] = []
        self.promoted = self.loaded = self.worked_off = 0.0

    def play(self, size: Size) -> None:
        began = time.monotonic()
        asyncio.run(self._load(size))
        self.loaded = time.monotonic() - began
        self.system.wait_until_worked(180)
        self.worked_off = time.monotonic() - began - self.loaded

    async def _load(self, size: Size) -> None:
        self.paces = [Pace(size.rate), Pace(size.rate)] if size.rate else []
        async with asyncio.TaskGroup() as group:
            for _ in range(SENDERS):
                group.create_task(self._send_to_winning_side())
                group.create_task(self._send_to_losing_side())
            await asyncio.sleep(size.seconds / 4)
            await asyncio.to_thread(self._cut, size.seconds)
            await asyncio.sleep(size.seconds / 4)
            self.is_over = True

    def _cut(self, seconds: float) -> None:
        losing, winning = self.network.hosts
        began, first = time.monotonic(), self.cluster.nodes[0]
        self.is_cut = True
        self.network.cut(losing, winning)
        self.was_cut = True
        while not self.promoted:
            if all(self._serves_without(first, node) for node in self.cluster.nodes[1:]):
                self.promoted = time.monotonic() - began
            elif time.monotonic() - began > 30:
                raise TimeoutError("the winning side promotes no replica")
            time.sleep(0.1)
        time.sleep(max(0.0, began + seconds - time.monotonic()))
        self.network.reconnect(losing, winning)
        self.cluster.wait_until_whole()
        self.is_cut = False

    @staticmethod
    def _serves_without(first: RedisNode, node: RedisNode) -> bool:
        seen = node.client.execute_command("CLUSTER NODES")
        return sum(int(part[-1]) - int(part[0]) + 1 for address, one in seen.items() if not address.startswith(first.address)
                   for part in one["slots"]) == 16_384

    async def _send_to_winning_side(self) -> None:
        """Sends postbacks of its own, and those that were sent to the losing side before."""
        connection = Connection([self.addresses[1]], random.Random(self.dice.random()))
        try:
            while not self.is_over or self.also_to_winning_side:
                if self.paces:
                    await self.paces[0].turn()
                if self.also_to_winning_side:
                    postback = self.also_to_winning_side.popleft()
                else:
                    postback = self.maker.postback()
                    self.also_to_losing_side.append(postback)
                await self._deliver(connection, postback)
        finally:
            connection.close()

    async def _send_to_losing_side(self) -> None:
        """A third of the postbacks are sent only to this side, a third also to the winning side afterwards, and a third were sent there
        before."""
        dice = random.Random(self.dice.random())
        connection = Connection([self.addresses[0]], dice)
        try:
            while not self.is_over:
                if self.paces:
                    await self.paces[1].turn()
                roll = dice.random()
                postback = self.also_to_losing_side.popleft() if roll > 0.66 and self.also_to_losing_side else self.maker.postback()
                if roll < 0.33:
                    self.also_to_winning_side.append(postback)
                if self.is_cut:
                    await self._ask_losing_side(connection, postback)
                else:
                    await self._deliver(connection, postback)
        finally:
            connection.close()

    async def _deliver(self, connection: Connection, postback: Delivery) -> None:
        began_before = not self.was_cut
        id = await deliver(connection, postback, self.ledger)
        if began_before and (self.is_cut or self.was_cut):
            self.answered_by_losing_side.add(id)

    async def _ask_losing_side(self, connection: Connection, postback: Delivery) -> None:
        """Sends a postback once and with a short timeout, because most requests wait for nodes that this ingest cannot reach."""
        self.ledger.posts += 1
        self.unanswered.add(postback.name)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                status, answer = await connection.post(postback)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            connection.close()
            self.ledger.breaks += 1
            return
        if answer is None:
            self.ledger.refusals[status] += 1
            await asyncio.sleep(0.05)
            return
        self.ledger.acknowledge(postback, answer["id"])
        self.answered_by_losing_side.add(answer["id"])
