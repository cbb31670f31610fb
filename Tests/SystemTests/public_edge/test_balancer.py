"""No client is affected when instances stop and restart behind a real HAProxy with the configuration of Deploy/haproxy."""

import http.client
import json
import os
import pathlib
import signal
import ssl
import subprocess
import threading
import time
import uuid

import pytest

from SystemTests.support.free_ports import free_port
from SystemTests.support.ingest_process import IngestProcess
from SystemTests.support.running_system import ROOT

CONFIGURATION = ROOT / "Deploy" / "haproxy" / "static.cfg"
HAPROXY = "/usr/sbin/haproxy"
pytestmark = pytest.mark.skipif(not os.access(HAPROXY, os.X_OK), reason="haproxy is not installed (Deploy/test installs it)")


class Balancer:
    def __init__(self, folder: pathlib.Path, instances: list[tuple[int, int]], *, public_servers: str = ""):
        """`public_servers`: additional words for the servers of the public port."""
        self.configuration = folder / "haproxy.cfg"
        section = "\nbackend ingest_public\n"
        whole = CONFIGURATION.read_text()
        assert section in whole
        self.configuration.write_text(whole.replace(section, f"{section}  default-server {public_servers}\n") if public_servers else whole)
        self.port, self.internal_port = free_port(), free_port()
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=edge.example", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
        both = folder / "public.pem"
        both.write_text(certificate.read_text() + key.read_text())
        self.environment = {
            **os.environ, "MAX_CONNECTIONS": "1000", "PUBLIC_ADDRESS": f"127.0.0.1:{self.port}", "PUBLIC_CERTIFICATE": str(both),
            "INGEST_ADDRESS": f"127.0.0.1:{self.internal_port}", "SIGNER_ADDRESS": f"127.0.0.1:{free_port()}",
            "VERIFIER_ADDRESS": f"127.0.0.1:{free_port()}"}
        for number, (public, internal) in enumerate(instances, 1):
            self.environment |= {f"INGEST_{number}_ADDRESS": f"127.0.0.1:{public}", f"INGEST_{number}_INTERNAL_PORT": str(internal),
                                 f"INGEST_{number}_INTERNAL_ADDRESS": f"127.0.0.1:{internal}"}
        self.log = (folder / "haproxy.log").open("wb")

    def __enter__(self) -> "Balancer":
        check = subprocess.run([HAPROXY, "-c", "-f", self.configuration], env=self.environment, capture_output=True, text=True, check=False)
        assert check.returncode == 0, check.stderr
        self.process = subprocess.Popen([HAPROXY, "-f", self.configuration], env=self.environment, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        until = time.monotonic() + 30
        while True:
            try:
                if post(self.connection(), "/v1/nothing", b"{}")[0] == 404:
                    return self
            except OSError:
                pass
            assert time.monotonic() < until and self.process.poll() is None, "haproxy does not serve"
            time.sleep(0.1)

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()

    def connection(self, source: str | None = None) -> http.client.HTTPSConnection:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context, source_address=source and (source, 0))


def post(connection: http.client.HTTPConnection, path: str, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    connection.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})})
    response = connection.getresponse()
    return response.status, response.read()


