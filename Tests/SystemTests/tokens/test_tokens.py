"""AdServices tokens: Apple's answers, one by one, through the whole system."""

import json
import time
import uuid

import pytest

from SystemTests.support.running_system import VECTORS

RESOLVED, FAILED = "attribution.adservices.resolved.v1", "attribution.adservices.failed.v1"
STATES = {"attributed": "attributed", "not-attributed": "not_attributed", "test": "not_attributed", "not-found": "failed",
          "invalid-token": "invalid"}
CASES = json.loads((VECTORS / "appstore/adservices.json").read_text())


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def scripted(system, answers: list[dict]) -> str:
    token = f"{uuid.uuid4().hex}{uuid.uuid4().hex}"
    system.control("/control/adservices/tokens", {"token": token, "answers": answers})
    return token


def calls(system, token: str) -> list[dict]:
    return next(entry for entry in system.control("/control/adservices/tokens")["tokens"] if entry["token"] == token)["calls"]


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] != "500-later"], ids=lambda case: case["id"])
def test_each_vector_ends_in_its_outcome_with_one_event(system, case):
    feed = system.subscribe([RESOLVED, FAILED])
    token = scripted(system, case["responses"])
    exchange = system.call("Broker", "ExchangeToken", {
        "token": token, "bundleId": "com.example.app", "attStatus": 3, "requestedAt": stamp(time.time() - 30),
        "installId": uuid.uuid4().hex, "waitMilliseconds": 30000})
    expect = case["expect"]
    assert exchange["state"] == STATES[expect["outcome"]], exchange
    assert len(calls(system, token)) == expect.get("calls", expect.get("fastCalls"))
    if "payload" in expect:
        assert exchange["detail"] == expect["payload"]
    events = feed.wait_for(1)
    assert len(events) == 1
    assert events[0]["type"] == (RESOLVED if expect["outcome"] in ("attributed", "not-attributed", "test") else FAILED)
    assert token not in json.dumps(events)
    data = events[0]["data"]
    assert [attempt["result"] for attempt in data["attempts"]] == [str(answer["status"]) for answer in case["responses"]]
    assert 29_000 < data["tokenAgeMs"] < 75_000
    assert "unusualToken" not in data
    if expect["outcome"] == "test":
        assert exchange["test"] is True and "record" not in exchange and "record" not in events[0]["data"]
    feed.delete()


def test_after_a_failure_apple_is_called_after_a_delay(system):
    # All later answers have no outcome either: an event of this token would disturb another test.
    token = scripted(system, [{"status": 500}])
    exchange = system.call("Broker", "ExchangeToken", {
        "token": token, "bundleId": "com.example.app", "requestedAt": stamp(time.time() - 30), "waitMilliseconds": 800})
    assert exchange["state"] == "pending"
    assert len(calls(system, token)) == 1
    assert system.call("Broker", "GetExchange", {"exchangeId": exchange["exchangeId"]})["state"] == "pending"


def test_a_token_is_one_exchange_as_text_as_json_and_by_rpc(system):
    feed = system.subscribe([RESOLVED, FAILED])
    token = scripted(system, [{"status": 200, "body": {"attribution": False}}])
    query = f"?bundleId=com.example.app&installId=i-1&attStatus=0&requestedAt={stamp(time.time() - 30)}"
    text = system.post("/v1/adservices/tokens/" + query, f" {token}\n", content_type="text/plain")
    assert text.status == 202 and text.json["status"] == "accepted", text
    again = system.post("/v1/adservices/tokens", {"token": token, "bundleId": "com.example.app"})
    assert again.status == 202 and again.json == {"id": text.json["id"], "status": "duplicate"}
    exchange = system.call("Broker", "ExchangeToken", {"token": token, "bundleId": "com.example.app", "waitMilliseconds": 10000})
    assert exchange["exchangeId"] == text.json["id"] and exchange["state"] == "not_attributed"
    assert len(feed.wait_for(1, settle=1)) == 1 and len(calls(system, token)) == 1
    for name in ("ingest", "asa-token-broker"):
        assert token not in system.log(name)
    feed.delete()


