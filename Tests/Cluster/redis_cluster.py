"""A Redis Cluster of local processes: creation, resharding, and killing and restarting primaries."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
import time
from collections.abc import Callable

import redis

from .cluster_client import ClusterClient
from .redis_node import RedisNode, Settings, free_ports

SLOTS = 16_384


def wait_for(what: str, is_so: Callable[[], bool], seconds: float = 60, every: float = 0.05) -> float:
    """Waits for a condition; returns the duration."""
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not in {seconds:g} s: {what}")
        time.sleep(every)
    return time.monotonic() - began


class RedisCluster:
    """`locations` has the host and the command prefix of each node, primaries first; nodes in network namespaces need it."""

    def __init__(self, folder: pathlib.Path, primaries: int = 3, replicas: int = 3, settings: Settings = Settings(),
                 locations: list[tuple[str, list[str]]] | None = None) -> None:
        self.folder, self.settings = folder, settings
        self.primary_count, self.nodes = primaries, []
        folder.mkdir(parents=True, exist_ok=True)
        locations = locations or [("127.0.0.1", [])] * (primaries + replicas)
        ports = free_ports(2 * len(locations))
        for (host, prefix), port, bus in zip(locations, ports[::2], ports[1::2], strict=False):
            self._make_node(host, prefix, port, bus)
        self.client = ClusterClient(self)

    def _make_node(self, host: str, prefix: list[str], port: int, bus: int) -> RedisNode:
        more = ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", str(bus),
                "--cluster-node-timeout", str(self.settings.node_timeout), "--cluster-require-full-coverage", "no",
                # Replicas stay with their assigned primary.
                "--cluster-allow-replica-migration", "no"]
        if self.settings.tls:
            more += ["--tls-cluster", "yes"]
        node = RedisNode(self.folder, f"node-{len(self.nodes) + 1}", self.settings, host, port, more, prefix)
        node.bus = bus
        self.nodes.append(node)
        return node

    # --- settings for services -----------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return self.url_of(self.nodes)

    def url_of(self, nodes: list[RedisNode]) -> str:
        return self.settings.url("-cluster", [node.address for node in nodes])

    @property
    def variables(self) -> dict[str, str]:
        return self.settings.variables()

    # --- start and stop ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.wait_until_it_answers()
        self.create(self.nodes[:self.primary_count], self.nodes[self.primary_count:])
        self.wait_until_whole()

    def create(self, primaries: list[RedisNode], replicas: list[RedisNode]) -> None:
        """Assigns the same number of shards to each primary. It does not use `redis-cli --cluster create`, which needs at least three
        primaries and distributes slots regardless of the shards in them."""
        for number, (node, (first, last)) in enumerate(zip(primaries, even_ranges(len(primaries)), strict=True)):
            node.client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            node.client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        self._meet(self.nodes[1:])
        for number, replica in enumerate(replicas):
            self._follow(replica, primaries[number % len(primaries)])

    def _meet(self, nodes: list[RedisNode]) -> None:
        for node in nodes:
            self.nodes[0].client.execute_command("CLUSTER", "MEET", node.host, node.port, node.bus)
        wait_for("all nodes know each other", lambda: all(
            len(self._seen_by(node)) == len(self.nodes) and "handshake" not in str(self._seen_by(node)) for node in self.nodes))

    def _follow(self, replica: RedisNode, primary: RedisNode) -> None:
        name = self.id_of(primary)

        def is_done() -> bool:
            try:
                return replica.client.execute_command("CLUSTER REPLICATE", name) in (True, b"OK")
            except redis.ResponseError:
                return False
        wait_for(f"{replica.name} follows {primary.name}", is_done)

    def stop(self) -> None:
        for node in self.nodes:
            node.end()

    def __enter__(self) -> RedisCluster:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- roles -------------------------------------------------------------------------------------------------------

    def _seen_by(self, node: RedisNode) -> dict[str, dict]:
        return node.client.execute_command("CLUSTER NODES")

    def id_of(self, node: RedisNode) -> str:
        found = node.client.execute_command("CLUSTER MYID")
        return found.decode() if isinstance(found, bytes) else found

    def running(self) -> list[RedisNode]:
        return [node for node in self.nodes if node.is_running()]

    def primaries(self) -> list[RedisNode]:
        """The primaries with slots, according to the nodes themselves."""
        return [node for node in self.running() if node.role() == "master" and self.slots_of(node)]

    def replicas_of(self, primary: RedisNode) -> list[RedisNode]:
        found = []
        for node in self.running():
            role = node.client.execute_command("ROLE")
            if role[0] == b"slave" and (role[1].decode(), int(role[2])) == (primary.host, primary.port):
                found.append(node)
        return found

    def slots_of(self, node: RedisNode) -> int:
        """The number of slots that the node reports as its own."""
        mine = [one for one in self._seen_by(node).values() if "myself" in one["flags"]]
        return sum(int(part[-1]) - int(part[0]) + 1 for one in mine for part in one["slots"])

    def is_whole(self, without: tuple[RedisNode, ...] = ()) -> bool:
        """Whether all nodes agree on the owners of slots and serve them, know no failed node, and every replica follows its primary."""
        owners = []
        try:
            for node in self.nodes:
                if node in without:
                    continue
                info = node.client.execute_command("CLUSTER INFO")
                if info["cluster_state"] != "ok" or info["cluster_slots_ok"] != str(SLOTS):
                    return False
                seen = self._seen_by(node)
                if not without and any("fail" in one["flags"] for one in seen.values()):
                    return False
                owners.append(sorted((one["node_id"], one["slots"]) for one in seen.values() if one["slots"]))
                if node.role() == "slave" and not node.is_in_sync():
                    return False
        except redis.RedisError:
            return False
        return all(one == owners[0] for one in owners)

    def wait_until_whole(self, seconds: float = 60, without: tuple[RedisNode, ...] = ()) -> float:
        return wait_for("cluster_state is ok everywhere", lambda: self.is_whole(without), seconds)

    # --- changes -----------------------------------------------------------------------------------------------------

    def add_node(self) -> RedisNode:
        """Adds a primary without slots."""
        node = self._make_node("127.0.0.1", [], *free_ports(2))
        node.start()
        node.wait_until_it_answers()
        self._meet([node])
        # The new node accepts keys only after it has seen the cluster serve for two seconds.
        self.wait_until_whole()
        return node

    def reshard(self, to: RedisNode, slots: int, of: list[RedisNode]) -> float:
        """Moves this number of slots, an equal share from each of the others; returns the seconds."""
        # Each move begins when all nodes know about the previous one.
        self.wait_until_whole()
        began = time.monotonic()
        run = subprocess.run(
            ["redis-cli", *self.settings.cli_words(), "--cluster", "reshard", of[0].address, "--cluster-from",
             ",".join(self.id_of(node) for node in of), "--cluster-to", self.id_of(to), "--cluster-slots", str(slots), "--cluster-yes"],
            capture_output=True, text=True, timeout=900, check=False)
        if run.returncode != 0 or "ERR" in run.stdout + run.stderr:
            raise RuntimeError(f"reshard failed: {run.stdout[-1500:]} {run.stderr[-1500:]}")
        return time.monotonic() - began

    def kill(self, primary: RedisNode) -> float:
        """Kills the primary and waits until one of its replicas has all its slots; returns the seconds."""
        replicas, slots = self.replicas_of(primary), self.slots_of(primary)
        if not replicas:
            raise RuntimeError(f"{primary.name} has no replica")
        primary.kill()
        return wait_for(f"a replica of {primary.name} is promoted", lambda: any(
            node.role() == "master" and self.slots_of(node) == slots for node in replicas))

    def start_again(self, node: RedisNode) -> float:
        """Starts the node and waits until it follows the current primary; returns the seconds."""
        began = time.monotonic()
        node.start()
        node.wait_until_it_answers()
        self.wait_until_whole()
        return time.monotonic() - began


def even_ranges(count: int) -> list[tuple[int, int]]:
    """Divides slots into this number of ranges, with the same number of shards in each, plus or minus one."""
    slots = sorted(ClusterClient.slot_of(shard) for shard in range(256))
    borders = [0] + [slots[round(part * 256 / count)] for part in range(1, count)] + [SLOTS]
    return [(first, after - 1) for first, after in itertools.pairwise(borders)]
