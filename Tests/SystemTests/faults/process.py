"""Processes of a test, which can be killed and stopped, and proxies that cut connections in the middle of a reply."""

from __future__ import annotations

import asyncio
import http.client
import json
import pathlib
import random
import signal
import subprocess
import threading
import uuid

from SystemTests.support.free_ports import free_port

TOKEN = "a-token-of-the-tests-0123456789"


class Process:
    """A process that FaultSystem restarts when it ends, unless `is_held`."""

    def __init__(self, name: str, command: list, environment: dict[str, str], log: pathlib.Path) -> None:
        self.name, self.command, self.environment, self.log_path = name, [str(word) for word in command], environment, log
        self.process: subprocess.Popen | None = None
        self.is_held = False
        self.starts = 0
        self.lock = threading.Lock()

    def start(self) -> None:
        with self.lock:
            if self.is_running():
                return
            self.starts += 1
            # The process inherits from Python that SIGXFSZ is ignored. So a full disk is an error of write, as with a real disk.
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=self.log_path.open("ab"), stderr=subprocess.STDOUT,
                env=self.environment, restore_signals=False)

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        if self.is_running():
            self.process.send_signal(number)

    def end(self, timeout: float = 30) -> None:
        self.is_held = True
        if not self.is_running():
            return
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")


class Service(Process):
    def __init__(self, name: str, command: list, environment: dict[str, str], log: pathlib.Path, port: int, public_port: int | None,
                 host: str = "127.0.0.1") -> None:
        super().__init__(name, command, environment, log)
        self.port, self.public_port, self.host = port, public_port, host

    def get(self, path: str, timeout: float = 10) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz", 2)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def rpc(self, service: str, method: str, message: dict, key: str = "") -> tuple[int, dict]:
        """`key` is the Idempotency-Key; without it, a new one is generated."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request("POST", f"/attribution.{service}/{method}", json.dumps(message), {
                "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}", "Idempotency-Key": key or uuid.uuid4().hex})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def call(self, service: str, method: str, message: dict) -> dict:
        status, answer = self.rpc(service, method, message)
        assert status == 200, (method, status, answer)
        return answer

    def queue(self, name: str = "intake") -> dict:
        return next(queue for queue in self.call("queues.v1.QueuesService", "ListQueues", {})["queues"] if queue["name"] == name)

    def metric(self, name: str) -> float:
        """The sum over all labels."""
        text = self.get("/metrics")[1].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith((name + "{", name + " ")))

    def post(self, path: str, body: bytes | str, content_type: str = "application/json", method: str = "POST",
             ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.host, self.public_port, timeout=60)
        try:
            connection.request(method, path, body, {"Content-Type": content_type})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()


class Proxy:
    """Forwards bytes from its own port. `cut` cuts all connections, each in the middle of its next reply. If `unanswered` is set, the
    next request that contains this word gets no reply."""

    def __init__(self, target: int, dice: random.Random) -> None:
        self.target, self.dice, self.port = target, dice, free_port()
        self.cuts = 0
        self.connections: set[list] = set()
        # Connections whose next reply is cut after this number of bytes.
        self.armed: dict[int, int] = {}
        # Connections that are cut before the reply to the request with the word `unanswered`.
        self.withheld: set[int] = set()
        self.unanswered: bytes | None = None

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, to = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        both = (writer, to)
        key = id(both)
        self.connections.add(both)
        try:
            await asyncio.gather(self._pass(reader, to, key, is_reply=False), self._pass(there, writer, key, is_reply=True))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.connections.discard(both)
            self.armed.pop(key, None)
            writer.transport.abort()
            try:
                # The cut reply may be that of an earlier request. Redis reads the request with the word before the end of the connection, and
                # closes it afterwards.
                if key in self.withheld:
                    self.withheld.discard(key)
                    to.write_eof()
                    await asyncio.wait_for(there.read(), 10)
            finally:
                to.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: int, is_reply: bool) -> None:
        while data := await reader.read(1 << 16):
            if is_reply and (length := self.armed.get(key)) is not None:
                self.cuts += 1
                writer.write(data[:min(length, len(data) - 1)])
                await writer.drain()
                raise ConnectionResetError
            writer.write(data)
            await writer.drain()
            if not is_reply and self.unanswered and self.unanswered in data:
                self.unanswered = None
                self.armed[key] = 0
                self.withheld.add(key)
        raise ConnectionResetError

    async def cut(self) -> int:
        """Cuts all connections; returns the number of replies that were cut in the middle."""
        before = self.cuts
        for both in list(self.connections):
            self.armed[id(both)] = self.dice.choice([0, 1, self.dice.randrange(1, 200)])
        await asyncio.sleep(0.3)
        for both in list(self.connections):
            if self.armed.pop(id(both), None) is not None:
                for one in both:
                    one.transport.abort()
        return self.cuts - before

    async def stop(self) -> None:
        self.server.close()
        for both in list(self.connections):
            for one in both:
                one.transport.abort()
        await asyncio.sleep(0)