@pytest.mark.parametrize("form", ["text", "json", "rpc"])
def test_a_token_is_sent_to_apple_byte_for_byte(system, form):
    """Only what has one reading is decoded, and neither `+` nor the padding of Base64 is."""
    feed = system.subscribe([RESOLVED, FAILED])
    for suffix, is_usual in (("+/+w==", True), ("%2G%2F", False), ("a-b_c", False)):
        token = uuid.uuid4().hex + uuid.uuid4().hex[:30] + suffix
        system.control("/control/adservices/tokens", {"token": token, "answers": [{"status": 200, "body": {"attribution": False}}]})
        requested = stamp(time.time() - 30)
        if form == "text":
            path = f"/v1/adservices/tokens?bundleId=com.example.app&requestedAt={requested}"
            assert system.post(path, f"\t{token} \n", content_type="text/plain").status == 202
        elif form == "json":
            body = {"token": token, "bundleId": "com.example.app", "requestedAt": requested}
            assert system.post("/v1/adservices/tokens", body).status == 202
        else:
            system.call("Broker", "ExchangeToken", {"token": f" {token}\n", "bundleId": "com.example.app", "requestedAt": requested})
        data = feed.wait_for(1)[0]["data"]
        assert data["outcome"] == "organic" and data.get("unusualToken", False) == (not is_usual), (token, data)
        assert len(calls(system, token)) == 1
    feed.delete()


def test_detail_without_authorization_is_flagged_and_its_times_are_removed(system):
    record = {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3, "claimType": "Click", "clickDate": "2026-10-08T17:17Z"}
    for status, shown in ((3, True), (2, False), (None, False)):
        token = scripted(system, [{"status": 200, "body": record}])
        message = {"token": token, "bundleId": "com.example.app", "requestedAt": stamp(time.time() - 30), "waitMilliseconds": 10000}
        if status is not None:
            message["attStatus"] = status
        exchange = system.call("Broker", "ExchangeToken", message)
        assert exchange["detail"] == "detailed"
        assert ("clickDate" in exchange["record"]) == shown and ("clickDate" in exchange["record"]["raw"]) == shown
        assert exchange.get("attMismatch", False) == (status == 2)


def test_a_withdrawal_while_the_token_waits_and_one_after_its_outcome_remove_the_times(system):
    record = {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3, "claimType": "Click", "clickDate": "2026-10-08T17:17Z"}

    def put(install: str, status: int) -> None:
        body = {"bundleId": "com.example.app", "attStatus": status}
        assert system.post(f"/v1/sessions/{install}/att-status", body, method="PUT").status == 200

    feed = system.subscribe([RESOLVED])
    # The first call finds nothing, and the user refuses before the next one.
    waiting, install = scripted(system, [{"status": 404}, {"status": 200, "body": record}]), uuid.uuid4().hex
    message = {"token": waiting, "bundleId": "com.example.app", "installId": install, "attStatus": 3,
               "requestedAt": stamp(time.time() - 30)}
    put(install, 3)
    assert system.call("Broker", "ExchangeToken", {**message, "waitMilliseconds": 500})["state"] == "pending"
    put(install, 2)
    exchange = system.call("Broker", "ExchangeToken", {**message, "waitMilliseconds": 20000})
    assert exchange["state"] == "attributed" and exchange["detail"] == "detailed" and "clickDate" not in json.dumps(exchange)
    data = feed.wait_for(1)[0]["data"]
    assert data["attStatus"] == 2 and data["attStatusAtReceipt"] == 3 and data["removedNames"] == ["clickDate"]
    assert "2026-10-08" not in json.dumps(data) and data["attMismatch"] is False
    # The outcome of another token was shown already.
    token, install = scripted(system, [{"status": 200, "body": record}]), uuid.uuid4().hex
    message |= {"token": token, "installId": install, "waitMilliseconds": 10000}
    exchange = system.call("Broker", "ExchangeToken", message)
    assert exchange["record"]["clickDate"] and "attStatusAtReceipt" not in feed.wait_for(1)[0]["data"]
    put(install, 2)
    query = {"exchangeId": exchange["exchangeId"]}
    for again in (system.call("Broker", "GetExchange", query), system.call("Broker", "ExchangeToken", message)):
        assert again["state"] == "attributed" and "clickDate" not in json.dumps(again)
    feed.delete()


