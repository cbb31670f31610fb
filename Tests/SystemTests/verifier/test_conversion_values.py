"""Meaning of verified postbacks: conversion values by their schema, source identifiers by their names."""

import json
import uuid

import pytest

from SystemTests.support.running_system import start_system, stop_system, verifier_under

NETWORK, APP = "example123.skadnetwork", 525463029


def event_of(system, kind: str, add: dict | None = None, **values) -> dict:
    identifier = str(uuid.uuid4())
    name = "transactionId" if kind == "skadnetwork" else "postbackId"
    feed = system.subscribe([f"attribution.{kind}.postback.verified.v1"])
    made = system.control(f"/control/{kind}/postbacks", {name: identifier, "adNetworkId": NETWORK, "send": False, **values})
    body = json.dumps({**json.loads(made["body"]), **add}) if add else made["body"]
    assert system.post("/v1/postbacks", body).status == 200
    events = [event for event in feed.wait_for(1) if identifier in json.dumps(event["data"]).lower()]
    feed.delete()
    assert len(events) == 1
    return events[0]["data"]


@pytest.mark.parametrize("value, expected", [
    (0, {"status": "decoded", "event": "install", "schema": "2"}),
    (5, {"status": "decoded", "event": "purchase", "revenue": {"min": 0.99, "max": 9.99, "currency": "USD"}, "schema": "2"}),
    (11, {"status": "ambiguous", "alternatives": [
        {"event": "purchase", "revenue": {"min": 0.99, "max": 9.99, "currency": "USD"}, "schema": "1"}, {"event": "trial", "schema": "2"}]}),
    (21, {"status": "unmapped"}),
])
def test_a_fine_value_is_decoded_with_every_possible_schema(system, value, expected):
    data = event_of(system, "skadnetwork", version="4.0", appId=APP, sourceIdentifier="5239", conversionValue=value)
    assert data["conversion"] == expected


def test_a_coarse_value_is_decoded_and_a_missing_one_is_unknown(system):
    data = event_of(system, "skadnetwork", version="4.0", appId=APP, sourceIdentifier="39", sequenceIndex=1, coarseConversionValue="high")
    assert data["conversion"] == {"status": "decoded", "event": "kept", "schema": "2"}
    data = event_of(system, "skadnetwork", version="4.0", appId=APP, sourceIdentifier="39", didWin=False)
    assert data["conversion"] == {"status": "unknown"}


@pytest.mark.parametrize("kind, values", [
    ("skadnetwork", {"version": "4.0", "appId": APP, "sourceIdentifier": "39", "didWin": False}),
    ("adattributionkit", {"advertisedItemId": APP, "sourceIdentifier": "139", "didWin": False}),
])
def test_a_conversion_value_of_an_ad_that_did_not_win_is_not_credited(system, kind, values):
    # Anybody who has such a postback can add a value, because it is not signed.
    data = event_of(system, kind, **values, add={"conversion-value": 5})
    assert data["unsigned"]["conversion-value"] == 5 and data["conversion"] == {"status": "unknown"}


@pytest.mark.parametrize("kind, values", [("skadnetwork", {"version": "4.0", "appId": APP}), ("adattributionkit", {"advertisedItemId": APP})])
def test_a_fine_value_of_a_later_window_has_no_meaning(system, kind, values):
    data = event_of(system, kind, **values, sequenceIndex=1, coarseConversionValue=None, add={"conversion-value": 5})
    assert data["unsigned"]["conversion-value"] == 5 and data["conversion"] == {"status": "unmapped"}


def test_a_development_postback_is_credited_only_to_an_app_that_counts_them(system, tmp_path):
    values = {"advertisedItemId": APP, "sourceIdentifier": "139", "conversionValue": 5, "environment": "development"}
    data = event_of(system, "adattributionkit", **values)
    assert data["environment"] == "development" and data["conversion"] == {"status": "development"}
    assert data["placement"]["digits"] == 3 and data["unsigned"]["conversion-value"] == 5
    counting = start_system(tmp_path)
    try:
        configuration = tmp_path / "configuration.yaml"
        whole = configuration.read_text()
        number = f"appAppleId: {APP}\n"
        assert number in whole
        configuration.write_text(whole.replace(number, f"{number}    acceptsDevelopmentPostbacks: true\n"))
        counting.service("stop", "verifier")
        counting.service("start", "verifier")
        data = event_of(counting, "adattributionkit", **values)
        assert data["environment"] == "development" and data["conversion"]["event"] == "purchase"
    finally:
        stop_system(counting)


def test_a_source_identifier_is_recognised_by_its_last_digits(system):
    data = event_of(system, "skadnetwork", version="4.0", appId=APP, sourceIdentifier="5239", conversionValue=0)
    assert data["placement"] == {
        "digits": 4, "campaign": {"status": "named", "digits": "39", "name": "spring"},
        "adGroup": {"status": "named", "digits": "239", "name": "women"},
        "creative": {"status": "named", "digits": "5239", "name": "video-a"}}
    data = event_of(system, "adattributionkit", advertisedItemId=APP, sourceIdentifier="139", conversionValue=5)
    assert data["placement"]["adGroup"] == {"status": "unnamed", "digits": "139"}
    assert data["placement"]["creative"] == {"status": "unknown"}
    assert data["conversion"]["event"] == "purchase"


@pytest.mark.parametrize("text, key", [
    ("apps: [ { bundleId: a, appAppleId: 1, conversionValues: [ { version: x, effectiveFrom: yesterday } ] } ]",
     "apps[0].conversionValues[0].effectiveFrom"),
    (("apps: [ { bundleId: a, appAppleId: 1, conversionValues: [ { version: x, effectiveFrom: \"2026-01-01T00:00:00Z\", "
     "fine: [ { values: 60-64, event: e } ] } ] } ]"), "apps[0].conversionValues[0].fine[0].values"),
    (("apps: [ { bundleId: a, appAppleId: 1, conversionValues: [ { version: x, effectiveFrom: \"2026-01-01T00:00:00Z\", "
     "coarse: [ { value: huge, event: e } ] } ] } ]"), "apps[0].conversionValues[0].coarse[0].value"),
    (("apps: [ { bundleId: a, appAppleId: 1, conversionValues: [ { version: x, effectiveFrom: \"2026-01-01T00:00:00Z\", "
     "fine: [ { values: 1, event: e, revenue: { min: 2, max: 1, currency: USD } } ] } ] } ]"),
     "apps[0].conversionValues[0].fine[0].revenue.max"),
    ("apps: [ { bundleId: a, environments: [Sandbox], acceptsDevelopmentPostbacks: true } ]", "apps[0].appAppleId"),
    ("sourceIdentifiers: { a.skadnetwork: { campaigns: { \"5\": x } } }", "sourceIdentifiers.a.skadnetwork.campaigns"),
    ("appStore: { revocation: sometimes }", "appStore.revocation"),
    ("adNetworks: [ { id: Example123.skadnetwork, keys: [] } ]", "adNetworks[0].id"),
])
def test_verifier_does_not_start_with_a_wrong_configuration_and_names_the_key(system, tmp_path, text, key):
    path = tmp_path / "configuration.yaml"
    path.write_text(text + '\nclients: [ { name: a, tokenSHA256: "' + "0" * 64 + '", allow: ["*"] } ]\n')
    run = verifier_under(system, path)
    assert run.returncode == 78 and key in run.stderr, run.stderr
