#!/usr/bin/env python3
"""Prints the events of a subscription: consumer.py NAME [--events N]. An unmodified Connect client, and messages made from the contract."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from connectrpc.client import ConnectClientSync
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType

CONTRACT = pathlib.Path(__file__).resolve().parents[2] / "Shared" / "AttributionProtocol" / "Contract"
SERVICE = "attribution.events.v1.EventsService"
# What may pass by itself: the call is made again.
PASSING = {Code.UNAVAILABLE, Code.ABORTED, Code.DEADLINE_EXCEEDED, Code.RESOURCE_EXHAUSTED}


def messages() -> ModuleType:
    """The messages of the events service. A program of your own keeps what the compiler makes instead of making it at each start."""
    out = tempfile.mkdtemp()
    names = ["attribution/options/v1/options.proto", "attribution/events/v1/events.proto"]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"-I{CONTRACT}", f"--python_out={out}", *names], check=True)
    sys.path.insert(0, out)
    from attribution.events.v1 import events_pb2
    return events_pb2


class Feed:
    def __init__(self, url: str, token: str, subscription: str) -> None:
        self.events = messages()
        self.client = ConnectClientSync(url, codec=google_protobuf_json_codec())
        self.headers = {"authorization": f"Bearer {token}"}
        self.subscription = subscription

    def call(self, method_name: str, timeout_ms: int = 10_000, /, **fields: Any) -> Any:
        method = MethodInfo(name=method_name, service_name=SERVICE, input=getattr(self.events, method_name + "Request"),
                            output=getattr(self.events, method_name + "Response"), stream_type=StreamType.UNARY,
                            idempotency_level=IdempotencyLevel.UNKNOWN)
        pause = 0.1
        while True:
            try:
                return self.client.execute_unary(request=method.input(**fields), method=method, headers=self.headers, timeout_ms=timeout_ms)
            except ConnectError as error:
                if error.code not in PASSING:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, 5)

    def read(self, work: Callable[[Any], None], most: int | None) -> None:
        """Has each event worked, and then acknowledges it; until `most` were."""
        try:
            self.call("CreateSubscription", name=self.subscription)
        except ConnectError as error:
            # One that was made with a filter or in another way is read as it is.
            if error.code != Code.ALREADY_EXISTS:
                raise
        while most is None or most > 0:
            answer = self.call("PullEvents", 35_000, subscription=self.subscription, max_events=min(most or 100, 100),
                               wait_milliseconds=20_000, lease_seconds=60)
            for pulled in answer.events:
                work(pulled.event)
                self.call("AcknowledgeEvents", subscription=self.subscription, ack_ids=[pulled.ack_id])
            if most is not None:
                most -= len(answer.events)


def show(event: Any) -> None:
    # A Struct of protobuf: it has no `get`.
    subject = event["subject"] if "subject" in event else "-"  # noqa: SIM401
    print(event["id"], event["type"], subject, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subscription")
    parser.add_argument("--events", type=int)
    arguments = parser.parse_args()
    token = pathlib.Path(os.environ["ATTRIBUTION_TOKEN_FILE"]).read_text().strip()
    feed = Feed(os.environ.get("ATTRIBUTION_VERIFIER_URL", "http://127.0.0.1:8092"), token, arguments.subscription)
    feed.read(show, arguments.events)


if __name__ == "__main__":
    main()
