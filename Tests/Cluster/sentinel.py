"""One primary, two replicas and three Sentinels that watch them."""

from __future__ import annotations

import os
import pathlib
import time

import redis
from redis.sentinel import Sentinel

from SystemTests.faults.process import Process

from .redis_cluster import wait_for
from .redis_node import RedisNode, Settings, free_ports

NAME = "attribution"
SENTINELS, REPLICAS = 3, 2


class RedisSentinel:
    def __init__(self, folder: pathlib.Path, settings: Settings = Settings()) -> None:
        self.folder, self.settings = folder, settings
        folder.mkdir(parents=True, exist_ok=True)
        ports = free_ports(1 + REPLICAS + SENTINELS)
        self.nodes = [RedisNode(folder, f"node-{number + 1}", settings, "127.0.0.1", port,
                                ["--replicaof", f"127.0.0.1 {ports[0]}"] if number else [], [])
                      for number, port in enumerate(ports[:1 + REPLICAS])]
        self.sentinel_ports = ports[1 + REPLICAS:]
        self.sentinels = [self._make_sentinel(port) for port in self.sentinel_ports]
        more = {"password": settings.password} if settings.password else {}
        self.directory = Sentinel([("127.0.0.1", port) for port in self.sentinel_ports], socket_timeout=2, **more)
        self.client = self.directory.master_for(NAME, socket_timeout=30)

    def _make_sentinel(self, port: int) -> Process:
        """Writes the Sentinel's file once: the Sentinel itself stores its state in it."""
        folder = self.folder / f"sentinel-{port}"
        folder.mkdir()
        path = folder / "sentinel.conf"
        path.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {folder}\nprotected-mode no\n"
            f"sentinel monitor {NAME} 127.0.0.1 {self.nodes[0].port} {SENTINELS // 2 + 1}\n"
            f"sentinel down-after-milliseconds {NAME} {self.settings.node_timeout}\n"
            f"sentinel failover-timeout {NAME} 6000\nsentinel parallel-syncs {NAME} {REPLICAS}\n"
            + (f"sentinel auth-pass {NAME} {self.settings.password}\n" if self.settings.password else ""))
        return Process(f"sentinel-{port}", ["redis-server", path, "--sentinel"], dict(os.environ), folder / "sentinel.log")

    @property
    def url(self) -> str:
        return self.settings.url("-sentinel", [f"127.0.0.1:{port}" for port in self.sentinel_ports], f"/{NAME}/0")

    @property
    def variables(self) -> dict[str, str]:
        return self.settings.variables()

    def start(self) -> None:
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.wait_until_it_answers()
        wait_for("replicas follow", lambda: all(node.is_in_sync() for node in self.nodes[1:]))
        for sentinel in self.sentinels:
            sentinel.start()
        wait_for("the Sentinels know each other and the replicas", self.is_whole)

    def is_whole(self) -> bool:
        try:
            for port in self.sentinel_ports:
                with redis.Redis(port=port, socket_timeout=2) as sentinel:
                    state = sentinel.sentinel_master(NAME)
                    replicas = [one for one in sentinel.sentinel_slaves(NAME) if not one["is_sdown"] and one["master-link-status"] == "ok"]
                if state["num-other-sentinels"] != SENTINELS - 1 or len(replicas) != REPLICAS or state["is_sdown"]:
                    return False
            primary = self.primary()
        except (redis.RedisError, KeyError):
            return False
        return primary.role() == "master" and all(node.is_in_sync() for node in self.nodes if node is not primary)

    def primary(self) -> RedisNode:
        """The primary that the Sentinels name."""
        _, port = self.directory.discover_master(NAME)
        return next(node for node in self.nodes if node.port == port)

    def kill(self) -> tuple[RedisNode, float]:
        """Kills the primary and waits for another one; returns the killed one and the seconds."""
        killed, began = self.primary(), time.monotonic()
        killed.kill()

        def has_successor() -> bool:
            try:
                found = self.primary()
            except redis.RedisError:
                return False
            return found is not killed and found.role() == "master"
        wait_for("the Sentinels name another primary", has_successor)
        return killed, time.monotonic() - began

    def start_again(self, node: RedisNode) -> float:
        """Starts the node with the same arguments, and waits until the Sentinels have made it a replica; returns the seconds."""
        began = time.monotonic()
        node.start()
        node.wait_until_it_answers()
        wait_for("all follow the primary again", self.is_whole)
        return time.monotonic() - began

    def stop(self) -> None:
        self.client.close()
        for one in [*self.sentinels, *self.nodes]:
            one.end()
