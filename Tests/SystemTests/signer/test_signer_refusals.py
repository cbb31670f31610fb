"""Random impressions with one fault: none is signed, and the field is named."""

import random

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from .signed_impressions import COUNT, KINDS, METHODS, SEED, ad_attribution_kit, skadnetwork, wrong


@pytest.fixture
def chance(request):
    print(f"seed {SEED}")
    return random.Random(f"{SEED}{request.node.name}")


@pytest.fixture(scope="module")
def public_keys(system):
    keys = system.call("Signer", "ListSigningKeys", {})["keys"]
    return {(entry.get("adNetworkId") or entry.get("bundleId"), entry["keyId"]): load_pem_public_key(entry["publicKey"].encode())
            for entry in keys if entry["publicKey"]}


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_impression_is_not_signed_and_the_field_is_named(system, chance, kind):
    for _ in range(COUNT // 2):
        item, field = wrong(chance, kind)
        answer = system.rpc("Signer", METHODS[kind], item)
        assert answer.status == 400 and answer.json["code"] == "invalid_argument", (SEED, item, answer)
        assert b"signature" not in answer.body and b"jws" not in answer.body
        named = [violation["field"] for detail in answer.json["details"] for violation in detail.get("debug", {}).get("fieldViolations", [])]
        assert field in named, (SEED, item, answer)


def test_a_wrong_item_of_a_batch_has_its_error_and_the_others_their_signatures(system, public_keys, chance):
    items, faults = [], {}
    for index in range(COUNT):
        kind = chance.choice(list(KINDS))
        if chance.random() < 0.3:
            item, faults[index] = wrong(chance, kind)
        else:
            item = KINDS[kind][0](chance)
        items.append((kind, item))
    for start in range(0, COUNT, 1000):
        results = system.call("Signer", "SignImpressions", {"items": [{kind: item} for kind, item in items[start:start + 1000]]})["results"]
        assert len(results) == min(1000, COUNT - start)
        for index, result in enumerate(results, start):
            kind, item = items[index]
            if index in faults:
                assert set(result) == {"error"}, (SEED, item, result)
                assert result["error"]["field"].split(".")[-1] == faults[index], (SEED, item, result)
            else:
                KINDS[kind][1](item, result[kind], public_keys)


def test_an_impression_of_an_unknown_ad_network_is_not_found(system, chance):
    for kind in KINDS:
        item = {**KINDS[kind][0](chance), "adNetworkId": "nobody.skadnetwork"}
        answer = system.rpc("Signer", METHODS[kind], item)
        assert answer.status == 404 and answer.json["code"] == "not_found"


def test_a_batch_of_more_than_a_thousand_items_and_malformed_batches_are_refused(system, chance):
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
