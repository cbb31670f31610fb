"""Random impressions of every kind: signatures verify with the test's own verifier over the test's own text,
and invalid impressions are not signed. No code is shared with the product."""

import base64
import concurrent.futures
import gzip
import json
import random
import socket
import time
import urllib.parse
import uuid

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from .signed_impressions import COUNT, KINDS, METHODS, SEED, VERSIONS, check_skadnetwork, skadnetwork, unpadded, whole


@pytest.fixture
def chance(request):
    print(f"seed {SEED}")
    return random.Random(f"{SEED}{request.node.name}")


@pytest.fixture(scope="module")
def public_keys(system):
    keys = system.call("Signer", "ListSigningKeys", {})["keys"]
    return {(entry.get("adNetworkId") or entry.get("bundleId"), entry["keyId"]): load_pem_public_key(entry["publicKey"].encode())
            for entry in keys if entry["publicKey"]}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_skadnetwork_impression_is_signed_as_its_version_says(system, public_keys, chance, version):
    for _ in range(max(20, COUNT // 20)):
        item = skadnetwork(chance, version)
        check_skadnetwork(item, system.call("Signer", "SignSKAdNetworkImpression", item), public_keys)


@pytest.mark.parametrize("kind", KINDS)
def test_a_timestamp_more_than_a_day_away_is_signed_only_if_the_caller_asks_for_it(system, public_keys, chance, kind):
    now = int(time.time() * 1000)
    for timestamp in (now + 2 * 86_400_000, now - 2 * 86_400_000, 1_594_406_342_000):
        item = {**KINDS[kind][0](chance), "timestamp": timestamp}
        for more in ({}, {"anyTimestamp": False}):
            refused = system.rpc("Signer", METHODS[kind], {**item, **more})
            assert refused.status == 400 and "timestamp" in json.dumps(refused.json), (SEED, item, refused)
        with_option = {**item, "anyTimestamp": True}
        KINDS[kind][1](item, system.call("Signer", METHODS[kind], with_option), public_keys)
        [one, other] = system.call("Signer", "SignImpressions", {"items": [{kind: item}, {kind: with_option}]})["results"]
        assert one["error"]["field"].split(".")[-1] == "timestamp"
        KINDS[kind][1](item, other[kind], public_keys)
    refused = system.rpc("Signer", METHODS[kind], {**KINDS[kind][0](chance), "timestamp": -1, "anyTimestamp": True})
    assert refused.status == 400, (SEED, refused)


def test_each_of_a_thousand_mixed_items_gets_its_signature_or_its_error_in_order(system, public_keys, chance):
    for _ in range(max(1, COUNT // 1000)):
        items = []
        for _ in range(1000):
            kind = chance.choice(list(KINDS))
            items.append((kind, KINDS[kind][0](chance), chance.random() < 0.1))
        message = {"items": [{kind: {**item, "adNetworkId": "NOT.lower"} if bad else item} for kind, item, bad in items]}
        body = json.dumps(message).encode()
        packed = chance.random() < 0.5
        answer = system.rpc("Signer", "SignImpressions", gzip.compress(body) if packed else body,
                            headers={"Content-Encoding": "gzip"} if packed else {})
        assert answer.status == 200, answer
        results = answer.json["results"]
        assert len(results) == 1000
        for (kind, item, bad), result in zip(items, results, strict=True):
            if bad:
                assert set(result) == {"error"} and result["error"]["code"] == "invalid_argument"
                assert result["error"]["field"] == "adNetworkId"
            else:
                KINDS[kind][1](item, result[kind], public_keys)


def test_concurrent_calls_each_get_their_own_signature(system, public_keys, chance):
    """Concurrent calls are signed together: on separate connections, and pipelined on one."""
    jobs = []
    for _ in range(COUNT):
        kind = chance.choice(list(KINDS))
        item = KINDS[kind][0](chance)
        # An explicit null is an absent member.
        sent = {
            **item,
            **{
                name: None
                for name in (("impressionId" if kind == "adAttributionKit" else "nonce"), "timestamp")
                if name not in item and chance.random() < 0.5
            },
        }
        wrong = chance.random() < 0.1
        jobs.append((kind, item, {**sent, "adNetworkId": "NOT.lower"} if wrong else sent, wrong,
                     {"Content-Encoding": "gzip"} if chance.random() < 0.3 else {}, chance.random() < 0.2))

    def play(job):
        kind, item, sent, wrong, headers, keyed = job
        body = json.dumps(sent).encode()
        answer = system.rpc("Signer", METHODS[kind], gzip.compress(body) if headers else body, headers=headers,
                            key=str(uuid.uuid4()) if keyed else None)
        assert answer.status == (400 if wrong else 200), (SEED, job, answer)
        if not wrong:
            KINDS[kind][1](item, answer.json, public_keys)

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for outcome in [pool.submit(play, job) for job in jobs]:
            outcome.result()

    target = urllib.parse.urlsplit(system.url("Signer"))
    chosen = [job for job in jobs if not job[4]][:40]
    with socket.create_connection((target.hostname, target.port), timeout=30) as connection:
        ahead = b""
        for kind, _, sent, *_ in chosen:
            body = json.dumps(sent).encode()
            ahead += (f"POST /attribution.signer.v1.SignerService/{METHODS[kind]} HTTP/1.1\r\nHost: localhost\r\n"
                      f"Authorization: Bearer {system.token}\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        connection.sendall(ahead)
        stream = connection.makefile("rb")
        for kind, item, _, wrong, *_ in chosen:
            status = int(stream.readline().split()[1])
            length = 0
            while (line := stream.readline().strip()) != b"":
                name, value = line.split(b":", 1)
                length = int(value) if name.lower() == b"content-length" else length
            answer = json.loads(stream.read(length))
            assert status == (400 if wrong else 200), (SEED, kind, item, answer)
            if not wrong:
                KINDS[kind][1](item, answer, public_keys)


def test_the_verifier_accepts_exactly_what_was_signed(system, chance):
    items = [(kind, KINDS[kind][0](chance)) for kind in ("skadnetwork", "adAttributionKit") * (COUNT // 4)]
    results = []
    for start in range(0, len(items), 1000):
        results += system.call("Signer", "SignImpressions", {"items": [{kind: item} for kind, item in items[start:start + 1000]]})["results"]
    questions, expected = [], []
    for (kind, _), result in zip(items, results, strict=True):
        if kind == "skadnetwork":
            fields = {name: value for name, value in result[kind].items() if name not in ("keyId", "sourceIdentifierDigits")}
            changed = dict(fields)
            changed["itunesItemId"] = whole(changed["itunesItemId"]) - 1 or 2
            questions += [{"skadnetworkImpression": fields}, {"skadnetworkImpression": changed}]
        else:
            jws = result[kind]["jws"]
            header, payload, signature = jws.split(".")
            claims = json.loads(unpadded(payload))
            claims["timestamp"] += 1
            other = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
            questions += [{"adAttributionKitImpression": {"jws": jws}},
                          {"adAttributionKitImpression": {"jws": f"{header}.{other}.{signature}"}}]
        expected += [None, "bad_signature"]
    for start in range(0, len(questions), 1000):
        verdicts = system.call("Verifier", "VerifyBatch", {"items": questions[start:start + 1000]})["results"]
        for question, result, reason in zip(questions[start:], verdicts, expected[start:], strict=False):
            verdict = next(iter(result.values()))
            assert verdict.get("reason") == reason and verdict["valid"] == (reason is None), (SEED, question, result)
