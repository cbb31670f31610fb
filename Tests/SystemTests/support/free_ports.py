"""Ports for processes of the tests."""

import os
import random
import socket

# Below the ports of outgoing connections, so that a process that is started again finds its port free.
FIRST_PORT, PORTS_EACH = 12_000, 2_000
given: set[int] = set()


def free_port() -> int:
    """Free now, and given once; each parallel process of the tests has a range of its own."""
    first = FIRST_PORT + PORTS_EACH * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4)
    while True:
        port = random.randrange(first, first + PORTS_EACH)
        if port in given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        given.add(port)
        return port
