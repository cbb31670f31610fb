"""Random impressions of every kind, and an independent verifier of their signatures."""

import base64
import json
import os
import random
import time
import uuid
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

SEED = int(os.environ.get("ATTRIBUTION_TEST_SEED", random.SystemRandom().randrange(2**32)))
COUNT = 5000 if os.environ.get("ATTRIBUTION_SOAK") else 300
SKADNETWORK, AAK = "example123.skadnetwork", "example123.adattributionkit"
VERSIONS = ("1.0", "2.0", "2.1", "2.2", "3.0", "4.0")


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    print(f"seed {SEED}")
    return random.Random(f"{SEED}{request.node.name}")


def number(chance: random.Random, low: int, high: int) -> int:
    """A number in a range, often one of its limits."""
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


def whole(value: object) -> int:
    """A 64-bit integer in the contract's JSON: a number, or decimal digits beyond 2^53."""
    return int(value)


def assert_signed(key: Any, signature: bytes, text: str, what: object) -> None:
    try:
        key.verify(signature, text.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise AssertionError(f"seed {SEED}: not signed as the specification says: {what}") from None


def assert_current(is_given: bool, timestamp: object) -> None:
    """Without a timestamp in the request, the time of the signature is signed, in milliseconds."""
    assert is_given or abs(whole(timestamp) - time.time() * 1000) < 60_000, (SEED, timestamp)


def check_skadnetwork(item: dict, answer: dict, keys: dict) -> None:
    assert answer.get("sourceIdentifierDigits") == (len(str(item["sourceIdentifier"])) if "sourceIdentifier" in item else None), (SEED, item, answer)
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
    assert_current("timestamp" in item, answer["timestamp"])
    assert_signed(keys[SKADNETWORK, answer["keyId"]], base64.b64decode(answer["signature"], validate=True),
                  "\u2063".join(map(str, words)), (item, answer))


def check_web(item: dict, answer: dict, keys: dict) -> None:
    payload = answer["payload"]
    value = uuid.UUID(answer["nonce"])
    assert answer["attributionSourceNonce"] == base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")
    assert payload["nonce"] == str(value) and payload["source_domain"] == item["sourceDomain"]
    assert answer["sourceIdentifierDigits"] == len(str(item["sourceIdentifier"])), (SEED, item, answer)
    assert payload["timestamp"] == item.get("timestamp", payload["timestamp"])
    assert_current("timestamp" in item, payload["timestamp"])
    text = "\u2063".join(map(str, ["4.0", SKADNETWORK, item["sourceIdentifier"], item["itunesItemId"], value, item["sourceDomain"], 1,
                                   payload["timestamp"]]))
    assert_signed(keys[SKADNETWORK, answer["keyId"]], base64.b64decode(payload["signature"], validate=True), text, (item, answer))


def unpadded(text: str) -> bytes:
    assert "=" not in text
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def opened(jws: str, key: Any) -> tuple[dict, dict]:
    """Header and claims of a compact JWS with a valid ES256 signature."""
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
    assert answer["sourceIdentifierDigits"] == len(str(item["sourceIdentifier"])), (SEED, item, answer)
    assert_current("timestamp" in item, answer["timestamp"])
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


def wrong(chance: random.Random, kind: str) -> tuple[dict, str]:
    """An item with one fault, and the field that must be named."""
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
