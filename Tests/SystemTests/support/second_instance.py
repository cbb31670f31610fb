"""Another instance of one of a running system's services, on the same Redis."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator

from .running_system import System


@contextlib.contextmanager
def second_instance(system: System, name: str, more: str = "") -> Iterator[System]:
    """`more`: shell commands before it is started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    run = system.data / f"run-{system.port_base}"
    command = re.sub(r"ATTRIBUTION_LISTEN=127\.0\.0\.1:\d+", f"ATTRIBUTION_LISTEN=127.0.0.1:{port}", (run / f"{name}.command").read_text())
    if more:
        command = re.sub(r"^exec ", lambda found: f"{more}\n{found[0]}", command, flags=re.MULTILINE)
    with (run / f"{name}-second.log").open("ab") as log:
        process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        for _ in range(600):
            assert process.poll() is None, (run / f"{name}-second.log").read_text()[-2000:]
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).read()
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
