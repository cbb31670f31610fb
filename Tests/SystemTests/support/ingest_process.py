"""An ingest process for one test, with a running system's Redis and signer, and a raw connection to it."""

from __future__ import annotations

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import time
from typing import Any

from .free_ports import free_port
from .running_system import System

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug") / "ingest"


class IngestProcess:
    """Like the system's ingest, with its own `limits` and its own two ports."""

    def __init__(self, system: System, folder: pathlib.Path, limits: dict[str, object] | None = None, *, settings: str = "", clients: str = "",
                 variables: dict[str, str] | None = None, drain_milliseconds: int = 100,
                 ports: tuple[int, int] | None = None) -> None:
        """`settings`: more YAML; `clients`: lines before the system's own callers; `variables`: more environment."""
        self.port, self.internal_port = ports or (free_port(), free_port())
        configuration = folder / "configuration.yaml"
        lines = "".join(f"  {key}: {value}\n" for key, value in (limits or {}).items())
        self.configuration = configuration
        configuration.write_text((system.data / "configuration.yaml").read_text().replace("clients:\n", "clients:\n" + clients)
                                 + ("limits:\n" + lines if lines else "") + settings)
        command = (system.data / f"run-{system.port_base}" / "ingest.command").read_text()
        base = dict(re.findall(r"^export (ATTRIBUTION_\w+)=([^$\n]*)$", command, re.MULTILINE))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTRIBUTION_")}
        self.log_path = folder / "ingest.log"
        self.process = subprocess.Popen(
            [BINARY], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log_path.open("ab"),
            env={**environment, **base, "ATTRIBUTION_CONFIG": str(configuration),
                 "ATTRIBUTION_LISTEN": f"127.0.0.1:{self.internal_port}",
                 "ATTRIBUTION_PUBLIC_LISTEN": f"127.0.0.1:{self.port}", "ATTRIBUTION_DRAIN_DELAY_MS": str(drain_milliseconds), **(variables or {})})
        self.internal_tls = "ATTRIBUTION_TLS_CERTIFICATE" in (variables or {})

    def __enter__(self) -> IngestProcess:
        for _ in range(600):
            if self.process.poll() is not None:
                raise RuntimeError(self.log_path.read_text(errors="replace"))
            try:
                if self.get("/readyz") == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError("ingest did not start: " + self.log_path.read_text(errors="replace"))

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _internal(self) -> http.client.HTTPConnection:
        if not self.internal_tls:
            return http.client.HTTPConnection("127.0.0.1", self.internal_port, timeout=30)
        # Only readiness is checked here, not identity.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.internal_port, timeout=30, context=context)

    def get(self, path: str) -> int:
        connection = self._internal()
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def metric(self, name: str) -> float:
        """A metric's value, with its labels as a part of the name; 0 if there is none."""
        connection = self._internal()
        try:
            connection.request("GET", "/metrics")
            for line in connection.getresponse().read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.rsplit(" ", 1)[1])
            return 0
        finally:
            connection.close()

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None, *, method: str = "POST",
             port: int | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def memory(self) -> int:
        """The resident memory of the process in bytes."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("ingest has ended")

    def is_alive(self) -> bool:
        return self.process.poll() is None


class Answer:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"<{self.status} {self.body[:200]!r}>"


class RawConnection:
    """Sends bytes to a port and reads HTTP/1.1 answers, strictly by their lengths."""

    def __init__(self, port: int, timeout: float = 60) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.buffer = b""
        self.ended = False

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> bool:
        """Sends; returns whether the peer accepted it. A peer that has answered and closed the connection may not."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def _more(self) -> bool:
        try:
            received = self.socket.recv(65536)
        except ConnectionResetError:
            received = b""
        self.ended = self.ended or not received
        self.buffer += received
        return bool(received)

    def answer(self) -> Answer | None:
        """The next answer, including 100 (Continue); None if the connection ends before its first byte."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._more():
                assert not self.buffer, f"half an answer: {self.buffer[:200]!r}"
                return None
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        version, status = lines[0].split(" ")[:2]
        assert version == "HTTP/1.1", lines[0]
        headers = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        length = int(headers["content-length"]) if int(status) >= 200 else 0
        while len(self.buffer) < length:
            assert self._more(), "the answer ends before its length"
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Answer(int(status), headers, body)

    def answers_to_end(self) -> list[Answer]:
        """Every answer until the peer closes; fails after the socket's timeout if it does not."""
        found = []
        while (answer := self.answer()) is not None:
            found.append(answer)
        return found