class Load:
    """Clients that send each request only once, so that each error is a failure."""

    def __init__(self, balancer: Balancer, token: str):
        self.balancer, self.token, self.stopping = balancer, token, threading.Event()
        self.ids: list[str] = []
        self.calls = 0
        self.failures: list[object] = []
        self.threads = [threading.Thread(target=self.guarded, args=(work,)) for work in [self.deliver] * 6 + [self.call] * 2]

    def guarded(self, work) -> None:
        while not self.stopping.is_set():
            try:
                work()
            except Exception as error:  # noqa: BLE001 whatever it is, it is a failed request
                self.failures.append(repr(error))

    def deliver(self) -> None:
        connection = self.balancer.connection()
        for number in range(10_000):
            if self.stopping.is_set():
                break
            if number % 5 == 0:
                path, expected = "/v1/sessions", 202
                body = {"bundleId": "com.example.app", "installId": uuid.uuid4().hex, "attStatus": 2}
            else:
                path, expected = "/v1/postbacks", 200
                body = {"version": "4.0", "ad-network-id": "example123.skadnetwork", "transaction-id": str(uuid.uuid4()),
                        "attribution-signature": "AA=="}
            status, answer = post(connection, path, json.dumps(body).encode())
            if status == expected:
                self.ids.append(json.loads(answer)["id"])
            else:
                self.failures.append((path, status, answer))
        connection.close()

    def call(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.balancer.internal_port, timeout=60)
        while not self.stopping.is_set():
            status, answer = post(connection, "/attribution.queues.v1.QueuesService/ListQueues", b'{"queue":"sessions"}',
                                  {"Authorization": f"Bearer {self.token}"})
            if status == 200:
                self.calls += 1
            else:
                self.failures.append(("ListQueues", status, answer))
        connection.close()

    def __enter__(self) -> "Load":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def wait_for_more(self, count: int = 200) -> None:
        """Waits until this number of additional requests was answered."""
        aim, until = len(self.ids) + count, time.monotonic() + 60
        while len(self.ids) < aim:
            assert time.monotonic() < until, f"no request is answered: {self.failures[:5]}"
            time.sleep(0.05)


def start(system, folder: pathlib.Path, ports: tuple[int, int] | None = None) -> IngestProcess:
    folder.mkdir(exist_ok=True)
    # The drain time is longer than the balancer needs to notice the missing readiness: it checks twice a second.
    return IngestProcess(system, folder, settings="edge: { trustedProxies: [127.0.0.1] }\n", drain_milliseconds=3000, ports=ports)


def test_instances_stop_and_restart_under_load_and_no_request_fails(system, tmp_path):
    instances = [start(system, tmp_path / "1"), start(system, tmp_path / "2")]
    try:
        for instance in instances:
            instance.__enter__()
        with Balancer(tmp_path, [(one.port, one.internal_port) for one in instances]) as balancer, Load(balancer, system.token) as load:
            load.wait_for_more()
            for index, instance in enumerate(instances):
                instance.process.send_signal(signal.SIGTERM)
                # The instance is not ready, and still serves.
                until = time.monotonic() + 2
                while instance.get("/readyz") != 503:
                    assert time.monotonic() < until
                assert instance.process.wait(60) == 0, instance.log()
                load.wait_for_more()
                instances[index] = start(system, tmp_path / str(index + 1), (instance.port, instance.internal_port))
                instances[index].__enter__()
                load.wait_for_more()
                time.sleep(1.5)  # the balancer checks again
        assert load.failures == []
        assert len(load.ids) == len(set(load.ids)) and len(load.ids) > 1000 and load.calls > 10
        print(f"{len(load.ids)} deliveries and {load.calls} calls, none failed")
        until = time.monotonic() + 60
        while True:
            queue = system.call("attribution.queues.v1.QueuesService", "ListQueues", {"queue": "sessions"}, base=system.url("Ingest"))["queues"][0]
            if not any(queue.get(name, 0) for name in ("depth", "inFlight")):
                break
            assert time.monotonic() < until, f"a stopped instance has kept leases: {queue}"
            time.sleep(0.2)
        assert len({one for one in load.ids if delivery_is_known(system, one)}) == len(load.ids)
    finally:
        for instance in instances:
            instance.__exit__()


def delivery_is_known(system, id: str) -> bool:
    return system.rpc("Ingest", "GetDelivery", {"id": id}).status == 200


def test_errors_of_the_balancer_are_500_only_for_postbacks(tmp_path):
    """No instance runs here. A device sends its postback again only after 500."""
    balancer = Balancer(tmp_path, [(free_port(), free_port()), (free_port(), free_port())])
    balancer.process = subprocess.Popen([HAPROXY, "-f", balancer.configuration], env=balancer.environment, stdin=subprocess.DEVNULL,
                                        stdout=balancer.log, stderr=balancer.log)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                statuses = [post(balancer.connection(), path, b"{}")[0] for path in (
                    "/v1/postbacks", "/v1/postbacks/example123.skadnetwork", "/.well-known/skadnetwork/report-attribution/",
                    "/.well-known/appattribution/report-attribution", "/v1/sessions", "/v1/app-store/notifications")]
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.1)
        assert statuses == [500] * 4 + [503] * 2
    finally:
        balancer.__exit__()
