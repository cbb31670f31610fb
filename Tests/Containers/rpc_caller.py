"""RPC callers that know only the load balancer's ports."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import ssl
from collections.abc import Callable

RPC = {"signer": "signer.v1.SignerService", "verifier": "verifier.v1.VerifierService", "events": "events.v1.EventsService",
       "queues": "queues.v1.QueuesService", "ingest": "ingest.v1.IngestService", "recovery": "recovery.v1.NotificationRecoveryService",
       "broker": "asa.v1.TokenBrokerService"}
# The balancer's port, the RPC service, the method, the message, and a function that checks the answer.
Work = tuple[str, str, str, dict, Callable[[dict], bool]]


def anything(_: dict) -> bool:
    return True


@dataclasses.dataclass(frozen=True)
class Access:
    """The settings of a caller: the balancer's ports, a token and, with TLS inside, the trusted authority and the client certificate."""

    ports: dict[str, int]
    token: str
    tls: ssl.SSLContext | None = None

    def caller(self, service: str) -> Caller:
        return Caller(self.ports[service], self.token, self.tls)


class Caller:
    """RPC over one HTTP/1.1 connection to one port, which is opened again when it breaks."""

    def __init__(self, port: int, token: str, tls: ssl.SSLContext | None = None) -> None:
        self.port, self.token, self.tls, self.writer = port, token, tls, None

    async def call(self, service: str, method: str, message: dict, key: str | None = None, seconds: float = 40) -> tuple[int, dict]:
        body = json.dumps(message).encode()
        head = (f"POST /attribution.{RPC[service]}/{method} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {self.token}\r\nContent-Length: {len(body)}\r\n"
                + (f"Idempotency-Key: {key}\r\n" if key else "") + "\r\n")
        try:
            async with asyncio.timeout(seconds):
                # An idle connection that the peer closed is opened again, as by any client.
                if self.writer and self.reader.at_eof():
                    self.close()
                if self.writer is None:
                    self.reader, self.writer = await asyncio.open_connection(
                        "127.0.0.1", self.port, ssl=self.tls, server_hostname="localhost" if self.tls else None)
                self.writer.write(head.encode() + body)
                lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                status = int(lines[9:12])
                text = await self._body(lines)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self.close()
            raise
        if "connection: close" in lines:
            self.close()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, {}

    async def _body(self, head: str) -> bytes:
        if "content-length:" in head:
            return await self.reader.readexactly(int(head.split("content-length:", 1)[1].split("\r\n", 1)[0]))
        if "transfer-encoding: chunked" not in head:
            return await self.reader.read()
        whole = b""
        while size := int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16):
            whole += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readuntil(b"\r\n")
        return whole

    def close(self) -> None:
        if self.writer:
            self.writer.transport.abort()
        self.writer = None
