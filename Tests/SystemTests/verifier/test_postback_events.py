"""The environment, the privacy tier and the counted values of postbacks, from the request to the event."""

import json
import time
import uuid

import pytest

from client import Subscription

from .test_conversion_values import event_of
from .test_rejections_and_repeats import delivery

NETWORK, OTHER = "example123.skadnetwork", "example123.adattributionkit"
TYPES = [f"attribution.{kind}.postback.{verdict}.v1" for kind in ("skadnetwork", "adattributionkit") for verdict in ("verified", "rejected")]


def subscribed(system, *environments: str) -> Subscription:
    """A subscription with a filter by environment."""
    name = f"s-{uuid.uuid4().hex[:12]}"
    system.call("Events", "CreateSubscription", {
        "name": name, "start": "now", "types": TYPES, "filter": {"environments": list(environments)}})
    return Subscription(system, name)


def made(system, kind: str, **values) -> dict:
    return json.loads(system.control(f"/control/{kind}/postbacks", {"adNetworkId": NETWORK, "send": False, **values})["body"])


def posted(system, body: dict, path: str = "/v1/postbacks") -> str:
    answer = system.post(path, body)
    assert answer.status == 200 and answer.json["status"] == "accepted", answer
    return answer.json["id"]


def data_by_delivery(feed: Subscription, *ids: str) -> dict[str, dict]:
    """The data and the type of the events of these deliveries, after a check that each has one event."""
    events = [event for event in feed.wait_for(len(ids)) if event["data"].get("deliveryId") in ids]
    feed.delete()
    assert len(events) == len(ids), events
    return {event["data"]["deliveryId"]: {"type": event["type"], **event["data"]} for event in events}


# --- an ad network's URL --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, field, values", [
    ("skadnetwork", "ad-network-id", {"version": "4.0"}), ("skadnetwork", "ad-network-id", {"version": "2.0"}),
    ("adattributionkit", "ad-network-identifier", {}), ("adattributionkit", "ad-network-identifier", {"environment": "development"}),
])
def test_a_postback_at_the_url_of_another_ad_network_is_rejected_and_counts_at_its_own(system, kind, field, values):
    environment = values.get("environment", "production")
    feed = subscribed(system, environment)
    genuine = made(system, kind, **values)
    wrong, right = posted(system, genuine, f"/v1/postbacks/{OTHER}"), posted(system, genuine, f"/v1/postbacks/{NETWORK}")
    assert delivery(system, wrong, "rejected")["reason"] == "wrong_ad_network" and delivery(system, right, "verified")
    events = data_by_delivery(feed, wrong, right)
    assert (events[wrong]["reason"], events[wrong]["field"]) == ("wrong_ad_network", field), events[wrong]
    assert events[wrong]["environment"] == events[right]["environment"] == environment
    assert events[right]["type"] == f"attribution.{kind}.postback.verified.v1"


def test_a_postback_made_in_device_settings_is_accepted_at_each_ad_networks_url(system):
    feed = subscribed(system, "development")
    settings = posted(system, made(system, "adattributionkit", environment="settings", adNetworkId="development.adattributionkit"),
                      f"/v1/postbacks/{NETWORK}")
    assert delivery(system, settings, "verified")
    assert data_by_delivery(feed, settings)[settings]["environment"] == "development"


# --- unsigned values ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("environment", ["production", "development"])
def test_an_adattributionkit_postback_with_changed_unsigned_values_is_reported(system, environment):
    feed = subscribed(system, environment)
    genuine = made(system, "adattributionkit", environment=environment, conversionValue=10)
    first = posted(system, genuine)
    counted = delivery(system, first, "verified")["eventId"]
    other = posted(system, {**genuine, "conversion-value": 63})
    assert delivery(system, other, "rejected")["reason"] == "conflicting_unsigned"
    events = data_by_delivery(feed, first, other)
    assert events[first]["type"] == "attribution.adattributionkit.postback.verified.v1"
    conflict = events[other]
    assert conflict["type"] == "attribution.adattributionkit.postback.rejected.v1" and conflict["environment"] == environment
    assert conflict["countedUnsigned"]["conversion-value"] == 10 and conflict["unsigned"]["conversion-value"] == 63
    assert conflict["countedEventId"] == counted


