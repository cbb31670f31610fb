"""A receiver of pushed events on loopback: it verifies requests with `standardwebhooks`, records what it accepted, and answers as
configured."""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import json
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from types import MappingProxyType

from standardwebhooks import Webhook, WebhookVerificationError


@dataclasses.dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def id(self) -> str:
        """The event's id, from the webhook's id."""
        return urllib.parse.unquote(self.headers["webhook-id"])


class Receiver:
    """`answer` returns the status for a request, or a status and headers; with None the request hangs until the receiver ends. The default
    answer accepts all. `secrets` has by path the secret with which requests are verified."""

    def __init__(self, answer: Callable[[Request], object] | None = None) -> None:
        self.answer = answer or (lambda _request: 200)
        self.secrets: dict[str, str] = {}
        self.accepted: list[Request] = []
        self.refused: list[Request] = []
        self.unverified: list[Request] = []
        self.lock = threading.Lock()
        self.ended = threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body, time.time())
                if secret := receiver.secrets.get(self.path):
                    try:
                        receiver.verify(secret, request)
                    except WebhookVerificationError:
                        with receiver.lock:
                            receiver.unverified.append(request)
                        return self.reply(401)
                status = receiver.answer(request)
                if status is None:
                    receiver.ended.wait()
                    self.close_connection = True
                    return None
                status, headers = status if isinstance(status, tuple) else (status, {})
                with receiver.lock:
                    (receiver.accepted if 200 <= status < 300 else receiver.refused).append(request)
                return self.reply(status, headers)

            def reply(self, status: int, headers: Mapping[str, str] = MappingProxyType({})) -> None:
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, *_: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @staticmethod
    def verify(secret: str, request: Request) -> None:
        # The library also parses the body as JSON; its result is not needed.
        with contextlib.suppress(json.JSONDecodeError):
            Webhook(secret).verify(request.body, request.headers)

    def at(self, path: str) -> list[Request]:
        with self.lock:
            return [request for request in self.accepted if request.path == path]

    def ids(self, path: str) -> list[str]:
        return [request.id for request in self.at(path)]

    def wait(self, path: str, count: int, seconds: float = 30) -> list[Request]:
        """Waits until this number of different events was accepted at a path; returns the accepted requests."""
        until = time.monotonic() + seconds
        while len(set(self.ids(path))) < count:
            assert time.monotonic() < until, f"{path} accepted {len(set(self.ids(path)))} of {count} events; unverified {len(self.unverified)}"
            time.sleep(0.02)
        return self.at(path)
