"""The order of a subscription's notifications, across verifiers that work, are killed, and wait for a responder that hangs."""

import asyncio
import random
import signal
import socket
import threading

import pytest
from cryptography import x509
from cryptography.x509.oid import AuthorityInformationAccessOID

from SystemTests.differential import certificates
from SystemTests.differential.certificates import ROOT, Chain
from SystemTests.faults.load import Connection, Ledger, Maker, deliver
from SystemTests.faults.system import FaultSystem

from .guarantee_steps import LOAD_FACTOR, QUEUES, check, eventually, post


@pytest.fixture
def maker():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return Maker(random.Random(seed))


class HangingResponder:
    """An OCSP responder that accepts connections and never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                self.connections.append(self.socket.accept()[0])
            except OSError:
                return

    def has_client(self) -> bool:
        """Whether a client waits for an answer now. A killed process has closed its connection."""
        for one in list(self.connections):
            try:
                while one.recv(4096, socket.MSG_DONTWAIT):
                    pass
            except BlockingIOError:
                return True
            except OSError:
                pass
            self.connections.remove(one)
        return False

    def close(self) -> None:
        self.socket.close()
        for one in self.connections:
            one.close()


def hanging_chain(port: int) -> Chain:
    """A chain whose leaf names this responder."""
    access = x509.AuthorityInformationAccess([x509.AccessDescription(
        AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(f"http://127.0.0.1:{port}/"))])
    authority = certificates.authority(f"promise authority {port}", extra=[(access, False)])
    leaf = certificates.leaf(f"promise leaf {port}", authority, extra=[(access, False)])
    return Chain("hanging", [leaf.text, authority.text, ROOT.text], leaf.key, True)


def test_a_message_whose_workers_die_during_a_revocation_check_keeps_its_order(tmp_path, maker):
    responder = HangingResponder()
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 1s, workerTimeout: 1s, maxDeliveries: 3 }")
    configuration = tmp_path / "configuration.yaml"
    configuration.write_text(configuration.read_text().replace("rootCertificates:", "revocation: required, rootCertificates:"))
    ingest, verifier = system.service("ingest"), system.service("verifier")
    ledger = Ledger()
    plain, maker.chain = maker.chain, hanging_chain(responder.port)
    with system:
        first = post(ingest, maker.notification("777"))
        maker.chain = plain
        second = post(ingest, maker.notification("777"))
        # A query to the responder does not count as an attempt that may have killed a worker, because it runs in the background. So the
        # message survives more kills than maxDeliveries allows.
        for _ in range(4):
            pid = verifier.pid
            eventually("the responder has a query", responder.has_client)
            verifier.signal(signal.SIGKILL)
            verifier.process.wait()
            eventually("another verifier starts", lambda pid=pid: verifier.is_running() and verifier.pid != pid)
            for _ in range(4):
                post(ingest, maker.postback(), ledger)
        eventually("all postbacks are processed", lambda: set(system.states(list(ledger.deliveries)).values()) == {"verified"})
        assert system.states([first, second]) == {first: "accepted", second: "accepted"}
        system.wait_until_ready(verifier)
        assert not verifier.call(QUEUES, "ListDeadLetters", {"queue": "intake"}).get("deadLetters")
        # Both wait: the first for an answer, the other until the first is processed, or for an answer to its own query.
        delayed = f"{{attr:{first[:3]}}}:q:intake:delayed"
        eventually("both wait", lambda: system.client.zcard(delayed) == 2)
    responder.close()


def test_notifications_of_a_subscription_stay_in_order_across_several_verifiers(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 1s, workerTimeout: 1s, maxDeliveries: 1000 }")
    ingests = [system.service("ingest"), system.service("ingest")]
    verifiers = [system.service("verifier") for _ in range(3)]
    ledger = Ledger()

    async def send(order: str, count: int, dice: random.Random) -> None:
        connection = Connection([ingest.public_port for ingest in ingests], dice)
        for _ in range(count):
            connection.close()
            await deliver(connection, maker.notification(order), ledger)
        connection.close()

    async def disturb(dice: random.Random) -> None:
        for _ in range(2 * LOAD_FACTOR):
            one = dice.choice(verifiers)
            one.signal(number := dice.choice([signal.SIGSTOP, signal.SIGKILL]))
            await asyncio.sleep(1.5 if number == signal.SIGSTOP else 0.5)
            one.signal(signal.SIGCONT)

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(6):
                group.create_task(send(str(10 ** 14 + number), 25 * LOAD_FACTOR, random.Random(maker.dice.random())))
            group.create_task(disturb(random.Random(maker.dice.random())))

    with system:
        asyncio.run(play())
        counts = check(system, ledger)
    assert counts["notifications"] == 150 * LOAD_FACTOR and counts["subscriptions in order"] == 6, counts
