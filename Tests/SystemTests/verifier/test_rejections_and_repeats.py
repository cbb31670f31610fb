"""Rejected and repeated deliveries are reported, stored for examination, and counted once, even if the configuration changes."""

import base64
import functools
import json
import time
import uuid

import pytest

from SystemTests.support.running_system import start_system, stop_system

NETWORK = "example123.skadnetwork"


def posted(system, body: str) -> str:
    answer = system.post("/v1/postbacks", body)
    assert answer.status == 200, answer
    return answer.json["id"]


def delivery(system, id: str, state: str) -> dict:
    for _ in range(100):
        found = system.call("Ingest", "GetDelivery", {"id": id})
        if found["state"] == state:
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def restart(system) -> None:
    system.service("stop", "verifier")
    system.service("start", "verifier")


def test_a_postback_with_changed_unsigned_values_is_reported_and_not_counted(system):
    identifier = str(uuid.uuid4())
    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1", "attribution.skadnetwork.postback.rejected.v1"])
    made = system.control("/control/skadnetwork/postbacks", {
        "transactionId": identifier, "adNetworkId": NETWORK, "send": False, "version": "4.0", "conversionValue": 10})
    genuine = json.loads(made["body"])
    first = posted(system, made["body"])
    assert delivery(system, first, "verified")
    # A copy with its members in another order is a duplicate; a copy with another unsigned value is a conflict.
    again = posted(system, json.dumps(dict(reversed(genuine.items()))))
    other = posted(system, json.dumps({**genuine, "conversion-value": 63}))
    assert delivery(system, again, "verified")["eventId"] == delivery(system, first, "verified")["eventId"]
    found = delivery(system, other, "rejected")
    assert found["reason"] == "conflicting_unsigned"
    events = [event for event in feed.wait_for(2) if identifier in json.dumps(event["data"]).lower() or event["data"].get("deliveryId") == other]
    feed.delete()
    kinds = sorted(event["type"].split(".")[-2] for event in events)
    assert kinds == ["rejected", "verified"], events
    conflict = next(event["data"] for event in events if ".rejected." in event["type"])
    assert conflict["countedUnsigned"]["conversion-value"] == 10 and conflict["unsigned"]["conversion-value"] == 63
    assert conflict["countedEventId"] == delivery(system, first, "verified")["eventId"] and conflict["environment"] == "production"


def test_the_rpc_answer_lists_the_unsigned_values(system):
    def made(kind: str, **values) -> dict:
        return json.loads(system.control(f"/control/{kind}/postbacks", {"adNetworkId": NETWORK, "send": False, **values})["body"])

    for method, postback in [("VerifySKAdNetworkPostback", made("skadnetwork", version="4.0", conversionValue=10)),
                             ("VerifyAdAttributionKitPostback", made("adattributionkit", conversionValue=10))]:
        postback |= {"country-code": "DE", "partner": 1}
        verdict = system.call("Verifier", method, {"postback": postback})
        assert verdict["valid"] and verdict["unsigned"].items() >= {"conversion-value": 10, "country-code": "DE"}.items()
        assert "partner" not in verdict["unsigned"] and verdict["postback"]["partner"] == 1
        # If the signature is wrong, no member is signed, so the verdict does not list the unsigned ones.
        forged = {**postback, "transaction-id": str(uuid.uuid4())} if "transaction-id" in postback else {
            **postback, "jws-string": postback["jws-string"][:-8] + "AAAAAAAA"}
        verdict = system.call("Verifier", method, {"postback": forged})
        assert verdict["reason"] == "bad_signature" and "unsigned" not in verdict


@pytest.mark.parametrize("foreign", [
    {"partner": functools.reduce(lambda inner, _: [inner], range(30), "deep")}, {"partner": [0] * 19_950},
    {"campaign-id": [0] * 10_500}, {"campaign-id": {f"k{number}": number for number in range(9_000)}},
])
def test_changed_unsigned_values_are_reported_in_every_combination(system, foreign):
    # Everything that ingest accepts becomes an event that can be compared.
    made = system.control("/control/skadnetwork/postbacks", {
        "transactionId": str(uuid.uuid4()), "adNetworkId": NETWORK, "send": False, "version": "4.0", "conversionValue": 10})
    genuine = {**json.loads(made["body"]), **foreign}
    first = posted(system, json.dumps(genuine))
    assert delivery(system, first, "verified")
    again = posted(system, json.dumps(turned(genuine)))
    assert delivery(system, again, "verified")["eventId"] == delivery(system, first, "verified")["eventId"]
    other = posted(system, json.dumps({**genuine, "conversion-value": 63}))
    assert delivery(system, other, "rejected")["reason"] == "conflicting_unsigned"


