"""Tokens that are posted again, later or with more, and tokens, times, statuses and records that are not written as Apple writes them."""

import concurrent.futures
import json
import time
import uuid

import pytest

from .test_tokens import FAILED, RESOLVED, calls, metric, scripted, stamp

RECORD = {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3, "claimType": "Click", "clickDate": "2026-10-08T17:17Z"}
APP = "com.example.app"


def submit(system, token: str, **fields) -> dict:
    answer = system.post("/v1/adservices/tokens", {"token": token, "bundleId": APP, "requestedAt": stamp(time.time() - 30), **fields})
    assert answer.status == 202, answer
    return answer.json


def exchanged(system, token: str, wait: int = 30000, **fields) -> dict:
    return system.call("Broker", "ExchangeToken", {
        "token": token, "bundleId": APP, "requestedAt": stamp(time.time() - 30), "waitMilliseconds": wait, **fields})


def test_a_token_that_is_posted_again_with_its_install_is_joined_to_it_after_its_outcome(system):
    feed, install = system.subscribe([RESOLVED, FAILED]), uuid.uuid4().hex
    token = scripted(system, [{"status": 200, "body": RECORD}, {"status": 400}])
    id = submit(system, token)["id"]
    first = feed.wait_for(1)[0]
    assert first["data"]["exchangeId"] == id and "installId" not in first["data"] and first["data"]["attStatus"] == -1
    assert "2026-10-08" not in json.dumps(first)
    # Twice: it is added once.
    for _ in range(2):
        assert submit(system, token, installId=install, attStatus=3) == {"id": id, "status": "duplicate"}
    events = feed.wait_for(1, seconds=20, settle=2)
    assert len(events) == 1
    data = events[0]["data"]
    assert events[0]["id"] != first["id"] and data["supersedes"] == first["id"] and data["exchangeId"] == id
    assert data["installId"] == install and data["attStatus"] == 3 and data["record"]["clickDate"] and "conflicting" not in data
    assert len(calls(system, token)) == 1
    shown = system.call("Broker", "GetExchange", {"exchangeId": id})
    assert shown["state"] == "attributed" and shown["installId"] == install and shown["record"]["clickDate"]
    # The install's attribution is this event, so that one of another token supersedes it.
    later = scripted(system, [{"status": 200, "body": RECORD}])
    submit(system, later, installId=install, attStatus=3, requestedAt=stamp(time.time() - 10))
    assert feed.wait_for(1)[0]["data"]["supersedes"] == events[0]["id"]
    feed.delete()


def test_what_is_added_while_the_token_waits_is_in_its_only_event(system):
    feed, install = system.subscribe([RESOLVED, FAILED]), uuid.uuid4().hex
    token = scripted(system, [{"status": 404}, {"status": 200, "body": RECORD}])
    id = submit(system, token)["id"]
    submit(system, token, installId=install, attStatus="authorized")
    events = feed.wait_for(1, seconds=20, settle=4)
    assert len(events) == 1 and len(calls(system, token)) == 2
    assert events[0]["data"]["installId"] == install and events[0]["data"]["attStatus"] == 3 and events[0]["data"]["exchangeId"] == id
    feed.delete()


def test_what_a_later_submission_contradicts_is_reported_and_the_stricter_status_counts(system):
    feed, install = system.subscribe([RESOLVED, FAILED]), uuid.uuid4().hex
    token = scripted(system, [{"status": 200, "body": RECORD}])
    answer = exchanged(system, token, installId=install, attStatus=3)
    assert answer["record"]["clickDate"] and "conflicting" not in answer
    assert feed.wait_for(1)[0]["data"]["record"]["clickDate"]
    answer = exchanged(system, token, installId="another", attStatus=2)
    assert answer["conflicting"] == ["attStatus", "installId"] and answer["installId"] == install and "clickDate" not in json.dumps(answer)
    data = feed.wait_for(1, seconds=20, settle=1)[0]["data"]
    assert data["conflicting"] == ["attStatus", "installId"] and data["installId"] == install and data["attStatus"] == 2
    assert "2026-10-08" not in json.dumps(data)
    # The consent does not return.
    assert "clickDate" not in json.dumps(exchanged(system, token, installId=install, attStatus=3))
    shown = system.call("Broker", "GetExchange", {"exchangeId": answer["exchangeId"]})
    assert shown["conflicting"] == ["attStatus", "installId"] and "clickDate" not in json.dumps(shown)
    assert len(calls(system, token)) == 1 and not feed.wait_for(1, seconds=2)
    feed.delete()


