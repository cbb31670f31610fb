"""A collector of traces on loopback: it decodes requests with `opentelemetry-proto`, records the spans, and answers as the test
configures."""

from __future__ import annotations

import base64
import dataclasses
import http.server
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Proto

KINDS = {Proto.SPAN_KIND_SERVER: "server", Proto.SPAN_KIND_CLIENT: "client", Proto.SPAN_KIND_PRODUCER: "producer",
         Proto.SPAN_KIND_CONSUMER: "consumer", Proto.SPAN_KIND_INTERNAL: "internal"}
IDS = ("traceId", "spanId", "parentSpanId")


def read(body: bytes) -> ExportTraceServiceRequest:
    """OTLP's JSON: protobuf's own, except for ids in hexadecimal digits. Unknown names are an error."""
    document = json.loads(body)

    def in_base64(node: object) -> object:
        if isinstance(node, list):
            return [in_base64(item) for item in node]
        if not isinstance(node, dict):
            return node
        return {name: base64.b64encode(bytes.fromhex(value)).decode() if name in IDS else in_base64(value) for name, value in node.items()}

    return json_format.ParseDict(in_base64(document), ExportTraceServiceRequest())


@dataclasses.dataclass
class Span:
    service: str
    trace: str
    id: str
    parent: str
    name: str
    kind: str
    start: int
    end: int
    attributes: dict[str, object]
    is_error: bool
    resource: dict[str, object]


def value(any_value: Any) -> object:
    return getattr(any_value, any_value.WhichOneof("value"))


def spans_of(request: ExportTraceServiceRequest) -> list[Span]:
    found = []
    for resource in request.resource_spans:
        about = {item.key: value(item.value) for item in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8), span
                found.append(Span(
                    about["service.name"], span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), span.name, KINDS[span.kind],
                    span.start_time_unix_nano, span.end_time_unix_nano, {item.key: value(item.value) for item in span.attributes},
                    span.status.code == 2, about))
    return found


class Collector:
    """`answer` returns the status of each export, or a status and a body; None hangs until the collector ends."""

    def __init__(self, answer: Callable[[], object] | None = None) -> None:
        self.answer = answer or (lambda: 200)
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.faults: list[str] = []
        self.exports = 0
        self.changed = threading.Condition()
        self.ended = threading.Event()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with collector.changed:
                    collector.exports += 1
                    collector.changed.notify_all()
                status = collector.answer()
                if status is None:
                    collector.ended.wait()
                    self.close_connection = True
                    return
                status, reply = status if isinstance(status, tuple) else (status, {})
                with collector.changed:
                    collector.bodies.append(body)
                    collector.headers.append({name.lower(): text for name, text in self.headers.items()})
                    if 200 <= status < 300:
                        try:
                            assert self.path == "/v1/traces" and self.headers["content-type"] == "application/json"
                            collector.spans += spans_of(read(body))
                        except Exception as error:  # noqa: BLE001 a fault here must fail the test, not the thread alone.
                            collector.faults.append(f"{error!r}: {body[:500]!r}")
                    collector.changed.notify_all()
                text = json.dumps(reply).encode()
                self.send_response_only(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a service that exports to it soon."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "50"}

    def trace(self, trace_id: str) -> list[Span]:
        with self.changed:
            return [span for span in self.spans if span.trace == trace_id]

    def wait(self, enough: Callable[[list[Span]], bool], seconds: float = 30) -> list[Span]:
        """Waits until the received spans are enough; returns all of them."""
        until = time.monotonic() + seconds
        with self.changed:
            while not enough(self.spans):
                assert not self.faults, self.faults
                assert self.changed.wait(until - time.monotonic()), [(span.service, span.name) for span in self.spans]
            assert not self.faults, self.faults
            return list(self.spans)

    def wait_for_exports(self, count: int, seconds: float = 30) -> None:
        until = time.monotonic() + seconds
        with self.changed:
            while self.exports < count:
                assert self.changed.wait(until - time.monotonic()), f"{self.exports} of {count} exports"
