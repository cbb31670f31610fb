"""How ingest gets the offers of retention messages signed: concurrent ones together, or one by one with a signer of an older build."""

from __future__ import annotations

import concurrent.futures
import http.client
import http.server
import threading

import pytest

from .steps import RULES
from .system import RetentionSystem, metric, realtime_request


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    running = RetentionSystem(tmp_path_factory.mktemp("retention"), RULES)
    with running:
        yield running


class EarlierSigner:
    """A proxy in front of a signer that makes it appear as a build without `SignOffers`."""

    def __init__(self, signer) -> None:
        self.methods: list[str] = []
        earlier = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                method = self.path.rsplit("/", 1)[1]
                earlier.methods.append(method)
                path = self.path.replace("SignOffers", "SignNothing") if method == "SignOffers" else self.path
                connection = http.client.HTTPConnection("127.0.0.1", signer.port, timeout=30)
                connection.request("POST", path, body, dict(self.headers))
                answer = connection.getresponse()
                text = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def test_offers_that_are_signed_together_are_for_the_right_customers(system):
    calls = 'attribution_rpc_server_requests_total{service="attribution.signer.v1.SignerService",method="SignOffers",code="ok"}'
    before = metric(system.signer, calls)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: system.ask(realtime_request(productId="v2", originalTransactionId=str(700 + number)))[1], range(160)))
    offered = {str(700 + number): answer["promotionalOffer"] for number, answer in enumerate(answers) if "promotionalOffer" in answer}
    # On a busy machine some are too late.
    assert len(offered) >= 40
    for transaction, offer in offered.items():
        assert system.claims(offer["promotionalOfferSignatureV2"])["transactionId"] == transaction
    assert metric(system.signer, calls) > before
    assert metric(system.ingest, 'attribution_rpc_client_requests_total{target="signer",method="SignOffers",code="ok"}') > 0
    assert metric(system.signer, calls.replace("requests_total", "request_bytes_count").replace(',code="ok"', "")) > before


def test_a_signer_of_an_older_build_is_called_for_each_offer(tmp_path):
    system = RetentionSystem(tmp_path / "own", RULES)
    earlier = EarlierSigner(system.signer)
    system.ingest.environment["ATTRIBUTION_SIGNER_URL"] = earlier.url
    with system:
        # The fastest of some requests, because the first connections are being opened meanwhile.
        answers = [system.ask(realtime_request(productId="v2"))[1] for _ in range(8)]
        assert any("promotionalOffer" in answer for answer in answers), answers
        assert earlier.methods.count("SignOffers") == 1 and "SignPromotionalOfferJWS" in earlier.methods
        refused = 'attribution_rpc_client_requests_total{target="signer",method="SignOffers",code="unimplemented"}'
        assert metric(system.ingest, refused) == 1
    earlier.server.shutdown()
