"""A system whose recovery takes seconds: short heartbeats and leases, and Apple's retry schedule accelerated."""

import contextlib
import http.server
import os
import pathlib
import signal
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from client import Subscription
from SystemTests.support.running_system import System, start_system, stop_system

APP = "com.example.app"
VERIFIED = "appstore.notification.verified.v1"
# An hour of Apple's schedule is ten seconds.
SCALE = 360
SETTINGS = """
queues: {{ workerTimeout: 2s }}
recovery:
  lease: 2s
  heartbeat: 200ms
  outageAfter: 2s
  retryPatience: 10s
  retryMargin: 1s
  silenceAfter: 8s
  parallelPages: {pages}
  rates: {{ getNotificationHistory: {rate}, getTestNotificationStatus: 0.01 }}
"""


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


@contextlib.contextmanager
def recovery_system(data: pathlib.Path, pages: int = 16, rate: int = 50, more: str = "") -> Iterator[System]:
    """Starts a system, adds SETTINGS and `more` to the configuration of Deploy/up, and restarts the services that read them."""
    system = start_system(data)
    try:
        with (data / "configuration.yaml").open("a") as file:
            file.write(SETTINGS.format(pages=pages, rate=rate) + more)
        command = data / f"run-{system.port_base}" / "notification-recovery.command"
        command.write_text(
            f"export ATTRIBUTION_DEVELOPMENT=1\nexport ATTRIBUTION_TIME_SCALE={SCALE}\n" + command.read_text())
        for name in ("notification-recovery", "ingest"):
            system.service("stop", name)
            system.service("start", name)
        system.control("/control/time-scale", {"scale": SCALE})
        yield system
    finally:
        stop_system(system)


class SecondInstance:
    """Another notification-recovery on the same Redis."""

    def __init__(self, system: System) -> None:
        self.system, self.name = system, "notification-recovery"
        run = system.data / f"run-{system.port_base}"
        self.port = system.port_base + 16
        text = (run / f"{self.name}.command").read_text()
        command = text.replace(f"ATTRIBUTION_LISTEN=127.0.0.1:{system.port_base + 13}", f"ATTRIBUTION_LISTEN=127.0.0.1:{self.port}")
        assert command != text
        self.log = (run / "second.log").open("wb")
        self.process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        for _ in range(300):
            with contextlib.suppress(OSError):
                if system.request("GET", f"http://127.0.0.1:{self.port}/readyz").status == 200:
                    return
            time.sleep(0.1)
        self.end()
        raise RuntimeError("the second instance did not start")

    def call(self, method: str, message: dict) -> dict:
        answer = self.system.rpc("Recovery", method, message, base=f"http://127.0.0.1:{self.port}", key=uuid.uuid4().hex)
        assert answer.status == 200, answer
        return answer.json

    def leads(self) -> bool:
        return b"leads an app" in pathlib.Path(self.log.name).read_bytes()

    def leader_pid(self) -> int:
        """The process id of the service itself, because bash was replaced by it."""
        return self.process.pid

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def make(system: System, type: str, environment: str = "Production", **more: Any) -> dict:
    """Creates notifications in the simulator; by default it also sends them."""
    return system.control("/control/notifications", {"bundleId": APP, "environment": environment, "notificationType": type, **more})


def start(system: System, first: float, last: float, environment: str = "Production", **more: Any) -> str:
    """Starts a recovery of the time from `first` to `last`, in seconds; returns its id."""
    return system.call("Recovery", "StartRecovery", {
        "bundleId": APP, "environment": environment, "startDate": stamp(first), "endDate": stamp(last), **more},
        key=uuid.uuid4().hex)["recoveryId"]


def ended(system: System, recovery: str, seconds: float = 60, every: float = 0.2) -> dict:
    """Waits until the recovery is not running, at most this time; returns its progress."""
    until = time.monotonic() + seconds
    while True:
        progress = system.call("Recovery", "GetRecovery", {"recoveryId": recovery})
        assert 0 <= progress["progress"] <= 1, progress
        if progress["state"] != "running" or time.monotonic() > until:
            return progress
        time.sleep(every)


def outages(system: System, since: float, environment: str) -> list[dict]:
    """The recoveries of outages that began after that time, newest first."""
    recoveries = system.call("Recovery", "ListRecoveries", {"bundleId": APP, "maxRecoveries": 1000}).get("recoveries", [])
    return [recovery for recovery in recoveries if recovery["origin"] == "outage" and recovery["environment"] == environment
            and recovery["startDate"] >= stamp(since)]


def metric(system: System, series: str) -> float:
    """A counter of the service's own instance; 0 if it was never counted."""
    text = system.request("GET", system.url("Recovery") + "/metrics").body.decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(series + " "))


def wait_for(what: Callable[[], Any], seconds: float = 40, every: float = 0.2) -> Any:
    """Waits for the first true answer."""
    until = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < until:
        time.sleep(every)
    return found


def uuids(events: list[dict]) -> list[str]:
    return sorted(event["data"]["payload"]["notificationUUID"] for event in events)


