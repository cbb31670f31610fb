"""Postbacks as forwarders pass them on: unsigned values that cannot be used, numbers as doubles, members of their own, and the ad network's
name in another case."""

import json
import time
import uuid

import pytest

from client import Subscription
from SystemTests.support.running_system import start_system, stop_system

from .test_conversion_values import APP, NETWORK, event_of
from .test_postback_events import made, posted, subscribed
from .test_rejections_and_repeats import delivery, restart

KINDS = ["skadnetwork", "adattributionkit"]
METHODS = {"skadnetwork": "VerifySKAdNetworkPostback", "adattributionkit": "VerifyAdAttributionKitPostback"}
APP_NAME = {"skadnetwork": "appId", "adattributionkit": "advertisedItemId"}


def event(system, id: str) -> dict:
    return system.call("Events", "GetEvent", {"id": delivery(system, id, "verified")["eventId"]})["event"]


# --- unsigned values ------------------------------------------------------------------------------------------------------

UNSIGNED = [
    ({"conversion-value": "", "coarse-conversion-value": "LOW"}, ["conversion-value"], {"coarse-conversion-value": "low"}),
    ({"conversion-value": 64, "country-code": "USA"}, ["conversion-value", "country-code"], {}),
    ({"conversion-value": 5, "coarse-conversion-value": "high"}, ["coarse-conversion-value", "conversion-value"], {}),
    ({"conversion-value": 1.5, "coarse-conversion-value": "NULL"}, ["coarse-conversion-value", "conversion-value"], {}),
    ({"conversion-value": "5.0", "coarse-conversion-value": "", "country-code": "de"}, ["coarse-conversion-value"],
     {"conversion-value": 5, "country-code": "DE"}),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values, unusable, usable", UNSIGNED)
def test_an_unsigned_value_that_cannot_be_used_costs_no_install(system, kind, values, unusable, usable):
    data = event_of(system, kind, values, **{APP_NAME[kind]: APP}, sourceIdentifier="5239", conversionValue=7)
    assert data["unusable"] == unusable and data["unsigned"].items() >= values.items(), data
    assert not set(unusable) & data["postback"].keys() and data["postback"].items() >= usable.items(), data
    assert not set(unusable) & set(data["withheld"]), data
    value = usable.get("conversion-value")
    assert data["conversion"]["status"] == ("decoded" if value else "unmapped" if "coarse-conversion-value" in usable else "unknown"), data
    # The same by RPC, alone and in a batch.
    body = made(system, kind, conversionValue=7) | values
    alone = system.call("Verifier", METHODS[kind], {"postback": body})
    name = "skadnetworkPostback" if kind == "skadnetwork" else "adAttributionKitPostback"
    [batch] = system.call("Verifier", "VerifyBatch", {"items": [{name: {"postbackText": json.dumps(body)}}]})["results"]
    for verdict in (alone, batch[name]):
        assert verdict["valid"] and verdict["unusable"] == unusable and verdict["unsigned"].items() >= values.items(), verdict
        assert not set(unusable) & verdict["postback"].keys() and verdict["postback"].items() >= usable.items(), verdict


def test_an_unknown_interaction_is_no_interaction(system):
    data = event_of(system, "adattributionkit", {"ad-interaction-type": "tap"}, conversionValue=7)
    assert data["unusable"] == ["ad-interaction-type"] and data["unsigned"]["ad-interaction-type"] == "tap"
    assert "ad-interaction-type" not in data["postback"]


def test_values_that_cannot_be_used_are_counted_as_none(system):
    app = 10**12 + uuid.uuid4().int % 10**12
    for kind in KINDS:
        for values in ({"conversion-value": 64}, {"conversion-value": 5, "coarse-conversion-value": "low"}, {"coarse-conversion-value": "LOW"}):
            body = {**made(system, kind, **{APP_NAME[kind]: app}, conversionValue=None), **values}
            delivery(system, posted(system, body), "verified")
    wanted = {(None, None): 4, (None, "low"): 2}

    def counts() -> dict:
        conversions = system.call("Verifier", "GetValueCounts").get("conversions", [])
        return {(one.get("fineValue"), one.get("coarseValue")): int(one["count"]) for one in conversions if int(one["appAppleId"]) == app}

    until = time.monotonic() + 120
    while sum(counts().values()) < sum(wanted.values()) and time.monotonic() < until:
        time.sleep(0.1)
    assert counts() == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_that_says_the_same_in_other_words_is_a_duplicate(system, kind):
    genuine = made(system, kind, conversionValue=None) | {"coarse-conversion-value": "low"}
    first = delivery(system, posted(system, genuine), "verified")["eventId"]
    for copy in ({"coarse-conversion-value": "LOW"}, {"conversion-value": "NULL"}, {"country-code": ""}):
        assert delivery(system, posted(system, genuine | copy), "verified")["eventId"] == first
    assert delivery(system, posted(system, genuine | {"conversion-value": 5}), "rejected")["reason"] == "conflicting_unsigned"


# --- numbers --------------------------------------------------------------------------------------------------------------

def test_integers_that_a_forwarder_wrote_as_doubles_are_the_same_integers(system):
    body = made(system, "skadnetwork", appId=APP, sourceIdentifier="5239", conversionValue=7)
    text = json.dumps(body)
    for one, other in ((f'"app-id": {APP}', '"app-id": 5.25463029E8'), ('"source-app-id": 1234567891', '"source-app-id": 1234567891.0'),
                       ('"postback-sequence-index": 0', '"postback-sequence-index": 0.0'),
                       ('"source-identifier": "5239"', '"source-identifier": 5239'), ('"conversion-value": 7', '"conversion-value": 7.0')):
        assert one in text
        text = text.replace(one, other)
    counted = event(system, posted(system, text))
    assert counted["data"]["postback"] == body and counted["data"]["placement"]["creative"]["name"] == "video-a", counted
    assert event(system, posted(system, body))["id"] == counted["id"]
    for one, other, field in (('5.25463029E8', '5.25463029E-8', "app-id"), ('"postback-sequence-index": 0.0', '"postback-sequence-index": 0.5',
                                                                             "postback-sequence-index")):
        rejected = delivery(system, posted(system, text.replace(one, other)), "rejected")
        found = system.call("Events", "GetEvent", {"id": rejected["eventId"]})["event"]["data"]
        assert (found["reason"], found["field"]) == ("malformed", field), found


def test_a_number_beyond_2_53_keeps_its_digits_and_a_huge_exponent_costs_nothing(system):
    body = made(system, "skadnetwork", appId=9007199254740993)
    text = json.dumps(body).replace("9007199254740993", "9.007199254740993e15")
    assert event(system, posted(system, text))["data"]["postback"]["app-id"] == 9007199254740993
    started = time.monotonic()
    assert delivery(system, posted(system, text.replace("e15", "e999999999")), "rejected")["reason"] == "malformed"
    assert time.monotonic() - started < 5


# --- foreign members ------------------------------------------------------------------------------------------------------

FOREIGN = {"ip": "198.51.100.1", "received-at": 1790000000, "campaign-name": "spring", "campaign-id": 23, "did-win-2": False}


@pytest.mark.parametrize("kind", KINDS)
def test_foreign_members_cause_no_conflict_and_are_in_no_event(system, kind):
    genuine = made(system, kind, conversionValue=7)
    foreign = FOREIGN | ({"did-win": False, "source-identifier": "1"} if kind == "adattributionkit" else {})
    found = event(system, posted(system, genuine | foreign))
    assert not foreign.keys() & found["data"]["postback"].keys() and not foreign.keys() & found["data"]["unsigned"].keys(), found
    assert "198.51.100.1" not in json.dumps(found) and found["data"]["unusable"] == []
    assert event(system, posted(system, genuine))["id"] == found["id"]
    assert event(system, posted(system, genuine | {"ip": "203.0.113.7"}))["id"] == found["id"]
    verdict = system.call("Verifier", METHODS[kind], {"postback": genuine | foreign})
    assert verdict["postback"]["ip"] == "198.51.100.1" and not foreign.keys() & verdict["unsigned"].keys(), verdict


def test_events_carry_the_foreign_members_that_are_configured(tmp_path):
    system = start_system(tmp_path)
    try:
        configuration = tmp_path / "configuration.yaml"
        configuration.write_text(configuration.read_text() + "postbacks: { foreignMembers: [campaign-name, campaign-id] }\n")
        restart(system)
        for kind in KINDS:
            postback = event(system, posted(system, made(system, kind) | FOREIGN))["data"]["postback"]
            assert {name: postback.get(name) for name in FOREIGN} == {
                **dict.fromkeys(FOREIGN), "campaign-name": "spring", "campaign-id": 23}, postback
    finally:
        stop_system(system)


# --- a network's name -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, field", [("skadnetwork", "ad-network-id"), ("adattributionkit", "ad-network-identifier")])
def test_a_name_in_another_case_belongs_to_the_network_and_counts_once(system, kind, field):
    identifier = str(uuid.uuid4())
    values = {"transactionId" if kind == "skadnetwork" else "postbackId": identifier, "conversionValue": 7, "sourceIdentifier": "5239"}
    upper, lower = made(system, kind, **values, adNetworkId="EXAMPLE123.skadnetwork"), made(system, kind, **values)
    feed, filtered = subscribed(system, "production"), Subscription(system, f"s-{uuid.uuid4().hex[:12]}")
    system.call("Events", "CreateSubscription", {"name": filtered.name, "start": "now", "filter": {"adNetworkIds": ["Example123.SKAdNetwork"]}})
    first = posted(system, upper, "/v1/postbacks/example123.skadnetwork")
    found = event(system, first)
    data = found["data"]
    signed = data["postback"] if kind == "skadnetwork" else data["postback"]["payload"]
    assert signed[field] == found["subject"] == "EXAMPLE123.skadnetwork" and data["placement"]["campaign"]["name"] == "spring", found
    assert found["id"].startswith(f"{kind}:{NETWORK}:{identifier}"), found
    for body, path in ((lower, "/v1/postbacks/EXAMPLE123.SKADNETWORK"), (lower, "/v1/postbacks"), (upper, "/v1/postbacks/Example123.skadnetwork")):
        answer = system.post(path, body)
        assert answer.status == 200 and delivery(system, answer.json["id"], "verified")["eventId"] == found["id"]
    # The same bytes at the URL in another case are the same delivery.
    assert system.post("/v1/postbacks/EXAMPLE123.skadnetwork", upper).json == {"id": first, "status": "duplicate"}
    other = posted(system, upper, "/v1/postbacks/other123.skadnetwork")
    assert delivery(system, other, "rejected")["reason"] == "wrong_ad_network"
    events = [one for one in feed.wait_for(2) if identifier in json.dumps(one) or one["data"].get("deliveryId") == other]
    feed.delete()
    assert sorted(one["type"].split(".")[-2] for one in events) == ["rejected", "verified"], events
    assert [one["id"] for one in filtered.wait_for(1)] == [found["id"]]
    filtered.delete()


def test_names_in_another_case_are_counted_together(system):
    network = f"case{uuid.uuid4().hex[:8]}.skadnetwork"
    for name in (network, network.upper()):
        delivery(system, posted(system, made(system, "skadnetwork", adNetworkId=name, sourceIdentifier="5239")), "verified")

    def counts() -> dict:
        sources = system.call("Verifier", "GetValueCounts").get("sources", [])
        return {one["adNetworkId"]: int(one["count"]) for one in sources if one["adNetworkId"].lower() == network}

    until = time.monotonic() + 120
    while sum(counts().values()) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    assert counts() == {network: 2}