def turned(value):
    """The same value with the members of its objects in reverse order; lists are unchanged."""
    return {name: turned(member) for name, member in reversed(value.items())} if isinstance(value, dict) else value


def test_the_body_of_a_rejected_delivery_can_be_read(system):
    made = system.control("/control/skadnetwork/postbacks", {"adNetworkId": NETWORK, "send": False, "version": "4.0"})
    forged = json.dumps({**json.loads(made["body"]), "transaction-id": str(uuid.uuid4())})
    found = delivery(system, posted(system, forged), "rejected")
    assert found["reason"] == "bad_signature"
    assert base64.b64decode(found["body"]).decode() == forged
    genuine = delivery(system, posted(system, made["body"]), "verified")
    assert "body" not in genuine
    metrics = system.request("GET", system.url("Verifier") + "/metrics", headers={"Authorization": f"Bearer {system.token}"}).body.decode()
    assert any(line.startswith("attribution_rejected_total{") and 'reason="bad_signature"' in line and not line.endswith(" 0")
               for line in metrics.splitlines()), [line for line in metrics.splitlines() if "rejected_total" in line]


def test_the_time_from_apples_signature_to_the_receipt_is_measured(system):
    """The alert NotificationsLate counts notifications that are more than half an hour old."""
    def late() -> float:
        text = system.request("GET", system.url("Verifier") + "/metrics", headers={"Authorization": f"Bearer {system.token}"}).body.decode()
        values = {"count": 0.0, "within": 0.0}
        for line in text.splitlines():
            if line.startswith('attribution_notification_delay_seconds_count{environment="Sandbox"}'):
                values["count"] = float(line.split()[1])
            if line.startswith('attribution_notification_delay_seconds_bucket{environment="Sandbox",le="1800.0"}'):
                values["within"] = float(line.split()[1])
        return values["count"] - values["within"]

    before = late()
    made = system.control("/control/notifications", {
        "bundleId": "com.example.app", "environment": "Sandbox", "notificationType": "TEST", "send": False,
        "signedDate": int((time.time() - 7200) * 1000)})
    answer = system.post("/v1/app-store/notifications", {"signedPayload": made["signedPayload"]})
    assert answer.status == 200, answer
    delivery(system, answer.json["id"], "verified")
    assert late() == before + 1


def test_verified_deliveries_are_counted_by_kind_and_environment(system):
    series = [("skadnetwork-postback", "production"), ("adattributionkit-postback", "production"), ("adattributionkit-postback", "development"),
              ("notification", "Production"), ("notification", "Sandbox")]

    def counts() -> list[float]:
        text = system.request("GET", system.url("Verifier") + "/metrics", headers={"Authorization": f"Bearer {system.token}"}).body.decode()
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("attribution_verified_total{"))
        return [float(values.get(f'attribution_verified_total{{kind="{kind}",environment="{environment}"}}', 0)) for kind, environment in series]

    def grows(by: list[int], ids: list[str]) -> None:
        wanted = [one + more for one, more in zip(before, by, strict=True)]
        for id in ids:
            delivery(system, id, "verified")
        assert counts() == wanted

    before = counts()
    ids = []
    for _ in range(3):
        ids.append(
            posted(system, system.control("/control/skadnetwork/postbacks", {"adNetworkId": NETWORK, "send": False, "version": "4.0"})["body"])
        )
    for environment, count in (("production", 1), ("development", 2)):
        for _ in range(count):
            ids.append(posted(system, system.control("/control/adattributionkit/postbacks", {"environment": environment, "send": False})["body"]))
    for environment, count in (("Production", 2), ("Sandbox", 1)):
        for _ in range(count):
            made = system.control("/control/notifications", {
                "bundleId": "com.example.app", "environment": environment, "notificationType": "TEST", "send": False})
            answer = system.post("/v1/app-store/notifications", {"signedPayload": made["signedPayload"]})
            assert answer.status == 200, answer
            ids.append(answer.json["id"])
    grows([3, 1, 2, 2, 1], ids)
    # A rejected postback does not count.
    forged = system.control("/control/skadnetwork/postbacks", {"adNetworkId": NETWORK, "send": False, "version": "4.0"})["body"]
    assert delivery(system, posted(system, json.dumps({**json.loads(forged), "transaction-id": str(uuid.uuid4())})), "rejected")
    grows([3, 1, 2, 2, 1], [])


