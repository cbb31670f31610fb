"""An ingest with its public port, and the values that Redis reports before and after a run."""

from __future__ import annotations

import pathlib
import re

from Benchmarks.bench import Redis, Server, free_port

ENOUGH = "queues: { backlogBound: 1000000000 }\n"


class Ingest(Server):
    """An ingest with its public port, on the same cores as its Redis."""

    def __init__(self, binaries: pathlib.Path, redis: Redis, configuration: str = ENOUGH) -> None:
        self.public = free_port()
        super().__init__(binaries, "ingest", configuration, core=redis.core, ATTRIBUTION_REDIS_URL=redis.url,
                         ATTRIBUTION_PUBLIC_LISTEN=f"127.0.0.1:{self.public}")


def counted(redis: Redis) -> dict[str, int]:
    """The number of bytes that Redis has written, read and stored."""
    text = redis.cli("INFO", "everything")
    return {name: int(re.search(rf"\b{name}:(\d+)", text)[1]) for name in
            ("aof_current_size", "total_net_input_bytes", "total_net_output_bytes", "used_memory")}


def grown(redis: Redis, before: dict[str, int], count: int) -> dict[str, float]:
    """The growth of each value per delivery."""
    return {name: (value - before[name]) / count for name, value in counted(redis).items()}