@pytest.mark.parametrize("attempt", range(4))
def test_a_refusal_is_not_lost_when_two_additions_are_worked_at_once(system, attempt):
    feed, install = system.subscribe([RESOLVED, FAILED]), uuid.uuid4().hex
    token = scripted(system, [{"status": 200, "body": RECORD}])
    id = exchanged(system, token, attStatus=3)["exchangeId"]
    assert feed.wait_for(1)
    with concurrent.futures.ThreadPoolExecutor() as senders:
        for sent in [senders.submit(submit, system, token, attStatus=3, installId=install), senders.submit(submit, system, token, attStatus=2)]:
            sent.result()
    events = feed.wait_for(2, seconds=10, settle=1)
    feed.delete()
    assert any(event["data"]["attStatus"] == 2 for event in events)
    shown = system.call("Broker", "GetExchange", {"exchangeId": id})
    assert shown["installId"] == install and "clickDate" not in json.dumps(shown)


def test_a_refusal_counts_after_more_additions_than_are_stored(system):
    token = scripted(system, [{"status": 404}, {"status": 404}, {"status": 200, "body": RECORD}])
    id = submit(system, token, attStatus=3, installId="own")["id"]
    with concurrent.futures.ThreadPoolExecutor(16) as senders:
        list(senders.map(lambda number: submit(system, token, attStatus=3, installId=f"other-{number}"), range(130)))
    submit(system, token, attStatus=2)
    end = time.monotonic() + 60
    while (shown := system.call("Broker", "GetExchange", {"exchangeId": id}))["state"] == "pending" and time.monotonic() < end:
        time.sleep(0.5)
    while "clickDate" in json.dumps(shown) and time.monotonic() < end:
        time.sleep(0.5)
        shown = system.call("Broker", "GetExchange", {"exchangeId": id})
    assert shown["state"] == "attributed" and shown["installId"] == "own" and "clickDate" not in json.dumps(shown)


def test_a_token_that_apple_did_not_find_is_asked_about_again_when_it_is_posted_again(system):
    feed, install = system.subscribe([RESOLVED, FAILED]), uuid.uuid4().hex
    token = scripted(system, [*[{"status": 404}] * 4, {"status": 404}, {"status": 200, "body": RECORD}])
    first = exchanged(system, token)
    assert first["state"] == "failed" and len(calls(system, token)) == 4
    again = submit(system, token, installId=install, attStatus=3)
    assert again == {"id": first["exchangeId"], "status": "accepted"}
    # While Apple is asked, a repeat does not ask once more.
    assert submit(system, token, installId=install, attStatus=3)["status"] == "duplicate"
    assert system.call("Broker", "GetExchange", {"exchangeId": first["exchangeId"]})["state"] == "pending"
    second = exchanged(system, token, installId=install, attStatus=3)
    assert second["state"] == "attributed" and second["exchangeId"] == first["exchangeId"] and second["installId"] == install
    assert len(calls(system, token)) == 6
    events = feed.wait_for(2, seconds=20, settle=2)
    assert [event["data"]["outcome"] for event in events] == ["not_found", "attributed"]
    assert events[1]["data"]["supersedes"] == events[0]["id"] and len(events[1]["data"]["attempts"]) == 2
    # An outcome with a record is final.
    assert submit(system, token)["status"] == "duplicate"
    feed.delete()


def test_a_withdrawal_of_the_install_counts_for_a_token_that_is_joined_to_it_later(system):
    feed, install = system.subscribe([RESOLVED, FAILED]), uuid.uuid4().hex
    token = scripted(system, [{"status": 200, "body": RECORD}])
    submit(system, token, attStatus=3)
    assert feed.wait_for(1)[0]["data"]["record"]["clickDate"]
    path = f"/v1/sessions/{install}/att-status"
    assert system.post(path, {"bundleId": APP, "attStatus": 3}, method="PUT").status == 200
    assert system.post(path, {"bundleId": APP, "attStatus": "?"}, method="PUT").status == 400
    submit(system, token, attStatus=3, installId=install)
    data = feed.wait_for(1, seconds=20)[0]["data"]
    assert data["installId"] == install and data["attStatus"] == -1 and data["attStatusAtReceipt"] == 3 and "2026-10-08" not in json.dumps(data)
    feed.delete()


@pytest.mark.parametrize("status", ["?", True, [3], "unauthorized", 2.5], ids=json.dumps)
def test_a_status_that_cannot_be_read_is_no_consent_for_the_token_and_no_refusal(system, status):
    feed = system.subscribe([RESOLVED, FAILED])
    token = scripted(system, [{"status": 200, "body": RECORD}])
    submit(system, token, attStatus=status)
    data = feed.wait_for(1)[0]["data"]
    assert data["outcome"] == "attributed" and data["attStatus"] == -1 and "2026-10-08" not in json.dumps(data)
    # A later status does not change that.
    assert "clickDate" not in json.dumps(exchanged(system, token, attStatus=3))
    data = feed.wait_for(1)[0]["data"]
    assert data["conflicting"] == ["attStatus"] and data["attStatus"] == -1 and "2026-10-08" not in json.dumps(data)
    feed.delete()


