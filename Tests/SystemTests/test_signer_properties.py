"""Random impressions of every kind: what is signed verifies with a verifier of the test's own over a text of the test's own,
and what is wrong is not signed. Nothing here shares a line with the product."""

import base64
import concurrent.futures
import gzip
import json
import os
import random
import socket
import time
import urllib.parse
import uuid

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

SEED = int(os.environ.get("ATTRIBUTION_TEST_SEED", random.SystemRandom().randrange(2**32)))
COUNT = 5000 if os.environ.get("ATTRIBUTION_SOAK") else 300
SKADNETWORK, AAK = "example123.skadnetwork", "example123.adattributionkit"
VERSIONS = ("1.0", "2.0", "2.1", "2.2", "3.0", "4.0")


@pytest.fixture
def chance(request):
    print(f"seed {SEED}")
    return random.Random(f"{SEED}{request.node.name}")


@pytest.fixture(scope="module")
def public_keys(system):
    keys = system.call("Signer", "ListSigningKeys", {})["keys"]
    return {(entry.get("adNetworkId") or entry.get("bundleId"), entry["keyId"]): load_pem_public_key(entry["publicKey"].encode())
            for entry in keys if entry["publicKey"]}


# --- what is right --------------------------------------------------------------------------------------------------


def number(chance: random.Random, low: int, high: int) -> int:
    """Often an edge."""
    return chance.choice([low, high, chance.randint(low, high), chance.randint(low, min(high, low + 1000))])


def case(chance: random.Random, text: str) -> str:
    return "".join(chance.choice((letter.lower(), letter.upper())) for letter in text)


def skadnetwork(chance: random.Random, version: str | None = None) -> dict:
    version = version or chance.choice(VERSIONS)
    item = {"version": version, "adNetworkId": SKADNETWORK, "itunesItemId": number(chance, 1, 2**63 - 1)}
    item["sourceIdentifier" if version == "4.0" else "campaignId"] = number(chance, 0, 9999) if version == "4.0" else number(chance, 1, 100)
    if version != "1.0":
        item["sourceAppId"] = number(chance, 0, 2**63 - 1)
    if version in ("2.2", "3.0", "4.0"):
        item["fidelityType"] = chance.randint(0, 1)
    if chance.random() < 0.7:
        item["nonce"] = case(chance, str(uuid.UUID(int=chance.getrandbits(128))))
    if chance.random() < 0.7:
        item["timestamp"] = int(time.time() * 1000) + chance.randint(-80_000_000, 80_000_000)
    return item