def test_only_production_postbacks_and_values_in_their_place_are_counted(system):
    app = 10**12 + uuid.uuid4().int % 10**12

    def post(kind: str, add: dict | None = None, **values) -> None:
        name = "appId" if kind == "skadnetwork" else "advertisedItemId"
        body = made(system, kind, **{name: app}, **values) | (add or {})
        assert delivery(system, posted(system, body), "verified")

    added = {"conversion-value": 42}
    post("adattributionkit", environment="development", conversionValue=42)
    # Without a counted value: ads that did not win, and fine values in later windows.
    post("skadnetwork", added, didWin=False)
    post("adattributionkit", added, didWin=False)
    post("skadnetwork", added, sequenceIndex=1, coarseConversionValue=None)
    post("adattributionkit", added, sequenceIndex=2, coarseConversionValue=None)
    post("skadnetwork", sequenceIndex=1, coarseConversionValue="high")
    post("skadnetwork", conversionValue=41)
    wanted = {(None, None): 4, (None, "high"): 1, (41, None): 1}

    def counts() -> dict:
        conversions = system.call("Verifier", "GetValueCounts").get("conversions", [])
        return {(one.get("fineValue"), one.get("coarseValue")): int(one["count"]) for one in conversions if int(one["appAppleId"]) == app}

    # A verifier that has counted many different values writes them once a minute.
    until = time.monotonic() + 120
    while sum(counts().values()) < sum(wanted.values()) and time.monotonic() < until:
        time.sleep(0.1)
    assert counts() == wanted


# --- tiers ----------------------------------------------------------------------------------------------------------------

SKADNETWORK, KIT = {"version": "4.0", "sourceAppId": None}, {"publisherItemId": None}
WITHOUT = {"coarseConversionValue": None}
SOURCE = {"skadnetwork": "source-app-id", "adattributionkit": "publisher-item-identifier"}


@pytest.mark.parametrize("kind, values, add, tier, withheld", [
    ("skadnetwork", {"version": "4.0", "conversionValue": 5}, {}, 3, []),
    ("skadnetwork", {**SKADNETWORK, "sourceIdentifier": "5239", "conversionValue": 5}, {"country-code": "DE"}, 3, ["source"]),
    ("skadnetwork", {**SKADNETWORK, "sourceIdentifier": "239", "conversionValue": 5}, {}, 2, ["source-identifier", "source", "country-code"]),
    ("skadnetwork", {**SKADNETWORK, "sourceIdentifier": "39", "coarseConversionValue": "low"}, {}, 1,
     ["source-identifier", "source", "conversion-value", "country-code"]),
    ("skadnetwork", {**SKADNETWORK, **WITHOUT, "sourceIdentifier": "39"}, {}, 0,
     ["source-identifier", "source", "conversion-value", "coarse-conversion-value", "country-code"]),
    ("skadnetwork", {"version": "4.0", "sequenceIndex": 1}, {}, 1, ["country-code"]),
    ("skadnetwork", {"version": "4.0", "sequenceIndex": 2, **WITHOUT}, {"conversion-value": 63}, 1, ["coarse-conversion-value", "country-code"]),
    ("skadnetwork", {"version": "4.0", "sourceIdentifier": "39", "didWin": False}, {"conversion-value": 63}, 0, ["source-identifier"]),
    ("skadnetwork", {"version": "3.0", "sourceAppId": None, "conversionValue": 5}, {}, None, ["source"]),
    ("skadnetwork", {"version": "3.0", "didWin": False}, {}, None, []),
    ("adattributionkit", {"conversionValue": 5}, {}, 3, []),
    ("adattributionkit", {**KIT, "sourceIdentifier": "239", "conversionValue": 5}, {}, 2, ["source-identifier", "source", "country-code"]),
    ("adattributionkit", {**KIT, "sourceIdentifier": "39", "coarseConversionValue": "low"}, {}, 1,
     ["source-identifier", "source", "conversion-value", "country-code"]),
    ("adattributionkit", {**KIT, **WITHOUT, "sourceIdentifier": "39", "marketplaceId": None}, {}, 0,
     ["source-identifier", "marketplace-identifier", "source", "conversion-value", "coarse-conversion-value", "country-code"]),
    ("adattributionkit", {"sequenceIndex": 2, **WITHOUT}, {"conversion-value": 63}, 1, ["coarse-conversion-value", "country-code"]),
    ("adattributionkit", {"sourceIdentifier": "39", "didWin": False, "marketplaceId": None}, {"conversion-value": 63}, 0,
     ["source-identifier", "marketplace-identifier"]),
])
def test_the_event_has_the_lowest_possible_tier_and_what_was_withheld(system, kind, values, add, tier, withheld):
    data = event_of(system, kind, add, **values)
    assert data.get("tierAtLeast") == tier
    assert data["withheld"] == [SOURCE[kind] if name == "source" else name for name in withheld]