@contextlib.contextmanager
def listener(handler: Callable[[bytes], int], certificate: pathlib.Path | None = None) -> Iterator[int]:
    """An HTTP server of the test, with TLS if it has a certificate; yields its port."""
    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(handler(body))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # a client that refuses our certificate is expected

    server = Server(("127.0.0.1", 0), Quiet)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# --- a day's outage ------------------------------------------------------------------------------------------------------

DAY = 86400
# Only the notifications: their signatures are verified, and other tests cover the histories of purchases.
BARE = {"signedTransactionInfo": None, "signedRenewalInfo": None, "status": None}


def missed_ones(system: System, count: int, first: float) -> set[str]:
    """The UUIDs of this number of notifications of a day, evenly spread, of three types, none of them sent."""
    made: set[str] = set()
    kinds = [("DID_RENEW", None, 0.6), ("EXPIRED", "VOLUNTARY", 0.1), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", 0.3)]
    for type, subtype, share in kinds:
        wanted = round(count * share)
        while wanted > 0:
            batch = min(5000, wanted)
            made |= set(make(
                system, type, **({"subtype": subtype} if subtype else {}), count=batch, brief=True, data=BARE, send=False,
                signedDate=int(first * 1000) + len(made) % 977, spreadMilliseconds=DAY * 1000 - 1000)["notifications"])
            wanted -= batch
    assert len(made) == count
    return made


def slow_and_failing(system: System, percentage: int = 10, milliseconds: int = 40) -> None:
    """Delays each of Apple's answers, and makes this percentage of them fail."""
    if percentage:
        system.control("/control/faults", {
            "route": "notificationHistory", "percentage": percentage, "seed": 5, "status": 500, "delayMilliseconds": milliseconds,
            "body": {"errorCode": 5000000, "errorMessage": "An unknown error occurred."}})
    system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": milliseconds})


def answered(system: System, first: float, last: float) -> int:
    """The pages of a window that Apple returned, without answers of scripted failures."""
    calls = system.control("/control/app-store-calls?limit=1000000")["calls"]
    return sum(1 for call in calls if call["path"].endswith("/notifications/history") and call["status"] == 200
               and first * 1000 <= call["body"]["startDate"] < last * 1000)


def drain(feed: Subscription, expected: int, seconds: float) -> list[str]:
    """The UUIDs of the notifications that became events; one with two events is there twice."""
    seen: dict[str, str] = {}
    until = time.monotonic() + seconds
    while len(seen) < expected and time.monotonic() < until:
        for event in feed.pull(most=1000, wait=2):
            seen[event["id"]] = event["data"]["payload"]["notificationUUID"]
    for event in feed.pull(most=1000, wait=2):
        seen[event["id"]] = event["data"]["payload"]["notificationUUID"]
    return list(seen.values())


def recover_outage_of_a_day(system: System, count: int, fresh_count: int, timeout: float) -> dict:
    """A day's outage is recovered while new notifications arrive, an instance is killed and a tenth of Apple's answers fail."""
    first = time.time() - 3 * DAY
    missed = missed_ones(system, count, first)
    # First notifications of a purchase, so that no earlier ones are looked up.
    fresh = make(system, "SUBSCRIBED", subtype="INITIAL_BUY", count=fresh_count, send=False)["notifications"]
    feed = system.subscribe([VERIFIED])
    second = SecondInstance(system)
    refused: list = []

    def keep_arriving() -> None:
        for notification in fresh:
            answer = system.post("/v1/app-store/notifications", {"signedPayload": notification["signedPayload"]})
            if answer.status != 200:
                refused.append(answer)
            time.sleep(0.02)

    arriving = threading.Thread(target=keep_arriving)
    try:
        slow_and_failing(system)
        arriving.start()
        began = time.monotonic()
        recovery = start(system, first, first + DAY)
        leader_is_second = second.leads()

        def progress() -> dict:
            if leader_is_second:
                return system.call("Recovery", "GetRecovery", {"recoveryId": recovery})
            return second.call("GetRecovery", {"recoveryId": recovery})

        while (now := progress())["state"] == "running" and now.get("fetched", 0) < count * 0.3:
            time.sleep(0.1)
        assert now["state"] == "running", now
        # The leader is killed while it processes pages.
        os.kill(second.leader_pid() if leader_is_second else system.pid("notification-recovery"), signal.SIGKILL)
        while (now := progress())["state"] == "running" and time.monotonic() < began + timeout:
            time.sleep(0.2)
        seconds = time.monotonic() - began
        arriving.join()
        assert now["state"] == "completed" and now["progress"] == 1 and not refused, (now, refused[:1])
        pages = answered(system, first - 3600, first + DAY + 3600)
        wanted = missed | {notification["notificationUUID"] for notification in fresh}
        return {"first": first, "recovery": now, "seconds": seconds, "pages": pages, "fewest": -(-count // 20), "wanted": wanted,
                "events": drain(feed, len(wanted), timeout)}
    finally:
        system.control("/control/faults", {"clear": True})
        second.end()
        system.service("start", "notification-recovery")
        feed.delete()
