"""Revocation of certificates: the real verifier queries a real responder under each policy."""

import datetime
import http.server
import json
import random
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID

from SystemTests.differential import certificates
from SystemTests.differential.certificates import ROOT, Chain
from SystemTests.faults.load import Maker
from SystemTests.faults.system import FaultSystem

VERIFIER = "verifier.v1.VerifierService"


class Responder:
    """Answers for the certificates that it knows, as their issuers would, whichever key is used."""

    def __init__(self):
        self.known: dict[int, tuple] = {}
        self.revoked: set[int] = set()
        self.forged = False
        self.queries = 0
        # Queries without an answer, while it hangs.
        self.hanging = 0
        self.answers = threading.Event()
        self.answers.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.queries += 1
                if not outer.answers.is_set():
                    outer.hanging += 1
                    outer.answers.wait()
                body = outer.answer(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Type", "application/ocsp-response")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request: bytes) -> bytes:
        serial = ocsp.load_der_ocsp_request(request).serial_number
        certified, issuer = self.known[serial]
        now = datetime.datetime.now(datetime.UTC)
        revoked = serial in self.revoked
        builder = ocsp.OCSPResponseBuilder().add_response(
            cert=certified.certificate, issuer=issuer.certificate, algorithm=hashes.SHA1(),
            cert_status=ocsp.OCSPCertStatus.REVOKED if revoked else ocsp.OCSPCertStatus.GOOD,
            this_update=now - datetime.timedelta(minutes=5), next_update=now + datetime.timedelta(hours=1),
            revocation_time=now - datetime.timedelta(days=1) if revoked else None,
            revocation_reason=x509.ReasonFlags.key_compromise if revoked else None)
        key = self.stranger.key if self.forged else issuer.key
        return builder.responder_id(ocsp.OCSPResponderEncoding.HASH, issuer.certificate).sign(key, hashes.SHA384()).public_bytes(
            certificates.Encoding.DER)

    def chain(self, name: str) -> Chain:
        """A chain whose certificates name this responder."""
        access = (x509.AuthorityInformationAccess([x509.AccessDescription(
            AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(f"http://127.0.0.1:{self.port}/"))]), False)
        authority = certificates.authority(f"{name} authority {self.port}", extra=[access])
        leaf = certificates.leaf(f"{name} leaf {self.port}", authority, extra=[access])
        self.stranger = certificates.authority(f"stranger {self.port}")
        self.known[authority.certificate.serial_number] = authority, ROOT
        self.known[leaf.certificate.serial_number] = leaf, authority
        return Chain(name, [leaf.text, authority.text, ROOT.text], leaf.key, True)

    def hang(self) -> None:
        self.answers.clear()

    def answer_again(self) -> None:
        self.answers.set()

    def close(self) -> None:
        self.answers.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def responder():
    running = Responder()
    yield running
    running.close()


def system_with(tmp_path, maker: Maker, policy: str) -> FaultSystem:
    system = FaultSystem(tmp_path, maker.apple_key)
    configuration = tmp_path / "configuration.yaml"
    configuration.write_text(configuration.read_text().replace("rootCertificates:", f"revocation: {policy}, rootCertificates:"))
    return system


def verify(verifier, maker: Maker, chain: Chain) -> dict:
    maker.chain = chain
    return verifier.call(VERIFIER, "VerifyAppStoreSignedData", {
        "signedData": json.loads(maker.notification().body)["signedPayload"], "kind": "notification"})


def test_the_policy_required_accepts_only_signed_responses_and_queries_once_until_they_expire(tmp_path, responder):
    maker = Maker(random.Random(5))
    good, revoked, forged = (responder.chain(name) for name in ("good", "revoked", "forged"))
    responder.revoked.add(next(number for number, (one, _) in responder.known.items() if one.name.startswith("revoked leaf")))
    system = system_with(tmp_path, maker, "required")
    ingest, verifier = system.service("ingest"), system.service("verifier")
    with system:
        assert verify(verifier, maker, good)["valid"]
        queries = responder.queries
        assert queries >= 1
        # The same certificates again: the answer is cached until it expires.
        assert all(verify(verifier, maker, good)["valid"] for _ in range(3)) and responder.queries == queries
        verdict = verify(verifier, maker, revoked)
        assert not verdict.get("valid") and verdict["reason"] == "certificate_revoked", verdict
        responder.forged = True
        verdict = verify(verifier, maker, forged)
        assert not verdict.get("valid") and verdict["reason"] == "revocation_unknown", verdict
        responder.forged = False
        # The queue gives the same result: one event each.
        for chain in (good, revoked):
            maker.chain = chain
            delivery = maker.notification()
            assert ingest.post(delivery.path, delivery.body)[0] == 200
        system.wait_until_worked()
        types = sorted((event["type"], event["data"].get("reason")) for event in system.events()
                       if event["type"].startswith("appstore.notification."))
        assert types == [("appstore.notification.rejected.v1", "certificate_revoked"), ("appstore.notification.verified.v1", None)], types
        # The alert CertificateRevoked reads this series.
        assert verifier.metric('attribution_revocation_total{decision="certificate_revoked"}') >= 1
        # A revocation may be withdrawn, so the same bytes are verified again.
        assert json.loads(ingest.post(delivery.path, delivery.body)[2])["status"] == "accepted"


@pytest.mark.parametrize("policy, valid", [("required", False), ("whenReachable", True), ('"off"', True)])
def test_an_unreachable_responder_causes_a_rejection_only_under_the_policy_required(tmp_path, responder, policy, valid):
    maker = Maker(random.Random(6))
    chain = responder.chain("away")
    responder.close()
    system = system_with(tmp_path, maker, policy)
    verifier = system.service("verifier")
    with system:
        verdict = verify(verifier, maker, chain)
        assert verdict.get("valid", False) == valid, verdict
        assert valid or verdict["reason"] == "revocation_unknown", verdict