def development_postback_is_marked(system) -> None:
    """A SKAdNetwork postback that is signed by a development key, and accepted, is marked in the response, in each kind of event and in
    metrics."""
    body = json.loads(system.control("/control/skadnetwork/postbacks", {
        "adNetworkId": NETWORK, "send": False, "version": "4.0", "key": "development", "conversionValue": 10})["body"])
    verdict = system.call("Verifier", "VerifySKAdNetworkPostback", {"postback": body})
    assert verdict["valid"] and verdict["environment"] == "development", verdict
    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1", "attribution.skadnetwork.postback.rejected.v1"])
    astray = system.post("/v1/postbacks/example123.adattributionkit", body).json["id"]
    assert delivery(system, astray, "rejected")["reason"] == "wrong_ad_network"
    counted = posted(system, json.dumps(body))
    assert delivery(system, counted, "verified")
    conflicting = posted(system, json.dumps({**body, "conversion-value": 63}))
    assert delivery(system, conflicting, "rejected")["reason"] == "conflicting_unsigned"
    events = {event["data"]["deliveryId"]: event["data"] for event in feed.wait_for(3)}
    feed.delete()
    assert {id: data["environment"] for id, data in events.items()} == dict.fromkeys((astray, counted, conflicting), "development")
    assert events[counted]["conversion"] == {"status": "development"}
    text = system.request("GET", system.url("Verifier") + "/metrics", headers={"Authorization": f"Bearer {system.token}"}).body.decode()
    values = [line.rsplit(" ", 1)[1] for line in text.splitlines()
              if line.startswith('attribution_verified_total{kind="skadnetwork-postback",environment="development"}')]
    # The counted postback, and its repeat with other values, have verified signatures.
    assert len(values) == 1 and float(values[0]) >= 2


def test_a_notification_of_an_app_that_was_not_configured_counts_once_it_is(tmp_path):
    system = start_system(tmp_path)
    try:
        configuration = tmp_path / "configuration.yaml"
        whole = configuration.read_text()
        assert "bundleId: com.example.app" in whole
        configuration.write_text(whole.replace("bundleId: com.example.app", "bundleId: com.example.other"))
        restart(system)
        feed = system.subscribe(["appstore.notification.verified.v1", "appstore.notification.rejected.v1"])
        made = system.control("/control/notifications", {
            "bundleId": "com.example.app", "environment": "Production", "notificationType": "TEST", "send": False})
        body = {"signedPayload": made["signedPayload"]}
        assert system.post("/v1/app-store/notifications", body).json["status"] == "accepted"
        assert [event["data"]["reason"] for event in feed.wait_for(1)] == ["wrong_app"]
        # A SKAdNetwork postback of a development key is accepted where that is allowed, and is marked as development.
        tried = system.control("/control/skadnetwork/postbacks", {"adNetworkId": NETWORK, "send": False, "version": "4.0", "key": "development"})
        assert delivery(system, posted(system, tried["body"]), "rejected")["reason"] == "bad_signature"
        assert "\nappleKeys:\n" in whole
        configuration.write_text(whole.replace("\nappleKeys:\n", "\nappleKeys:\n  acceptsDevelopmentSKAdNetwork: true\n"))
        restart(system)
        development_postback_is_marked(system)
        # Apple's retry, or recovery's copy: the same bytes.
        assert system.post("/v1/app-store/notifications", body).json["status"] == "accepted"
        events = feed.wait_for(1)
        assert [event["type"] for event in events] == ["appstore.notification.verified.v1"]
        assert system.post("/v1/app-store/notifications", body).json["status"] == "duplicate"
        assert feed.wait_for(1, seconds=2) == []
    finally:
        stop_system(system)