def web(chance: random.Random) -> dict:
    item = {"version": "4.0", "adNetworkId": SKADNETWORK, "sourceIdentifier": number(chance, 0, 9999),
            "itunesItemId": number(chance, 1, 2**63 - 1), "sourceDomain": chance.choice(["example.com", "a-b.co.uk", "xn--bcher-kva.de"])}
    if chance.random() < 0.5:
        value = uuid.UUID(int=chance.getrandbits(128))
        item["nonce"] = chance.choice([str(value).upper(), base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")])
    return item


def ad_attribution_kit(chance: random.Random) -> dict:
    item = {"adNetworkId": chance.choice([SKADNETWORK, AAK]), "sourceIdentifier": number(chance, 0, 9999),
            "advertisedItemId": number(chance, 1, 2**63 - 1), "publisherItemId": number(chance, 0, 2**63 - 1)}
    if chance.random() < 0.5:
        item["impressionType"] = "app-impression"
    if chance.random() < 0.5:
        item["eligibleForReEngagement"] = chance.random() < 0.5
    if chance.random() < 0.5:
        item["impressionId"] = case(chance, str(uuid.UUID(int=chance.getrandbits(128))))
    if chance.random() < 0.5:
        item["timestamp"] = int(time.time() * 1000) + chance.randint(-80_000_000, 80_000_000)
    return item


def whole(value) -> int:
    """A 64-bit integer as JSON has it here: a number, or decimal digits beyond 2^53."""
    return int(value)


def assert_signed(key, signature: bytes, text: str, what) -> None:
    try:
        key.verify(signature, text.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise AssertionError(f"seed {SEED}: not signed as the specification says: {what}") from None


def check_skadnetwork(item: dict, answer: dict, keys: dict) -> None:
    for name, value in item.items():
        expected = value.lower() if name == "nonce" else value
        got = whole(answer[name]) if isinstance(value, int) else answer[name]
        assert got == expected, (SEED, name, item, answer)
    assert answer["nonce"] == str(uuid.UUID(answer["nonce"]))
    campaign = item.get("campaignId", item.get("sourceIdentifier"))
    version = item["version"]
    words = [SKADNETWORK, campaign, item["itunesItemId"], answer["nonce"]]
    if version != "1.0":
        words = [version, *words, item["sourceAppId"]]
    if "fidelityType" in item:
        words.append(item["fidelityType"])
    words.append(item.get("timestamp", whole(answer["timestamp"])))
    assert abs(whole(answer["timestamp"]) - time.time() * 1000) < 86_400_000
    assert_signed(keys[SKADNETWORK, answer["keyId"]], base64.b64decode(answer["signature"], validate=True),
                  "\u2063".join(map(str, words)), (item, answer))


def check_web(item: dict, answer: dict, keys: dict) -> None:
    payload = answer["payload"]
    value = uuid.UUID(answer["nonce"])
    assert answer["attributionSourceNonce"] == base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")
    assert payload["nonce"] == str(value) and payload["source_domain"] == item["sourceDomain"]
    text = "\u2063".join(map(str, ["4.0", SKADNETWORK, item["sourceIdentifier"], item["itunesItemId"], value, item["sourceDomain"], 1,
                                   payload["timestamp"]]))
    assert_signed(keys[SKADNETWORK, answer["keyId"]], base64.b64decode(payload["signature"], validate=True), text, (item, answer))


def unpadded(text: str) -> bytes:
    assert "=" not in text
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def opened(jws: str, key) -> tuple[dict, dict]:
    """Header and claims of a compact JWS whose ES256 signature is good."""
    header, payload, signature = jws.split(".")
    raw = unpadded(signature)
    assert len(raw) == 64
    der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    assert_signed(key, der, f"{header}.{payload}", jws)
    return json.loads(unpadded(header)), json.loads(unpadded(payload))


def check_ad_attribution_kit(item: dict, answer: dict, keys: dict) -> None:
    network = item["adNetworkId"]
    header, claims = opened(answer["jws"], keys[network, answer["keyId"]])
    assert header == {"alg": "ES256", "kid": network}
    expected = {"impression-identifier": item.get("impressionId", answer["impressionId"]), "impression-type": "app-impression",
                "publisher-item-identifier": item["publisherItemId"], "ad-network-identifier": network,
                "source-identifier": item["sourceIdentifier"], "advertised-item-identifier": item["advertisedItemId"],
                "timestamp": item.get("timestamp", whole(answer["timestamp"]))}
    if item.get("eligibleForReEngagement"):
        expected["eligible-for-re-engagement"] = True
    assert claims == expected, (SEED, item)


KINDS = {"skadnetwork": (skadnetwork, check_skadnetwork), "skadnetworkWeb": (web, check_web),
         "adAttributionKit": (ad_attribution_kit, check_ad_attribution_kit)}
METHODS = {"skadnetwork": "SignSKAdNetworkImpression", "skadnetworkWeb": "SignSKAdNetworkWebImpression",
           "adAttributionKit": "SignAdAttributionKitImpression"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_skadnetwork_impression_is_signed_as_its_version_says(system, public_keys, chance, version):
    for _ in range(max(20, COUNT // 20)):
        item = skadnetwork(chance, version)
        check_skadnetwork(item, system.call("Signer", "SignSKAdNetworkImpression", item), public_keys)


def test_a_thousand_mixed_items_are_signed_in_order_with_an_error_each_where_one_belongs(system, public_keys, chance):
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


def test_calls_of_one_moment_each_get_the_signature_of_their_own(system, public_keys, chance):
    """Calls that come together are signed together: on connections of their own, and sent ahead on one."""
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
            ahead += (f"POST /attribution.signer.v1.SignerService/{METHODS[kind]} HTTP/1.1\r\nHost: a\r\n"
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


def test_the_verifier_believes_what_was_signed_and_nothing_else(system, chance):
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


# --- what is wrong --------------------------------------------------------------------------------------------------


def wrong(chance: random.Random, kind: str) -> tuple[dict, str]:
    """An item with one fault, and the field that has to be named."""
    item = KINDS[kind][0](chance)
    faults: list[tuple[dict, str]] = [
        ({"adNetworkId": None}, "adNetworkId"), ({"adNetworkId": "Example123.skadnetwork"}, "adNetworkId"), ({"adNetworkId": 5}, "adNetworkId"),
        ({"unknownField": 1}, "unknownField"), ({"timestamp": int(time.time())}, "timestamp"),
        ({"timestamp": int(time.time() * 1000) + 86_500_000}, "timestamp"), ({"timestamp": -1}, "timestamp"),
    ]
    if kind == "adAttributionKit":
        faults += [({name: value}, name) for name, values in {
            "sourceIdentifier": (-1, 10_000, "x", None, 1.5), "advertisedItemId": (0, -1, 2**63, None, True),
            "publisherItemId": (-1, 2**63, None, []), "impressionType": ("view", 1), "impressionId": ("x", 7),
            "eligibleForReEngagement": ("yes", 1)}.items() for value in values]
    else:
        faults += [({name: value}, name) for name, values in {
            "itunesItemId": (0, -1, 2**63, None, "x", {}), "nonce": ("x", 7), "version": ("5.0", "2", 4, None, "")}.items() for value in values]
        version = item["version"]
        if version == "4.0":
            faults += [({"sourceIdentifier": value}, "sourceIdentifier") for value in (-1, 10_000, None, 0.5)] + [({"campaignId": 5}, "campaignId")]
        else:
            faults += [({"campaignId": value}, "campaignId") for value in (0, 101, None)] + [
                ({"sourceIdentifier": 5}, "sourceIdentifier"), ({"sourceDomain": "example.com"}, "sourceDomain")]
    if kind == "skadnetwork":
        if "sourceAppId" in item:
            faults += [({"sourceAppId": value}, "sourceAppId") for value in (-1, None, 2**63)]
        else:
            faults.append(({"sourceAppId": 1}, "sourceAppId"))
        faults += [({"fidelityType": value}, "fidelityType") for value in ((2, -1, None) if "fidelityType" in item else (0, 1))]
        if item["version"] == "4.0":
            faults.append(({"sourceDomain": "example.com"}, "sourceDomain"))
    if kind == "skadnetworkWeb":
        faults += [({"sourceDomain": value}, "sourceDomain") for value in (
            None, "https://example.com", "EXAMPLE.com", "example.com:443", "localhost", "www.example.com", "1.2.3.4", "example.com.")]
    change, field = chance.choice(faults)
    item.update(change)
    return {name: value for name, value in item.items() if value is not None}, field


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_not_signed_and_the_field_is_named(system, chance, kind):
    for _ in range(COUNT // 2):
        item, field = wrong(chance, kind)
        answer = system.rpc("Signer", METHODS[kind], item)
        assert answer.status == 400 and answer.json["code"] == "invalid_argument", (SEED, item, answer)
        assert b"signature" not in answer.body and b"jws" not in answer.body
        named = [violation["field"] for detail in answer.json["details"] for violation in detail.get("debug", {}).get("fieldViolations", [])]
        assert field in named, (SEED, item, answer)


def test_a_wrong_item_of_a_batch_has_its_error_and_the_others_their_signatures(system, public_keys, chance):
    items, faults = [], {}
    for place in range(COUNT):
        kind = chance.choice(list(KINDS))
        if chance.random() < 0.3:
            item, faults[place] = wrong(chance, kind)
        else:
            item = KINDS[kind][0](chance)
        items.append((kind, item))
    for start in range(0, COUNT, 1000):
        results = system.call("Signer", "SignImpressions", {"items": [{kind: item} for kind, item in items[start:start + 1000]]})["results"]
        assert len(results) == min(1000, COUNT - start)
        for place, result in enumerate(results, start):
            kind, item = items[place]
            if place in faults:
                assert set(result) == {"error"}, (SEED, item, result)
                assert result["error"]["field"].split(".")[-1] == faults[place], (SEED, item, result)
            else:
                KINDS[kind][1](item, result[kind], public_keys)


def test_an_unknown_ad_network_is_not_found(system, chance):
    for kind in KINDS:
        item = {**KINDS[kind][0](chance), "adNetworkId": "nobody.skadnetwork"}
        answer = system.rpc("Signer", METHODS[kind], item)
        assert answer.status == 404 and answer.json["code"] == "not_found"


def test_a_batch_has_its_bounds(system, chance):
    item = {"skadnetwork": skadnetwork(chance)}
    assert system.call("Signer", "SignImpressions", {"items": []}) == {}
    assert system.call("Signer", "SignImpressions", {}) == {}
    assert len(system.call("Signer", "SignImpressions", {"items": [item] * 1000})["results"]) == 1000
    for body in ({"items": [item] * 1001}, {"items": {}}, {"items": [], "more": 1}, {"items": 5}):
        answer = system.rpc("Signer", "SignImpressions", body)
        assert answer.status == 400 and answer.json["code"] == "invalid_argument", answer
    for text in (b'{"items":[{"skadnetwork":{"version":"4.0\xff"}}]}', b'{"items":[{}', b'{"items":[{"skadnetwork":tru}]}',
                 b'{"items":[{"skadnetwork":{"version":"\\ud800"}}]}', b'{"items":[],"items":[]}', b'{"items":[{}]} x', b'{"items":[01]}'):
        answer = system.rpc("Signer", "SignImpressions", text)
        assert answer.status == 400, (text, answer)
    for entry in ({}, {"skadnetwork": skadnetwork(chance), "adAttributionKit": ad_attribution_kit(chance)}, {"other": {}}, None, 5):
        result = system.call("Signer", "SignImpressions", {"items": [entry]})["results"][0]
        assert result["error"]["code"] == "invalid_argument", (entry, result)


# --- the App Store --------------------------------------------------------------------------------------------------


def test_tokens_and_offers_verify_with_the_apps_public_keys(system, public_keys, chance):
    app = "com.example.app"
    keys = {key_id: key for (owner, key_id), key in public_keys.items() if owner == app}
    for _ in range(20):
        lifetime = chance.randint(60, 3600)
        token = system.call("Signer", "CreateAppStoreServerToken", {"bundleId": app, "lifetimeSeconds": lifetime})["token"]
        kid = json.loads(unpadded(token.split(".")[0]))["kid"]
        header, claims = opened(token, keys[kid])
        assert header == {"alg": "ES256", "kid": kid, "typ": "JWT"}
        assert (claims["bid"], claims["aud"]) == (app, "appstoreconnect-v1") and claims["exp"] - claims["iat"] <= 3600

        offer = {"bundleId": app, "productIdentifier": "pro", "offerIdentifier": "o1"}
        if chance.random() < 0.5:
            offer["appAccountToken"] = case(chance, str(uuid.UUID(int=chance.getrandbits(128))))
        signed = system.call("Signer", "SignPromotionalOffer", offer)
        text = "\u2063".join([app, signed["keyId"], "pro", "o1", offer.get("appAccountToken", "").lower(), signed["nonce"],
                              str(whole(signed["timestamp"]))])
        assert_signed(keys[signed["keyId"]], base64.b64decode(signed["signature"], validate=True), text, signed)

        request = {"operation": "CREATE_SUBSCRIPTION", "version": "1", "requestInfo": {"requestReferenceId": str(uuid.uuid4())}}
        for method, message, audience, expected in (
            ("SignPromotionalOfferJWS", {"productId": "pro", "offerIdentifier": "o1"}, "promotional-offer",
             {"productId": "pro", "offerIdentifier": "o1"}),
            ("SignIntroductoryOfferEligibility", {"productId": "pro", "allowIntroductoryOffer": True, "transactionId": "7"},
             "introductory-offer-eligibility", {"productId": "pro", "allowIntroductoryOffer": True, "transactionId": "7"}),
            ("SignAdvancedCommerceRequest", {"requestText": json.dumps(request)}, "advanced-commerce-api",
             {"request": base64.b64encode(json.dumps(request).encode()).decode()}),
        ):
            answer = system.call("Signer", method, {"bundleId": app, **message})
            header, claims = opened(answer["jws"], keys[answer["keyId"]])
            assert header == {"alg": "ES256", "kid": answer["keyId"], "typ": "JWT"}
            assert (claims["aud"], claims["bid"]) == (audience, app) and "exp" not in claims
            assert str(uuid.UUID(claims["nonce"])) == claims["nonce"].lower()
            assert abs(claims["iat"] - time.time()) < 60
            for name, value in expected.items():
                assert claims[name] == value, (method, claims)


def test_a_batch_of_offers_has_a_signature_or_an_error_for_each_item_in_order(system, public_keys):
    app = "com.example.app"
    keys = {key_id: key for (owner, key_id), key in public_keys.items() if owner == app}
    request = {"operation": "CREATE_SUBSCRIPTION", "version": "1", "requestInfo": {"requestReferenceId": str(uuid.uuid4())}}
    kinds = {
        "promotionalOffer": {"productIdentifier": "pro", "offerIdentifier": "o1"},
        "promotionalOfferJws": {"productId": "pro", "offerIdentifier": "o1", "transactionId": "7"},
        "introductoryOfferEligibility": {"productId": "pro", "allowIntroductoryOffer": True, "transactionId": "7"},
        "advancedCommerceRequest": {"requestText": json.dumps(request)},
    }
    audiences = {"promotionalOfferJws": "promotional-offer", "introductoryOfferEligibility": "introductory-offer-eligibility",
                 "advancedCommerceRequest": "advanced-commerce-api"}
    items = [{kind: {"bundleId": app, **message}} for _ in range(30) for kind, message in kinds.items()]
    items[5] = {"promotionalOfferJws": {"bundleId": app, "productId": "pro"}}
    items[6] = {"introductoryOfferEligibility": {"bundleId": "com.example.stranger", "productId": "pro"}}
    items[7] = {}
    items[8] = {**items[8], "promotionalOfferJws": items[9]["promotionalOfferJws"]}
    results = system.call("Signer", "SignOffers", {"items": items})["results"]
    assert len(results) == len(items)
    assert [results[place]["error"].get("field") for place in (5, 6, 7)] == ["offerIdentifier", "bundleId", None], results[5:9]
    assert results[6]["error"]["code"] == "not_found" and results[8]["error"]["code"] == "invalid_argument", results[6:9]
    nonces = set()
    for place, (item, result) in enumerate(zip(items, results)):
        if place in (5, 6, 7, 8):
            continue
        kind, = item
        signed = result[kind]
        if kind == "promotionalOffer":
            text = "\u2063".join([app, signed["keyId"], "pro", "o1", "", signed["nonce"], str(whole(signed["timestamp"]))])
            assert_signed(keys[signed["keyId"]], base64.b64decode(signed["signature"], validate=True), text, signed)
            nonces.add(signed["nonce"])
        else:
            _, claims = opened(signed["jws"], keys[signed["keyId"]])
            assert (claims["aud"], claims["bid"]) == (audiences[kind], app)
            nonces.add(claims["nonce"])
    assert len(nonces) == len(items) - 4
    assert len(system.call("Signer", "SignOffers", {"items": items[:1] * 1000})["results"]) == 1000
    answer = system.rpc("Signer", "SignOffers", {"items": items[:1] * 1001})
    assert answer.status == 400 and b"items" in answer.body


def test_a_token_is_kept_and_never_lives_longer_than_an_hour(system):
    ask = {"bundleId": "com.example.app"}
    assert system.call("Signer", "CreateAppStoreServerToken", ask) == system.call("Signer", "CreateAppStoreServerToken", ask)
    answer = system.rpc("Signer", "CreateAppStoreServerToken", {**ask, "lifetimeSeconds": 3601})
    assert answer.status == 400 and b"lifetimeSeconds" in answer.body
