"""Requests as Apple's library for Python builds them, and a server that records those that the services build."""

from __future__ import annotations

import base64
import dataclasses
import http.server
import json
import threading
import urllib.parse
import uuid
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import jwt
import requests
from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment


@dataclasses.dataclass
class Request:
    """The meaning of a request: values of the same name in their order, regardless of values between them."""

    method: str
    path: list[str]
    query: dict[str, list[str]]
    body: object
    content_type: str | None
    bearer: str

    @staticmethod
    def read(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
        path, _, query = target.partition("?")
        kind = headers.get("Content-Type") if body else None
        content = body if kind == "image/png" else json.loads(body) if body else None
        return Request(method, [urllib.parse.unquote(part) for part in path.split("/")[1:]], urllib.parse.parse_qs(query, keep_blank_values=True),
                       content, kind, headers.get("Authorization", "").removeprefix("Bearer "))

    def meaning(self) -> tuple:
        return self.method, self.path, self.query, self.body, self.content_type

    def claims(self, public_key: str | bytes) -> tuple[dict, dict]:
        """The token's header and claims, after the verification of its signature."""
        decoded = jwt.decode(self.bearer, public_key, algorithms=["ES256"], audience="appstoreconnect-v1")
        return jwt.get_unverified_header(self.bearer), decoded


class Library(AppStoreServerAPIClient):
    """Apple's client; its requests are stored and not sent."""

    def __init__(self, key: bytes, key_id: str, issuer_id: str, bundle_id: str) -> None:
        super().__init__(key, key_id, issuer_id, bundle_id, Environment.PRODUCTION)
        self.last: Request | None = None

    def _execute_request(self, method: str, url: str, params: Any, headers: Any, json: Any, data: Any) -> requests.Response:
        prepared = requests.Request(method, url, params=params, headers=headers, json=json, data=data).prepare()
        body = prepared.body or b""
        parts = urllib.parse.urlsplit(prepared.url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        self.last = Request.read(prepared.method, target, prepared.headers, body.encode() if isinstance(body, str) else body)
        response = requests.Response()
        response.status_code, response._content = 200, b"{}"
        return response

    def request(self, ask: Callable[[Library], object]) -> Request:
        """The request of a call; the answer is a placeholder and is ignored."""
        self.last = None
        try:
            ask(self)
        except Exception:
            if self.last is None:
                raise
        return self.last


class Capture:
    """Records requests as Apple's server. Answers have the members that a service requires, or come from `answers` or `answer_of`."""

    ANSWER: ClassVar = {"testNotificationToken": "t", "requestId": str(uuid.UUID(int=1)), "messageIdentifier": str(uuid.UUID(int=1)), "realtimeURL": "https://a",
              "result": "PENDING", "requestIdentifier": str(uuid.UUID(int=1)), "status": 1}

    def __init__(self) -> None:
        self.requests: list[Request] = []
        # (method, path) → another answer; these requests are not recorded.
        self.answers = {}
        # Another answer to a recorded request, or None.
        self.answer_of: Callable[[Request], dict | None] = lambda _request: None
        capture = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Headers and content are two writes: the second must not wait for the acknowledgement of the first.
            disable_nagle_algorithm = True

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request.read(self.command, self.path, self.headers, body)
                given = capture.answers.get((self.command, self.path.partition("?")[0]))
                if given is None:
                    capture.requests.append(request)
                    given = capture.answer_of(request)
                content = json.dumps(capture.ANSWER if given is None else given).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_DELETE = answer

            def log_message(self, *words: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode()