def exchange(system, answers: list[dict], **fields) -> tuple[str, dict]:
    token = scripted(system, answers)
    return token, system.call("Broker", "ExchangeToken", {
        "token": token, "bundleId": "com.example.app", "requestedAt": stamp(time.time() - 30), "waitMilliseconds": 10000, **fields})


def metric(system, service: str, name: str, **labels: str) -> float:
    """The value of a counter, 0 before it has one."""
    text = system.request("GET", system.url(service) + "/metrics").body.decode()
    for line in text.splitlines():
        if line.startswith(name + "{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
            return float(line.rsplit(" ", 1)[1])
    return 0


FAR = "2026-01-01T00:00:00Z"
BAD = [
    ({"token": ""}, "token"), ({"token": " \n"}, "token"), ({"token": "A" * 4097}, "token"), ({"token": "T\u00f6ken"}, "token"),
    ({"token": "a b"}, "token"), ({"requestedAt": FAR}, "requestedAt"),
    ({"bundleId": "com.example.unknown"}, "bundleId"), ({"bundleId": ""}, "bundleId"), ({"installId": "x" * 256}, "installId"),
]


@pytest.mark.parametrize("fault,field", BAD, ids=lambda value: value if isinstance(value, str) else "-")
def test_a_wrong_field_of_a_token_is_refused_by_its_name_before_apple_is_called(system, fault, field):
    token = f"bad{uuid.uuid4().hex}"
    body = {"token": token, "bundleId": "com.example.app", **fault}
    answer = system.post("/v1/adservices/tokens", body)
    assert answer.status == 400 and field in answer.body.decode(), answer
    refused = system.rpc("Broker", "ExchangeToken", body)
    assert refused.status == 400 and field in refused.body.decode(), refused
    assert not [entry for entry in system.control("/control/adservices/tokens")["tokens"] if entry["token"].startswith("bad")]


def test_a_token_of_4096_bytes_that_is_almost_24_hours_old_is_exchanged(system):
    token = uuid.uuid4().hex + "A" * (4096 - 32)
    system.control("/control/adservices/tokens", {"token": token, "answers": [{"status": 200, "body": {"attribution": False}}]})
    answer = system.call("Broker", "ExchangeToken", {
        "token": token, "bundleId": "com.example.app", "requestedAt": stamp(time.time() - 24 * 3600 + 20), "waitMilliseconds": 10000})
    assert answer["state"] == "not_attributed"
    assert len(calls(system, token)) == 1


def test_a_token_that_apple_does_not_know_leaves_a_dead_letter_without_it(system):
    token, ended = exchange(system, [{"status": 400}])
    assert ended["state"] == "invalid"
    letters = system.call("Queues", "ListDeadLetters", {"queue": "tokens", "maxLetters": 1000})["deadLetters"]
    letter = next(letter for letter in letters if letter["id"] == ended["exchangeId"])
    assert "400" in letter["lastError"] and token not in json.dumps(letter), letter
    chosen = {"queue": "tokens", "ids": [ended["exchangeId"]]}
    # The token is settled, so that nothing is processed again.
    assert not system.call("Queues", "ReplayDeadLetters", chosen, key=uuid.uuid4().hex).get("replayed")
    assert system.call("Broker", "GetExchange", {"exchangeId": ended["exchangeId"]})["state"] == "invalid"
    assert system.call("Queues", "PurgeDeadLetters", chosen, key=uuid.uuid4().hex)["purged"] == 1
    assert len(calls(system, token)) == 1


def test_a_device_without_a_token_is_counted_and_not_queued(system):
    before = metric(system, "Ingest", "attribution_adservices_device_errors_total", app="com.example.app", error="networkError")
    for code, retry in ((1, True), (2, True), (3, False)):
        answer = system.post("/v1/adservices/tokens", {"attributionError": code, "bundleId": "com.example.app", "installId": "i"})
        assert answer.status == 202 and answer.json == {"status": "counted", "retry": retry}
    assert metric(system, "Ingest", "attribution_adservices_device_errors_total", app="com.example.app", error="networkError") == before + 1
    for body in ({"attributionError": 4}, {"attributionError": "1"}, {"attributionError": 1, "token": "abc"}):
        answer = system.post("/v1/adservices/tokens", {"bundleId": "com.example.app", **body})
        assert answer.status == 400 and b"attributionError" in answer.body


def test_a_detailed_record_replaces_the_standard_record_of_the_install(system):
    feed = system.subscribe([RESOLVED])
    install = uuid.uuid4().hex
    record = {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3, "claimType": "Click"}
    _first, _ = exchange(system, [{"status": 200, "body": record}], installId=install, attStatus=0)
    _second, _ = exchange(system, [{"status": 200, "body": {**record, "clickDate": "2026-10-08T17:17Z"}}], installId=install, attStatus=3)
    _third, _ = exchange(system, [{"status": 200, "body": record}], installId=install, attStatus=2)
    events = {event["data"]["exchangeId"]: event for event in feed.wait_for(3)}
    data = [event["data"] for event in events.values()]
    standard = next(one for one in data if one["attStatus"] == 0)
    detailed = next(one for one in data if one["attStatus"] == 3)
    later = next(one for one in data if one["attStatus"] == 2)
    ids = {event["data"]["attStatus"]: event["id"] for event in events.values()}
    assert "supersedes" not in standard and "supersededBy" not in standard
    assert detailed["supersedes"] == ids[0] and later["supersededBy"] == ids[3]
    assert all(one["installId"] == install for one in data)
    feed.delete()


def test_an_attribution_replaces_the_organic_outcome_of_the_install(system):
    feed = system.subscribe([RESOLVED])
    install = uuid.uuid4().hex
    record = {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3, "claimType": "Click"}
    answers = ({"attribution": False}, record, {"attribution": False})
    ids = [exchange(system, [{"status": 200, "body": body}], installId=install)[1]["exchangeId"] for body in answers]
    events = {event["data"]["exchangeId"]: event for event in feed.wait_for(3)}
    organic, attributed, later = (events[id] for id in ids)
    assert "supersedes" not in organic["data"] and "supersededBy" not in organic["data"]
    assert attributed["data"]["supersedes"] == organic["id"]
    assert later["data"]["supersededBy"] == attributed["id"] and later["data"]["outcome"] == "organic"
    feed.delete()


def test_the_record_keeps_every_digit_and_every_field_and_is_named(system):
    feed = system.subscribe([RESOLVED])
    record = {"attribution": True, "orgId": 9223372036854775807, "campaignId": 542370539, "adGroupId": 542317095,
              "keywordId": 9007199254740993, "conversionType": "newdownloads", "claimType": "click", "somethingNew": {"a": [1]}}
    _, answer = exchange(system, [{"status": 200, "body": record}], attStatus=0)
    event = feed.wait_for(1)[0]["data"]
    assert event["record"]["orgId"] == 9223372036854775807 and event["record"]["keywordId"] == 9007199254740993
    assert event["record"]["conversionType"] == "Download" and event["record"]["claimType"] == "Click"
    assert event["rawRecord"] == record
    assert event["names"] == {"campaign": "Spring", "adGroup": "Women"}
    assert answer["record"]["raw"]["somethingNew"] == {"a": [1]}
    feed.delete()


def test_apples_test_records_are_counted_by_app(system):
    before = metric(system, "Broker", "attribution_adservices_test_records_total", app="com.example.app")
    exchange(system, [{"preset": "test"}])
    assert metric(system, "Broker", "attribution_adservices_test_records_total", app="com.example.app") == before + 1


def test_a_resolved_token_is_answered_from_the_store(system):
    token, first = exchange(system, [{"status": 200, "body": {"attribution": False}}, {"status": 400}])
    for _ in range(3):
        again = system.call("Broker", "ExchangeToken", {"token": f" {token} ", "bundleId": "com.example.app"})
        assert again["exchangeId"] == first["exchangeId"] and again["state"] == "not_attributed"
    assert len(calls(system, token)) == 1
