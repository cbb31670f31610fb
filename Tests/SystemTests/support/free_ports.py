"""Ports for processes of the tests."""

import os
import random
import socket

# Below the ports of outgoing connections, so that the port of a restarted process is still free.
FIRST_PORT, PORTS_EACH = 12_000, 2_000
given: set[int] = set()


def free_port() -> int:
    """A port that is free now, and is returned only once; each parallel process of the tests has its own range."""
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
