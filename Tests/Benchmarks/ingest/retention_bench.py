"""Retention messages in real time: answers with a signed offer, compared with the sum of the times that one core needs for the HTTP echo,
for the verification of the request with a known chain, and for one signature."""

from __future__ import annotations

import base64
import http.client
import json
import pathlib
import random
import tempfile
import time
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from Benchmarks.bench import LOAD_CORE, NO_REWRITES, SERVER_CORE, TOKEN, Redis, Report, Server, free_port, median, openssl_speed, shown
from Benchmarks.native.programs import Native
from Benchmarks.queue.queue_bench import busy
from Benchmarks.signatures.signed_data import BUNDLE, ROOT, chain

APP_ID = 525463029
PATH = f"/v1/app-store/retention/{BUNDLE}"
MESSAGE = "2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0001"
CONNECTIONS = 32
# More than can be answered in a second.
REQUESTS_A_SECOND = 12_000
RULES = f"""
    retention:
      rules: [ {{ name: all, answers: [ {{ promotionalOffer: {{ message: {MESSAGE}, offer: stay }} }} ] }} ]
retention: {{ unknownMessages: trust, maximumAge: 1d }}
queues: {{ backlogBound: 1000000000 }}
"""


def text(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def requests(file: pathlib.Path, count: int) -> None:
    """Writes this number of bodies, one per line, each with its own identifier."""
    signer = chain("bench", "one", "one")
    head = text(json.dumps({"alg": "ES256", "x5c": signer.x5c}).encode())
    dice = random.Random(26)
    now = int(time.time() * 1000)
    with file.open("w") as lines:
        for number in range(count):
            payload = {"originalTransactionId": str(10 ** 14 + number), "appAppleId": APP_ID, "productId": "com.example.gold",
                       "userLocale": "en-US", "requestIdentifier": str(uuid.UUID(int=dice.getrandbits(128), version=4)),
                       "environment": "Sandbox", "signedDate": now}
            signed = f"{head}.{text(json.dumps(payload).encode())}"
            r, s = utils.decode_dss_signature(signer.key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
            lines.write(f'{{"signedPayload":"{signed}.{text(r.to_bytes(32) + s.to_bytes(32))}"}}\n')


def apps(folder: pathlib.Path) -> str:
    return (f"appStore: {{ rootCertificates: [ {folder / 'root.der'} ] }}\n"
            f"apps:\n  - bundleId: {BUNDLE}\n    appAppleId: {APP_ID}\n    environments: [Sandbox]\n"
            "    offers: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: K1, privateKey: p256.pem }\n")


def proofs(binaries: pathlib.Path, redis: Redis, folder: pathlib.Path, count: int) -> float:
    """Verifications of such requests a second on the server's core, with a known chain: VerifyBatch, as in the verifier's benchmark."""
    lines = [json.loads(line)["signedPayload"] for line, _ in zip((folder / "requests").open(), range(count), strict=False)]
    bodies = [json.dumps({"items": [{"appStoreSignedData": {"signedData": line, "kind": "realtimeRequest"}} for line in lines[at:at + 500]]})
              for at in range(0, count, 500)]
    with Server(binaries, "verifier", apps(folder), ATTRIBUTION_REDIS_URL=redis.url) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        seconds = 0.0
        for number, body in enumerate(bodies * 2):
            began = time.monotonic()
            connection.request("POST", "/attribution.verifier.v1.VerifierService/VerifyBatch", body,
                               {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
            answer = connection.getresponse().read()
            seconds += time.monotonic() - began if number >= len(bodies) else 0
            results = json.loads(answer)["results"]
            assert all(result["appStoreSignedData"]["valid"] for result in results), results[0]
        connection.close()
    return count / seconds


class Answering:
    """An ingest on the server's core; its Redis and its signer run on the other core."""

    def __init__(self, binaries: pathlib.Path, folder: pathlib.Path, redis: Redis) -> None:
        (folder / "token").touch(0o600)
        (folder / "token").write_text(TOKEN)
        self.public = free_port()
        self.signer = Server(binaries, "signer", apps(folder), core=LOAD_CORE)
        self.ingest = Server(
            binaries, "ingest", apps(folder) + RULES.lstrip("\n"), core=SERVER_CORE, ATTRIBUTION_REDIS_URL=redis.url,
            ATTRIBUTION_PUBLIC_LISTEN=f"127.0.0.1:{self.public}", ATTRIBUTION_SIGNER_URL=self.signer.url,
            ATTRIBUTION_SERVICE_TOKEN_FILE=str(folder / "token"))

    def __enter__(self) -> Answering:
        return self

    def __exit__(self, *_: object) -> None:
        self.ingest.__exit__()
        self.signer.__exit__()

    def check(self, body: str) -> None:
        """Checks that offers are signed, because the figures would be meaningless otherwise."""
        connection = http.client.HTTPConnection("127.0.0.1", self.public, timeout=20)
        connection.request("POST", PATH, body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        assert answer["promotionalOffer"]["promotionalOfferSignatureV2"].count(".") == 2, answer


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("retention", "Retention messages: speed", command)
    seconds, rounds = (1, 1) if quick else (2, 5)
    quiet_seconds = 3 if quick else 10
    share = REQUESTS_A_SECOND * seconds
    with tempfile.TemporaryDirectory(prefix="benchmark-retention-") as name, Native() as native:
        folder = pathlib.Path(name)
        (folder / "root.der").write_bytes(ROOT.der)
        bodies = folder / "requests"
        a_second = REQUESTS_A_SECOND // 10 if quick else REQUESTS_A_SECOND
        requests(bodies, a_second * seconds * rounds + 3000 * rounds + 1500 * quiet_seconds)
        with bodies.open() as file:
            one = file.readline()
        signatures, verified, echoes, rates, costs, loads = [], [], [], [], [], []
        first = 1
        for _ in range(rounds):
            signatures.append(openssl_speed("ecdsap256", seconds)[0])
            with Redis(LOAD_CORE, *NO_REWRITES) as redis:
                verified.append(proofs(binaries, redis, folder, 1000 if quick else 3000))
            with Redis(LOAD_CORE, *NO_REWRITES) as redis, Answering(binaries, folder, redis) as answering:
                answering.check(one)
                echoes.append(native.load(answering.ingest.port, seconds, bodies=bodies, connections=CONNECTIONS,
                                          path="/benchmark.echo/Echo")["rate"])
                # The leaf's key gets its own tables after a thousand signatures (ChainKey), and connections to signer are open.
                first += native.load(answering.public, 0.5, bodies=bodies, connections=CONNECTIONS, path=PATH, first=first)["answers"]
                before = [busy(process) for process in (answering.ingest.process, answering.signer.process, redis.process)]
                found = native.load(answering.public, seconds, bodies=bodies, connections=CONNECTIONS, path=PATH, first=first)
                used = [busy(process) - was for process, was in
                        zip((answering.ingest.process, answering.signer.process, redis.process), before, strict=True)]
                first += found["answers"]
                rates.append(found["rate"])
                costs.append(used[0] / found["answers"] * 1e6)
                loads.append([found["core"], *(time / found["seconds"] for time in used[1:])])
        with Redis(LOAD_CORE, *NO_REWRITES) as redis, Answering(binaries, folder, redis) as answering:
            native.load(answering.public, 0.5, bodies=bodies, connections=CONNECTIONS, path=PATH, first=first)
            first += 3000 if not quick else 500
            quiet = native.load(answering.public, quiet_seconds, rate=median(rates) / 10, bodies=bodies, connections=CONNECTIONS, path=PATH,
                                first=first)
    limits = [1 / (1 / echo + 1 / proof + 1 / signature) for echo, proof, signature in zip(echoes, verified, signatures, strict=True)]
    ratios = [rate / limit for rate, limit in zip(rates, limits, strict=True)]
    by_time = [1e6 / cost / limit for cost, limit in zip(costs, limits, strict=True)]
    report.figures["speed"] = {"openssl": signatures, "proofs": verified, "echo": echoes, "limit": limits, "answers": rates, "ratio": ratios,
                               "ingestMicroseconds": costs, "ratioByProcessorTime": by_time, "otherCore": loads, "calm": quiet,
                               "share": share}
    report.add("OpenSSL, P-256 signatures a second, one core", f"{median(signatures):,.0f}")
    report.add("proofs of a request, chain known, one core", f"{median(verified):,.0f}")
    report.add(f"HTTP echo of such requests, {CONNECTIONS} connections, one core", f"{median(echoes):,.0f}")
    report.add("serial limit of the three", f"{median(limits):,.0f}")
    report.add("answers with a signed offer, ingest on one core", f"{median(rates):,.0f}")
    report.add("ratio to the limit", shown(ratios), "at least 0.80", median(ratios) >= 0.80)
    report.add("processor time of ingest for an answer", f"{median(costs):.0f} µs")
    report.add("the same as a ratio to the limit", shown(by_time))
    report.add("the other core: client, signer, Redis", ", ".join(f"{median([load[at] for load in loads]):.2f}" for at in range(3)))
    report.add("at a tenth of that rate: median, 99th percentile", f"{quiet['p50']:.2f} ms, {quiet['p99']:.2f} ms", "p99 under 5 ms",
               quiet["p99"] < 5)
    report.notes += [
        ("Each request has its own identifier and is verified. Each answer has an offer that signer signed for its transaction. Before the answer, "
        "it is stored in Redis under its request, and its event is accepted, both on the disk (`appendfsync always`)."),
        ("Ingest has one core. Redis, signer and the client share the other one: if they use all of it, they limit the rate, and ingest's "
        "processor time shows what its core could do."),
        "The proofs are VerifyBatch of the same requests; the echo is ingest's own HTTP path with the same bodies.",
    ]
    return report
