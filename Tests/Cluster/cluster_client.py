"""Reads keys and counts in a Redis Cluster: the accounting of the fault test, with each command sent to the node that has the slot."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import redis
from redis.crc import key_slot

if TYPE_CHECKING:
    from .redis_node import RedisNode

# Reads are repeated for this number of seconds while nodes fail or slots move.
RETRY_SECONDS = 30


class ClusterClient:
    """The part of redis-py's interface that is used here."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.owners: list[tuple[int, int, RedisNode]] = []

    @staticmethod
    def slot_of(shard: int) -> int:
        return key_slot(b"attr:%03d" % shard)

    def refresh(self) -> None:
        """The primaries, as reported by the first node that knows primaries for all slots."""
        for node in self.cluster.running():
            try:
                ranges = node.client.execute_command("CLUSTER SHARDS")
            except redis.RedisError:
                continue
            by_port = {one.port: one for one in self.cluster.nodes}
            owners = []
            for shard in map(_named, ranges):
                primary = next((one for one in map(_named, shard["nodes"]) if one["role"] == b"master" and one["health"] == b"online"), None)
                if primary is None:
                    continue
                at = by_port[int(primary.get("port") or primary["tls-port"])]
                owners += [(int(first), int(last), at) for first, last in zip(shard["slots"][::2], shard["slots"][1::2], strict=True)]
            if sum(last - first + 1 for first, last, _ in owners) == 16_384:
                self.owners = owners
                return
        raise redis.ConnectionError("no node knows of all slots")

    def owner(self, key: str) -> RedisNode:
        if not self.owners:
            self.refresh()
        slot = key_slot(key.encode())
        return next(node for first, last, node in self.owners if first <= slot <= last)

    def run(self, calls: list[tuple[str, tuple]]) -> list[Any]:
        """Runs commands, each given with its key, on the nodes that have the keys. All are repeated if a node fails, so use it only for
        reads."""
        until = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                return self._run_once(calls)
            except redis.RedisError:
                if time.monotonic() > until:
                    raise
                self.owners = []
                time.sleep(0.2)

    def _run_once(self, calls: list[tuple[str, tuple]]) -> list[Any]:
        indices: dict[RedisNode, list[int]] = {}
        for index, (key, _) in enumerate(calls):
            indices.setdefault(self.owner(key), []).append(index)
        answers: list[Any] = [None] * len(calls)
        for node, mine in indices.items():
            pipeline = node.client.pipeline(transaction=False)
            for index in mine:
                pipeline.execute_command(*calls[index][1])
            for index, answer in zip(mine, pipeline.execute(), strict=True):
                answers[index] = answer
        return answers

    def xrange(self, key: str, first: Any = "-", last: Any = "+", count: int | None = None) -> list[tuple]:
        return self.run([(key, ("XRANGE", key, first, last, *(("COUNT", count) if count else ())))])[0]

    def pipeline(self, transaction: bool = False) -> ClusterPipeline:  # noqa: ARG002 what redis.Redis takes
        return ClusterPipeline(self)

    def ping(self) -> bool:
        self.refresh()
        return True

    def close(self) -> None:
        pass


class ClusterPipeline:
    def __init__(self, client: ClusterClient) -> None:
        self.client, self.calls = client, []

    def get(self, key: str) -> None:
        self.calls.append((key, ("GET", key)))

    def xlen(self, key: str) -> None:
        self.calls.append((key, ("XLEN", key)))

    def xrange(self, key: str, first: Any, last: Any, count: int) -> None:
        self.calls.append((key, ("XRANGE", key, first, last, "COUNT", count)))

    def eval(self, script: str, number: int, *keys: str) -> None:
        self.calls.append((keys[0], ("EVAL", script, number, *keys)))

    def execute(self) -> list[Any]:
        calls, self.calls = self.calls, []
        return self.client.run(calls)


def _named(words: Any) -> dict[str, Any]:
    """Accepts a flat list of names and values, or a dictionary as newer clients return it."""
    pairs = words.items() if isinstance(words, dict) else zip(words[::2], words[1::2], strict=True)
    return {(name.decode() if isinstance(name, bytes) else name): value for name, value in pairs}
