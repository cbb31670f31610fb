"""One executable and its own Redis, without other services."""

from __future__ import annotations

import http.client
import os
import pathlib
import signal
import subprocess
import time

from .free_ports import free_port
from .signer_process import ROOT, TOKEN

BINARIES = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug")
DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", "")


class BareRedis:
    """A Redis on loopback. `settings` are arguments of its command line; `port` is the one for clear text, 0 disables it."""

    def __init__(self, folder: pathlib.Path, *settings: str, port: int | None = None) -> None:
        self.folder = folder
        self.port = free_port() if port is None else port
        folder.mkdir(parents=True, exist_ok=True)
        self.settings = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), *DURABLE, *settings)

    def __enter__(self) -> BareRedis:
        self.log = (self.folder / "redis.log").open("ab")
        self.process = subprocess.Popen(["redis-server", *self.settings], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()


class BareService:
    """`executable` on its own port; `variables` are added to the minimum environment that it needs."""

    def __init__(self, folder: pathlib.Path, executable: str, configuration: str = "", **variables: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.executable, self.port, self.log_path = executable, free_port(), folder / f"{executable}.log"
        path = folder / f"{executable}.yaml"
        path.write_text(configuration + "\nappStore: { strictCertificates: true }\n")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTRIBUTION_")}
        token = folder / "service-token"
        if not token.exists():
            token.touch(0o600)
            token.write_text(TOKEN)
        self.environment = {
            **environment, "ATTRIBUTION_CONFIG": str(path), "ATTRIBUTION_LISTEN": f"127.0.0.1:{self.port}",
            "ATTRIBUTION_PUBLIC_LISTEN": f"127.0.0.1:{free_port()}", "ATTRIBUTION_SERVICE_TOKEN_FILE": str(token),
            "ATTRIBUTION_DRAIN_DELAY_MS": "100", **variables}

    def __enter__(self) -> BareService:
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [BINARIES / self.executable], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The same executable with the same environment and other arguments."""
        return subprocess.run([BINARIES / self.executable, *words], env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def status(self, path: str) -> int | None:
        """The status; None if there is no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return None
        finally:
            connection.close()

    def wait_for(self, path: str, status: int, seconds: float = 30) -> None:
        until = time.monotonic() + seconds
        while self.status(path) != status:
            assert self.process.poll() is None, f"{self.executable} ended: {self.log()[-2000:]}"
            assert time.monotonic() < until, f"{path} is not {status}: {self.log()[-2000:]}"
            time.sleep(0.05)

    def wait_for_words(self, words: str, seconds: float = 30) -> None:
        until = time.monotonic() + seconds
        while words not in self.log():
            assert time.monotonic() < until, f"{words!r} is not in the log: {self.log()[-2000:]}"
            time.sleep(0.05)
