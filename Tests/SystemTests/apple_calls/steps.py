"""Shared steps of the tests of calls to Apple: images, stories, the simulator's log of calls."""

import struct
import time
import uuid
import zlib
from collections.abc import Callable
from typing import Any

from client import Answer
from SystemTests.support.running_system import System

APP = "com.example.app"


def png(width: int, height: int, colour_type: int = 0, more: bytes = b"", grey: int = 128) -> bytes:
    """A PNG file of one colour; `more` are chunks before the data."""
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type]
    row = b"\0" + bytes([grey]) * (width * channels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)) + more
            + chunk(b"IDAT", zlib.compress(row * height, 9)) + chunk(b"IEND", b""))


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def story(system: System, *steps: str, environment: str = "Production", **more: Any) -> dict:
    """Purchases that send no notifications."""
    return system.control("/control/notifications/story", {
        "bundleId": APP, "environment": environment, "steps": [{"step": step, "history": False} for step in steps], "send": False, **more})


def cause(answer: Answer) -> dict:
    """The project's cause of an error: its reason and its metadata."""
    for detail in answer.json.get("details", []):
        if detail["type"] == "google.rpc.ErrorInfo":
            return {"reason": detail["debug"]["reason"], **detail["debug"].get("metadata", {})}
    return {}


def calls(system: System, part: str) -> list[dict]:
    """The calls whose path has this part, oldest first, except the lists of messages and images that ingest requests by itself."""
    return [call for call in system.control("/control/app-store-calls?limit=100000")["calls"]
            if part in call["path"] and not call["path"].endswith(("/messaging/message/list", "/messaging/image/list"))]


def new_id() -> str:
    return str(uuid.uuid4())


def until(found: Callable[[], Any], seconds: float = 30) -> Any:
    """Waits until a value is found, and returns it."""
    end = time.monotonic() + seconds
    while True:
        if value := found():
            return value
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
