"""Services and a Redis for one test, which are killed or get no disk space, and are restarted as an orchestrator would restart them."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import pathlib
import resource
import ssl
import threading
import time
from typing import Any

import redis
from cryptography.hazmat.primitives.serialization import Encoding

from SystemTests.differential.certificates import ROOT as APP_STORE_ROOT
from SystemTests.support.free_ports import free_port

from .process import TOKEN, Process, Service

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARIES = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug")
SHARDS = range(256)
# The keys of one shard of a queue: ready or leased, delayed, dead.
COUNT = """return {redis.call('XLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2]), redis.call('ZCARD', KEYS[3]), redis.call('XLEN', KEYS[4])}"""


class FaultSystem:
    """Redis and services on random loopback ports. `queues` is this part of the configuration, and `more` further lines of it. `store`
    replaces the single Redis: it has `url` and `variables` for the services, a `client` that reads, `start` and `stop`."""

    def __init__(
        self, folder: pathlib.Path, apple_key: str, queues: str = "{ lease: 2s, workerTimeout: 2s }", more: str = "", store: Any = None
    ) -> None:
        self.folder, self.store = folder, store
        folder.mkdir(parents=True, exist_ok=True)
        self.redis_port = free_port()
        self.redis_folder = folder / "redis"
        self.redis_folder.mkdir()
        self.redis = Process("redis", [
            "redis-server", "--port", self.redis_port, "--bind", "127.0.0.1", "--dir", self.redis_folder, "--appendonly", "yes",
            "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", ""], dict(os.environ), folder / "redis.log")
        (folder / "root.der").write_bytes(APP_STORE_ROOT.certificate.public_bytes(Encoding.DER))
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        (folder / "configuration.yaml").write_text(
            f'appleKeys: {{ p256: ["{apple_key}"] }}\n'
            f"appStore: {{ gapPatience: 1s, rootCertificates: [ {folder / 'root.der'} ] }}\n"
            "apps: [ { bundleId: com.example.app, appAppleId: 525463029, environments: [Production, Sandbox] } ]\n"
            f"queues: {queues}\n{more}"
            f'clients: [ {{ name: tests, tokenSHA256: "{digest}", allow: ["*"] }} ]\n')
        self.services: list[Service] = []
        self.simulator: Process | None = None
        self.ending = threading.Event()
        self.keeper = threading.Thread(target=self._keep, daemon=True)
        self.client = store.client if store else redis.Redis(port=self.redis_port, socket_timeout=30)

    def service(self, executable: str, redis_port: int | None = None, binaries: pathlib.Path = BINARIES, *, host: str = "127.0.0.1",
                prefix: list[str] | None = None, **variables: str) -> Service:
        """Adds a service. `prefix` is a command that runs it in another environment, where its address is `host`."""
        number = sum(1 for service in self.services if service.name.startswith(executable)) + 1
        port, public = free_port(), free_port() if executable == "ingest" else None
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTRIBUTION_")}
        environment |= {"ATTRIBUTION_CONFIG": str(self.folder / "configuration.yaml"), "ATTRIBUTION_LISTEN": f"{host}:{port}",
                        "ATTRIBUTION_REDIS_URL": f"redis://127.0.0.1:{redis_port or self.redis_port}/0",
                        "ATTRIBUTION_DRAIN_DELAY_MS": "100", "ATTRIBUTION_LOG_LEVEL": "info"}
        if self.store:
            environment |= {"ATTRIBUTION_REDIS_URL": self.store.url, **self.store.variables}
        environment |= variables
        if public:
            environment["ATTRIBUTION_PUBLIC_LISTEN"] = f"{host}:{public}"
        name = f"{executable}-{number}"
        self.services.append(Service(
            name, [*(prefix or []), binaries / executable], environment, self.folder / f"{name}.log", port, public, host))
        return self.services[-1]

    def start_simulator(self) -> dict[str, str]:
        """Starts a simulator of Apple and of the hosts of sessions; returns the variables with which services use it. Apple attributes
        every token. One session in five is refused at first."""
        port = self.simulator_port = free_port()
        state = self.folder / "simulator"
        self.simulator = Process("simulator", [BINARIES / "apple-simulator", "--listen", f"127.0.0.1:{port}", "--state", state],
                                 dict(os.environ), self.folder / "simulator.log")
        self.simulator.start()
        for _ in range(300):
            try:
                self.control("/control/adservices/default", {"status": 200, "body": {
                    "attribution": True, "orgId": 1, "campaignId": 2, "conversionType": "Download", "adGroupId": 3,
                    "countryOrRegion": "US", "keywordId": 4, "adId": 5}})
                self.control("/control/faults", {"route": "consent", "percentage": 20, "status": 503})
                return {"ATTRIBUTION_ADSERVICES_URL": f"https://127.0.0.1:{port}/api/v1/",
                        "ATTRIBUTION_CONSENT_CONNECT_TO": f"127.0.0.1:{port}",
                        "ATTRIBUTION_CA_FILE": str(state / "tls-ca.pem")}
            except (OSError, ssl.SSLError):
                time.sleep(0.1)
        raise RuntimeError("the simulator did not start: " + self.simulator.log())

    def control(self, path: str, body: dict | None = None) -> dict:
        context = ssl.create_default_context(cafile=str(self.folder / "simulator" / "tls-ca.pem"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.simulator_port, timeout=30, context=context)
        try:
            connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status < 300, (path, answer.status, text[:500])
            return json.loads(text or b"{}")
        finally:
            connection.close()

    def start(self) -> None:
        (self.store or self.redis).start()
        self.wait_for_redis()
        for service in self.services:
            service.start()
        self.keeper.start()
        for service in self.services:
            self.wait_until_ready(service)

    def wait_for_redis(self, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if self.client.ping():
                    return
            except redis.RedisError:
                time.sleep(0.05)
        raise RuntimeError("Redis does not answer: " + self.redis.log()[-2000:])

    def wait_until_ready(self, service: Service, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if service.is_ready():
                return
            time.sleep(0.05)
        raise RuntimeError(f"{service.name} is not ready: " + service.log()[-3000:])

    def _keep(self) -> None:
        while not self.ending.wait(0.1):
            for one in [*([] if self.store else [self.redis]), *self.services]:
                if not one.is_held and not one.is_running():
                    one.start()

    def stop(self) -> None:
        self.ending.set()
        if self.keeper.is_alive():
            self.keeper.join()
        for one in [*self.services, *([self.simulator] if self.simulator else []), *([] if self.store else [self.redis])]:
            one.end()
        if self.store:
            self.store.stop()
        self.client.close()

    def __enter__(self) -> FaultSystem:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- the data in Redis ---------------------------------------------------------------------------------------

    def fill_disk(self, room: int) -> None:
        """Lets Redis write only `room` more bytes to its file."""
        sizes = [path.stat().st_size for path in (self.redis_folder / "appendonlydir").glob("*.incr.aof")]
        if self.redis.is_running():
            resource.prlimit(self.redis.pid, resource.RLIMIT_FSIZE, (max(sizes, default=0) + room, resource.RLIM_INFINITY))

    def free_disk(self) -> None:
        if self.redis.is_running():
            resource.prlimit(self.redis.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def events(self) -> list[dict]:
        """Every event of the feed as stored in Redis, shard by shard and in order within each."""
        found: dict[int, list[dict]] = {shard: [] for shard in SHARDS}
        following: dict[int, str | bytes] = dict.fromkeys(SHARDS, "-")
        while following:
            pipeline = self.client.pipeline(transaction=False)
            for shard, start in following.items():
                pipeline.xrange(f"{{attr:{shard:03d}}}:events", start, "+", 500)
            pages = dict(zip(following, pipeline.execute(), strict=True))
            for shard, entries in pages.items():
                found[shard] += [json.loads(fields[b"e"]) for _, fields in entries]
            following = {shard: b"(" + entries[-1][0] for shard, entries in pages.items() if len(entries) == 500}
        return [event for shard in SHARDS for event in found[shard]]

    def event_count(self) -> int:
        pipeline = self.client.pipeline(transaction=False)
        for shard in SHARDS:
            pipeline.xlen(f"{{attr:{shard:03d}}}:events")
        return sum(pipeline.execute())

    def states(self, ids: list[str]) -> dict[str, str]:
        """The state of each delivery."""
        found = {}
        for start in range(0, len(ids), 5000):
            pipeline = self.client.pipeline(transaction=False)
            part = ids[start:start + 5000]
            for one in part:
                pipeline.get(f"{{attr:{one[:3]}}}:r:{one[4:]}")
            found |= {one: json.loads(record)["s"] if record else "unknown" for one, record in zip(part, pipeline.execute(), strict=True)}
        return found

    def unfinished(self, *queues: str) -> dict[str, int]:
        """Messages ready, leased or waiting by deadline, delayed, and dead. A queue's shard is counted at one moment, so that a message
        that moves within it is not missed."""
        counts = {"ready": 0, "delayed": 0, "dead": 0}
        for queue in queues or ("intake", "tokens", "sessions"):
            pipeline = self.client.pipeline(transaction=False)
            for shard in SHARDS:
                key = f"{{attr:{shard:03d}}}:q:{queue}"
                pipeline.eval(COUNT, 4, key, key + ":deadlines", key + ":delayed", key + ":dead")
            for ready, delayed, dead in pipeline.execute():
                counts["ready"] += ready
                counts["delayed"] += delayed
                counts["dead"] += dead
        return counts

    def wait_until_worked(self, seconds: float = 120) -> None:
        until = time.monotonic() + seconds
        while (left := self.unfinished()) and left["ready"] + left["delayed"] and time.monotonic() < until:
            time.sleep(0.2)
        assert left["ready"] + left["delayed"] == 0, left
