"""Signed web ads: stored when the link is served, signed when the device requests them (SKAdNetwork for Web Ads)."""

import base64
import json
import time
import uuid

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from SystemTests.support.running_system import redis_words

PATH = "/.well-known/skadnetwork/get-signed-payload"
AD = {"version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029}


def keep(system, **more) -> dict:
    return system.call("Signer", "SignSKAdNetworkWebImpression", {**AD, "deferred": True, **more})


def ask(system, nonce: str, domain: str = "example.com", path: str = PATH, **more):
    return system.post(path, {"source_domain": domain, "source_engagement_type": "click_to_App_Store", "source_nonce": nonce,
                              "version": "4.0", **more})


def test_a_device_gets_the_ad_of_its_nonce_signed_for_its_site(system):
    nonce = uuid.uuid4()
    kept = keep(system, nonce=str(nonce).upper())
    assert kept["nonce"] == str(nonce) and "payload" not in kept and kept["sourceIdentifierDigits"] == 4
    assert kept["attributionSourceNonce"] == base64.urlsafe_b64encode(nonce.bytes).decode().rstrip("=")
    answer = ask(system, kept["attributionSourceNonce"])
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json"
    payload = answer.json
    assert set(payload) == {"version", "ad_network_id", "source_identifier", "itunes_item_id", "nonce", "source_domain",
                            "timestamp", "signature"}
    assert (payload["nonce"], payload["source_domain"]) == (str(nonce), "example.com")
    assert isinstance(payload["source_identifier"], int) and isinstance(payload["itunes_item_id"], int)
    text = "\u2063".join(["4.0", AD["adNetworkId"], "5239", "525463029", str(nonce), "example.com", "1", str(payload["timestamp"])])
    keys = system.call("Signer", "ListSigningKeys", {"adNetworkId": AD["adNetworkId"]})["keys"]
    pem = next(entry["publicKey"] for entry in keys if entry["keyId"] == kept["keyId"])
    load_pem_public_key(pem.encode()).verify(base64.b64decode(payload["signature"]), text.encode(), ec.ECDSA(hashes.SHA256()))


def test_repeated_requests_get_the_same_answer_with_and_without_the_slash(system):
    nonce = keep(system)["attributionSourceNonce"]
    first = ask(system, nonce)
    for path in (PATH, PATH + "/"):
        again = ask(system, nonce, path=path)
        assert (again.status, again.body) == (200, first.body)
    other = ask(system, nonce, domain="example.org")
    assert other.status == 200 and other.json["source_domain"] == "example.org"


def test_the_time_of_the_devices_request_is_signed(system):
    nonce = keep(system)["attributionSourceNonce"]
    time.sleep(1.1)
    before = time.time() * 1000
    timestamp = ask(system, nonce).json["timestamp"]
    # In milliseconds, and after the ad was stored.
    assert before - 500 <= timestamp <= time.time() * 1000 + 500


@pytest.mark.parametrize("version", ["4.1", "5.0"])
def test_a_later_version_is_answered_with_4_0(system, version):
    answer = ask(system, keep(system)["attributionSourceNonce"], version=version)
    assert (answer.status, answer.json["version"]) == (200, "4.0")


def test_an_ad_is_stored_for_24_hours_from_its_last_registration(system):
    nonce = str(uuid.uuid4())
    kept = keep(system, nonce=nonce)["attributionSourceNonce"]
    [key] = redis_words(system, "KEYS", f"*:signer:web:{nonce}")

    def remaining() -> int:
        return int(redis_words(system, "TTL", key)[0])

    assert 86_370 <= remaining() <= 86_400
    redis_words(system, "EXPIRE", key, 1000)
    payload = ask(system, kept)
    assert payload.status == 200 and 970 <= remaining() <= 1000
    # Another ad under the nonce is refused, and changes nothing.
    assert system.rpc("Signer", "SignSKAdNetworkWebImpression", {**AD, "deferred": True, "nonce": nonce, "itunesItemId": 1}).status == 409
    assert 970 <= remaining() <= 1000
    keep(system, nonce=nonce)
    assert 86_370 <= remaining() <= 86_400
    assert ask(system, kept).body == payload.body
    redis_words(system, "DEL", key)
    assert ask(system, kept).status == 404


def test_an_ad_for_certain_sites_is_signed_for_no_other(system):
    nonce = keep(system, sourceDomain="example.com", sourceDomains=["example.org"])["attributionSourceNonce"]
    assert [ask(system, nonce, domain=domain).status for domain in ("example.com", "example.org", "example.net")] == [200, 200, 404]


def test_a_registrable_domain_that_begins_with_www_is_a_site(system):
    """gov.uk is a public suffix, so www.gov.uk is a registrable domain."""
    nonce = keep(system, sourceDomains=["www.gov.uk", "example.org"])["attributionSourceNonce"]
    answers = [ask(system, nonce, domain=domain) for domain in ("example.org", "www.gov.uk", "gov.uk")]
    assert [answer.status for answer in answers] == [200, 200, 404]
    assert answers[1].json["source_domain"] == "www.gov.uk"
    assert ask(system, keep(system)["attributionSourceNonce"], domain="www.gov.uk").status == 200
    payload = system.call("Signer", "SignSKAdNetworkWebImpression", {**AD, "sourceDomain": "www.gov.uk"})["payload"]
    verdict = system.call("Verifier", "VerifySKAdNetworkImpression", {
        **AD, "sourceDomain": "www.gov.uk", "nonce": payload["nonce"], "timestamp": payload["timestamp"], "signature": payload["signature"]})
    assert verdict["valid"], verdict
    refused = system.rpc("Signer", "SignSKAdNetworkWebImpression", {**AD, "sourceDomain": "www.example.com"})
    assert refused.status == 400 and "example.com" in json.dumps(refused.json)


def test_an_unknown_nonce_is_not_found(system):
    assert ask(system, base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).status == 404


def test_storing_an_ad_again_gets_the_same_answer_and_another_ad_under_its_nonce_is_refused(system):
    nonce = str(uuid.uuid4())
    assert keep(system, nonce=nonce) == keep(system, nonce=nonce)
    refused = system.rpc("Signer", "SignSKAdNetworkWebImpression", {**AD, "deferred": True, "nonce": nonce, "sourceIdentifier": 1})
    assert (refused.status, refused.json["code"]) == (409, "already_exists")


def test_one_batch_stores_many_ads(system):
    nonces = [str(uuid.uuid4()) for _ in range(100)]
    results = system.call("Signer", "SignImpressions", {
        "items": [{"skadnetworkWeb": {**AD, "deferred": True, "nonce": nonce}} for nonce in nonces]})["results"]
    assert [result["skadnetworkWeb"]["nonce"] for result in results] == nonces
    assert ask(system, results[-1]["skadnetworkWeb"]["attributionSourceNonce"]).status == 200


@pytest.mark.parametrize("field, value", [
    ("source_nonce", None), ("source_nonce", "short"), ("source_nonce", 5), ("source_domain", "https://example.com"),
    ("source_domain", "EXAMPLE.com"), ("source_domain", None), ("version", "3.0"), ("version", None), ("version", "four"),
    ("source_engagement_type", "look"), ("source_engagement_type", None),
])
def test_a_malformed_request_of_a_device_is_refused_by_its_fields_name(system, field, value):
    answer = ask(system, keep(system)["attributionSourceNonce"], **{field: value})
    assert answer.status == 400 and field in json.dumps(answer.json), answer


def test_ads_that_cannot_be_stored_are_refused(system):
    for more, field in (({"timestamp": 1}, "timestamp"), ({"anyTimestamp": True}, "anyTimestamp"),
                        ({"version": "3.0"}, "version"), ({"sourceDomains": ["a b"]}, "sourceDomains[0]"),
                        ({"nonce": "x"}, "nonce"), ({"sourceIdentifier": 10000}, "sourceIdentifier")):
        answer = system.rpc("Signer", "SignSKAdNetworkWebImpression", {**AD, "deferred": True, **more})
        assert answer.status == 400 and f'"{field}"' in json.dumps(answer.json), answer
    unknown = system.rpc("Signer", "SignSKAdNetworkWebImpression", {**AD, "deferred": True, "adNetworkId": "nobody.skadnetwork"})
    assert unknown.status == 404
