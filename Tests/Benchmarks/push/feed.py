"""Input and output of the push benchmark: events in Redis as commit.lua writes them, and a receiver that records its requests."""

from __future__ import annotations

import collections
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

import redis

from Benchmarks.bench import NATIVE, free_port

TYPE = "attribution.skadnetwork.postback.verified.v1"


def event(number: int, subjects: int, chance: random.Random) -> tuple[str, str, bytes]:
    """The event's id, its ad network, and the event."""
    network = f"network{number % subjects}.skadnetwork"
    transaction = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    id = f"skadnetwork:{network}:{transaction}:0"
    return id, network, json.dumps({
        "specversion": "1.0", "id": id, "source": "/verifier", "type": TYPE, "subject": network, "time": "2026-11-25T00:00:00.000Z",
        "datacontenttype": "application/json", "data": {
            "deliveryId": f"{number % 256:03d}-{chance.getrandbits(128):032x}", "source": "public", "receivedAt": "2026-11-25T00:00:00.000Z",
            "version": "4.0", "environment": "production", "keyId": "apple-p256", "transactionId": transaction, "postback": {
                "version": "4.0", "ad-network-id": network, "source-identifier": "5239", "app-id": 525463029, "transaction-id": transaction,
                "redownload": False, "source-app-id": 1234567891, "fidelity-type": 1, "did-win": True, "postback-sequence-index": 0,
                "attribution-signature": "MEUCIQDTuQ1Z4Tpy9D3aEKbxLl5J5iKiTumcqZikuY/AOD2U7QIgZe5wvQ0rVbVoKlKmN9qVPLPoLpXSzP0uNqWPiLvCqOE="},
            "unsigned": {"conversion-value": 63}, "tierAtLeast": 2, "withheld": []}}, separators=(",", ":")).encode()


class Feed:
    """Events in the streams of a Redis."""

    def __init__(self, port: int) -> None:
        self.client = redis.Redis(port=port)
        self.chance = random.Random(7)
        self.number = 0
        # By event id: the subject, the time in milliseconds, and the position in the order of publication.
        self.published: dict[str, tuple[str, int]] = {}

    def publish(self, count: int, subjects: int = 50) -> None:
        for start in range(0, count, 2000):
            pipeline, ids = self.client.pipeline(transaction=False), []
            for _ in range(min(2000, count - start)):
                shard = f"{{attr:{self.chance.randrange(256):03d}}}"
                id, network, body = event(self.number, subjects, self.chance)
                self.number += 1
                ids.append((id, network, int(shard[6:9])))
                pipeline.xadd(f"{shard}:events", {
                    "i": id, "t": TYPE, "e": body, "n": network, "p": "525463029", "b": "", "v": "production"})
            entries = pipeline.execute()
            pipeline = self.client.pipeline(transaction=False)
            for (id, network, shard), entry in zip(ids, entries, strict=True):
                pipeline.hset(f"{{attr:{shard:03d}}}:events:index", id, entry)
                self.published[id] = (network, int(entry.split(b"-")[0]), (*map(int, entry.split(b"-")), shard))
            pipeline.execute()

    def in_order(self) -> dict[str, list[str]]:
        """The ids of the events by subject, in the order of publication."""
        lines: dict[str, list[str]] = collections.defaultdict(list)
        for id, (network, _, _) in sorted(self.published.items(), key=lambda one: one[1][2]):
            lines[network].append(id)
        return lines


class Receiver:
    """The compiled programs `receiver` and `posts`; `receiver` runs."""

    def __enter__(self) -> Receiver:
        if shutil.which("cc") is None:
            sys.exit("cc is not installed (Debian: build-essential, libcurl4-openssl-dev)")
        self.folder = tempfile.TemporaryDirectory(prefix="benchmark-push-")
        path = pathlib.Path(self.folder.name)
        for name, more in (("receiver", []), ("posts", ["-lcurl"])):
            subprocess.run(["cc", "-O2", "-o", path / name, NATIVE / f"{name}.c", *more], check=True)
        self.port, self.notes, self.posts = free_port(), path / "notes", path / "posts"
        self.process = subprocess.Popen([path / "receiver", str(self.port), str(self.notes)])
        self.read, self.counted = 0, 0
        time.sleep(0.2)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)
        self.folder.cleanup()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def received(self, path: str) -> list[tuple[str, int]]:
        """The events and their arrival times, in the order of arrival. Those of the last fifth of a second may be missing."""
        prefix, found = path + " ", []
        with self.notes.open() as notes:
            for line in notes:
                if line.startswith(prefix) and line.endswith("\n"):
                    _, id, at = line.split(" ")
                    found.append((urllib.parse.unquote(id), int(at)))
        return found

    def count(self) -> int:
        """The number of posts that arrived. Only new data is read, so that counting takes no time from the measured process."""
        with self.notes.open("rb") as notes:
            notes.seek(self.read)
            new = notes.read()
        self.read += len(new)
        self.counted += new.count(b"\n")
        return self.counted

    def bare(self, path: str, count: int, concurrency: int, body: bytes) -> float:
        """The posts a second of a bare libcurl loop."""
        file = pathlib.Path(self.folder.name) / "body"
        file.write_bytes(body)
        run = subprocess.run([self.posts, self.url(path), str(count), str(concurrency), file], capture_output=True, text=True, check=True)
        return float(run.stdout.split()[0])
