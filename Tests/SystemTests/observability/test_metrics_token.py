"""A token for /metrics: it is required if the configuration has its digest, and replaced without a restart."""

import hashlib
import http.client
import json
import signal
import time

from SystemTests.support.signer_process import TOKEN, SignerProcess


def settings(*tokens: str) -> str:
    digests = ", ".join(f'"{hashlib.sha256(token.encode()).hexdigest()}"' for token in tokens)
    return f"metrics: {{ tokenSHA256: [{digests}] }}\n" if tokens else ""


def scrape(signer: SignerProcess, token: str | None = None) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", signer.port, timeout=20)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, body


def test_a_configured_token_is_required_and_can_be_replaced(tmp_path):
    first, second = "the-first-token-of-prometheus", "the-second-token-of-prometheus"
    with SignerProcess(tmp_path, settings(first)) as signer:
        # A caller's token does not open the metrics, and the metrics' token calls nothing.
        for token in (None, "another-token-of-nobody", TOKEN):
            status, headers, body = scrape(signer, token)
            assert status == 401 and headers["www-authenticate"] == "Bearer", (token, headers)
            assert json.loads(body)["code"] == "unauthenticated" and "metrics.tokenSHA256" in body
        status, _, body = scrape(signer, first)
        assert status == 200 and "attribution_build_info" in body
        assert signer.get("/readyz")[0] == signer.get("/livez")[0] == 200
        assert signer.rpc("ListSigningKeys", {})[0] == 200

        signer.write(settings(first, second))
        signer.process.send_signal(signal.SIGHUP)
        wait_until(lambda: scrape(signer, second)[0] == 200)
        assert scrape(signer, first)[0] == 200

        signer.write(settings(second))
        signer.process.send_signal(signal.SIGHUP)
        wait_until(lambda: scrape(signer, first)[0] == 401)
        assert scrape(signer, second)[0] == 200

        signer.write("")
        signer.process.send_signal(signal.SIGHUP)
        wait_until(lambda: scrape(signer)[0] == 200)


def wait_until(condition) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_an_invalid_digest_prevents_the_start(tmp_path):
    code, words = SignerProcess(tmp_path, 'metrics: { tokenSHA256: "not-a-digest" }\n').end_of_start()
    assert code == 78 and "metrics.tokenSHA256" in words and "SHA-256" in words