def test_a_status_as_a_word_is_read(system):
    feed = system.subscribe([RESOLVED, FAILED])
    for word, code in (("authorized", 3), ("denied", 2), ("notDetermined", 0)):
        submit(system, scripted(system, [{"status": 200, "body": RECORD}]), attStatus=word)
        text = scripted(system, [{"status": 200, "body": RECORD}])
        path = f"/v1/adservices/tokens?bundleId={APP}&attStatus={word}&requestedAt={stamp(time.time() - 30)}"
        assert system.post(path, text, content_type="text/plain").status == 202
        for event in feed.wait_for(2):
            assert event["data"]["attStatus"] == code and ("2026-10-08" in json.dumps(event)) == (code == 3)
    feed.delete()


@pytest.mark.parametrize("written", [
    "2569-11-28T08:00:00Z", "minutes ahead", "0008-11-28T08:00:00Z", "1448-06-18T08:00:00Z", "2001-01-01T00:00:00Z", "yesterday", "", True, {}],
    ids=json.dumps)
def test_a_time_out_of_reach_is_the_time_of_receipt(system, written):
    feed = system.subscribe([RESOLVED, FAILED])
    token = scripted(system, [{"status": 200, "body": {"attribution": False}}])
    if written == "minutes ahead":
        written = stamp(time.time() + 600)
    answer = system.post("/v1/adservices/tokens", {"token": token, "bundleId": APP, "requestedAt": written})
    assert answer.status == 202, answer
    data = feed.wait_for(1, seconds=20)[0]["data"]
    assert data["tokenCreatedAt"] == data["receivedAt"] and data["outcome"] == "organic"
    feed.delete()


def test_a_token_that_was_changed_on_its_way_is_repaired(system):
    feed = system.subscribe([RESOLVED, FAILED])
    for number, damage in enumerate((
            lambda token: token.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"), lambda token: token.replace("+", "%252B"),
            lambda token: f'"{token}"', lambda token: json.dumps(token).replace("/", "\\/"), lambda token: f"'{token}'\n",
            lambda token: "\r\n".join(token[start:start + 20] for start in range(0, len(token), 20)), lambda token: token.replace("+", " "))):
        token = uuid.uuid4().hex + uuid.uuid4().hex[:28] + "+/w="
        system.control("/control/adservices/tokens", {"token": token, "answers": [{"status": 200, "body": {"attribution": False}}]})
        if number % 2:
            id = submit(system, damage(token))["id"]
        else:
            path = f"/v1/adservices/tokens?bundleId={APP}&requestedAt={stamp(time.time() - 30)}"
            id = system.post(path, damage(token), content_type="text/plain").json["id"]
        # It is the same token as the undamaged one.
        assert submit(system, token) == {"id": id, "status": "duplicate"}
        data = feed.wait_for(1)[0]["data"]
        assert data["outcome"] == "organic" and "unusualToken" not in data and len(calls(system, token)) == 1, damage(token)
    feed.delete()


def test_members_of_another_type_are_left_out_and_never_open_the_breaker(system):
    before = metric(system, "Broker", "attribution_adservices_unusable_members_total", member="keywordId")
    feed = system.subscribe([RESOLVED, FAILED])
    for number in range(30):
        body = {**RECORD, "clickDate": None, "keywordId": "", **({"adId": "542317136", "supplyPlacement": {}} if number == 0 else {})}
        submit(system, scripted(system, [{"status": 200, "body": body}]))
    events = feed.wait_for(30, seconds=60)
    assert len(events) == 30
    for event in events:
        data = event["data"]
        assert data["outcome"] == "attributed" and data["unusable"] in (["keywordId"], ["adId", "keywordId", "supplyPlacement"])
        assert "keywordId" not in data["record"] and data["rawRecord"]["keywordId"] == "" and data["record"]["campaignId"] == 2
        shown = system.call("Broker", "GetExchange", {"exchangeId": data["exchangeId"]})
        assert shown["record"]["unusable"] == data["unusable"] and shown["record"]["raw"]["keywordId"] == ""
    assert metric(system, "Broker", "attribution_adservices_unusable_members_total", member="keywordId") == before + 30
    assert "attribution_adservices_breaker_state 0\n" in system.request("GET", system.url("Broker") + "/metrics").body.decode()
    feed.delete()
