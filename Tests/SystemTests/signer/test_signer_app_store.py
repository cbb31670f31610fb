"""The signer's tokens and offers for the App Store verify with the apps' public keys."""

import base64
import json
import random
import time
import uuid

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from .signed_impressions import SEED, assert_signed, case, opened, unpadded, whole


@pytest.fixture
def chance(request):
    print(f"seed {SEED}")
    return random.Random(f"{SEED}{request.node.name}")


@pytest.fixture(scope="module")
def public_keys(system):
    keys = system.call("Signer", "ListSigningKeys", {})["keys"]
    return {(entry.get("adNetworkId") or entry.get("bundleId"), entry["keyId"]): load_pem_public_key(entry["publicKey"].encode())
            for entry in keys if entry["publicKey"]}


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
        # Issued a minute ago, because this machine's clock may be ahead of Apple's.
        assert time.time() - claims["iat"] >= 60 and claims["exp"] > time.time()

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
            # An appTransactionId, which customers without a purchase have too.
            ("SignPromotionalOfferJWS", {"productId": "pro", "offerIdentifier": "o1", "transactionId": "704123456789012345"},
             "promotional-offer", {"transactionId": "704123456789012345"}),
            ("SignIntroductoryOfferEligibility",
             {"productId": "pro", "allowIntroductoryOffer": False, "transactionId": "704123456789012345"},
             "introductory-offer-eligibility", {"allowIntroductoryOffer": False, "transactionId": "704123456789012345"}),
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
    assert [results[index]["error"].get("field") for index in (5, 6, 7)] == ["offerIdentifier", "bundleId", None], results[5:9]
    assert results[6]["error"]["code"] == "not_found" and results[8]["error"]["code"] == "invalid_argument", results[6:9]
    nonces = set()
    for index, (item, result) in enumerate(zip(items, results, strict=True)):
        if index in (5, 6, 7, 8):
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


def test_a_token_is_cached_and_valid_for_an_hour_at_most(system):
    ask = {"bundleId": "com.example.app"}
    assert system.call("Signer", "CreateAppStoreServerToken", ask) == system.call("Signer", "CreateAppStoreServerToken", ask)
    answer = system.rpc("Signer", "CreateAppStoreServerToken", {**ask, "lifetimeSeconds": 3601})
    assert answer.status == 400 and b"lifetimeSeconds" in answer.body
