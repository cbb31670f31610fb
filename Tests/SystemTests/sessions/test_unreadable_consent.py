"""Consent ends whenever it cannot be read: statuses, times, waits and names as SDKs and their wrappers write them."""

import json
import time
import types
import uuid

import pytest

from SystemTests.support.ingest_process import IngestProcess

from .steps import holds, new_identifier, post, put, received, wait_for

# The value, the answer to an update, and the status that is stored afterwards.
STATUSES = [("denied", 200, 2), ("ATTrackingManagerAuthorizationStatusDenied", 200, 2), ("restricted", 200, 1), ("notDetermined", 200, 0),
            ("2", 200, 2), (2.0, 200, 2), (7, 200, 7), ("7", 200, 7), (None, 200, -1), ("?", 400, -1), (2.5, 400, -1), (True, 400, -1),
            ([3], 400, -1), ("not authorized", 400, -1)]

# The digits that devices write whose language is Arabic.
ARABIC = str.maketrans("0123456789", "".join(chr(0x660 + digit) for digit in range(10)))


def state(system, install: str) -> dict:
    return system.call("Ingest", "GetAttStatus", {"bundleId": "com.example.app", "installId": install})


@pytest.mark.parametrize("value,answer,code", STATUSES, ids=json.dumps)
def test_a_stored_consent_ends_with_every_other_status(system, value, answer, code):
    by_update, by_session, idfa = f"update-{uuid.uuid4().hex[:8]}", f"session-{uuid.uuid4().hex[:8]}", new_identifier()
    for install in (by_update, by_session):
        assert put(system, install, 3).status == 200 and state(system, install)["consent"]
    refused = put(system, by_update, value)
    assert refused.status == answer and (answer == 200 or "attStatus" in refused.json["message"]), refused
    assert post(system, by_session, idfa, attStatus=value).status == 202
    sent = wait_for(system, by_session, 1)[0]
    assert sent["host"] == "analytics.adjust.com" and not holds(sent, idfa) and sent["body"]["att_status"] == code
    for install in (by_update, by_session):
        assert state(system, install)["attStatus"] == code and not state(system, install).get("consent")
    # A session that was made before has no consent any more.
    assert post(system, by_update, idfa, 3, deviceTime=int(time.time() * 1000) - 60_000).status == 202
    assert not holds(wait_for(system, by_update, 1)[0], idfa)


@pytest.mark.parametrize("value", [3, "3", 3.0, "authorized", "GRANTED", "TrackingStatus.authorized"], ids=json.dumps)
def test_a_consent_is_read_as_wrappers_write_it(system, value):
    install, idfa = f"granted-{uuid.uuid4().hex[:8]}", new_identifier()
    assert put(system, install, 2).status == 200
    assert put(system, install, value).json["effect"] == "changed"
    assert post(system, install, idfa, attStatus=value).status == 202
    sent = wait_for(system, install, 1)[0]
    assert sent["host"] == "consent.adjust.com" and holds(sent, idfa) and sent["body"]["att_status"] == 3


def test_an_update_without_a_readable_status_ends_the_consent_before_it_is_refused(system):
    path = "/v1/sessions/{}/att-status?bundleId=com.example.app"
    for body in ("{}", "{\"status\":2}", "{\"attStatus\":denied}", "[2]", "", "{\"attStatus\":2,\"attStatus\":3}"):
        install = f"broken-{uuid.uuid4().hex[:8]}"
        assert put(system, install, 3).status == 200
        assert system.post(path.format(install), body.encode(), method="PUT").status == 400
        assert state(system, install)["attStatus"] == -1, body
    # Nothing is stored about an install that is not known.
    unknown = f"unknown-{uuid.uuid4().hex[:8]}"
    assert system.post(path.format(unknown), b"{}", method="PUT").status == 400
    assert system.rpc("Ingest", "GetAttStatus", {"bundleId": "com.example.app", "installId": unknown}).status == 404


@pytest.mark.parametrize("written", [
    "2026-09-10T08:00:00.250+0200", "2026-09-10T08:00:00.250Z+0200", 1789027200.25, "1789027200.25", 1789027200,
    "2026-09-10T08:00:00Z".translate(ARABIC), "2569-09-10T08:00:00Z",
    "0008-09-10T08:00:00Z", "1448-03-28T08:00:00Z", "yesterday", "", True, -1, {"at": 1}],
    ids=json.dumps)
def test_a_device_time_never_refuses_a_withdrawal(system, written):
    install, idfa = f"time-{uuid.uuid4().hex[:8]}", new_identifier()
    assert put(system, install, 3).status == 200
    assert put(system, install, 2, deviceTime=written).json["effect"] == "changed"
    assert state(system, install)["attStatus"] == 2
    assert post(system, install, idfa, 2, deviceTime=written).status == 202
    assert not holds(wait_for(system, install, 1)[0], idfa)


@pytest.mark.parametrize("written", [0, "0", 0.0, "1e-5", "\u0660", 810720000.25, "1970-01-01T00:00:00Z", "2019-12-31T23:59:59Z"], ids=json.dumps)
def test_a_time_before_apple_asked_for_consent_makes_no_withdrawal_older(system, written):
    stated = int(time.time() * 1000) - 5000
    install = f"default-{uuid.uuid4().hex[:8]}"
    assert put(system, install, 3, deviceTime=stated).status == 200
    assert put(system, install, 2, deviceTime=written).json["effect"] == "changed"
    assert state(system, install)["attStatus"] == 2
    install = f"{install}-session"
    assert put(system, install, 3, deviceTime=stated).status == 200
    assert post(system, install, new_identifier(), 2, deviceTime=written).status == 202
    assert state(system, install)["attStatus"] == 2


@pytest.mark.parametrize("value", ["?", 7, -1])
def test_a_session_without_a_time_does_not_undo_an_update_that_ended_the_consent(system, value):
    install, idfa = f"ended-{uuid.uuid4().hex[:8]}", new_identifier()
    assert put(system, install, 3).status == 200
    put(system, install, value)
    assert post(system, install, idfa, 3).status == 202
    assert not holds(wait_for(system, install, 1)[0], idfa) and not state(system, install).get("consent")


BODIES = ['{"bundleId":"com.example.app","attStatus":denied}', '{"bundleId":"com.example.app","attStatus":2,}', '{"attStatus":2}',
          '{"bundleId":"com.example.app","attStatus":2,"t":NaN}', '{"bundleId":"com.example.app","attStatus":2,"attStatus":2}',
          '\ufeff{"bundleId":"com.example.app","attStatus":2}', "bundleId=com.example.app&attStatus=2", '{"bundleId":null,"attStatus":2}',
          '{"bundleId":5,"attStatus":2}', '{"bundleId":"","attStatus":2}', ""]


SECOND_APP = """
apps:
  - bundleId: com.example.second
    appAppleId: 424242
    environments: [Production]
    consentRouting: { strategy: default }
"""


def test_a_status_whose_app_cannot_be_told_ends_the_consent_in_every_app(system, tmp_path):
    path, data, run = "/v1/sessions/{}/att-status", tmp_path / "data", f"run-{system.port_base}"
    data.mkdir()
    (data / run).symlink_to(system.data / run)
    text = (system.data / "configuration.yaml").read_text()
    assert "\napps:\n" in text
    (data / "configuration.yaml").write_text(text.replace("\napps:\n", SECOND_APP))
    with IngestProcess(types.SimpleNamespace(data=data, port_base=system.port_base), tmp_path) as process:
        for body in BODIES:
            install = f"apps-{uuid.uuid4().hex[:8]}"
            assert put(system, install, 3).status == 200
            assert process.post(path.format(install), body.encode(), method="PUT")[0] == 400, body
            assert not state(system, install).get("consent"), body
        # A consent whose app cannot be told is refused, and ends nothing.
        install = f"apps-{uuid.uuid4().hex[:8]}"
        assert put(system, install, 3).status == 200
        status, answer = process.post(path.format(install), b'{"attStatus":3}', method="PUT")
        assert status == 400 and b"bundleId" in answer and state(system, install)["consent"]


@pytest.mark.parametrize("named,answer", [(None, 200), (5, 400), ("", 400)])
def test_a_refusal_counts_although_its_app_is_not_named_well(system, named, answer):
    install = f"app-{uuid.uuid4().hex[:8]}"
    assert put(system, install, 3).status == 200
    sent = system.post(f"/v1/sessions/{install}/att-status", {"bundleId": named, "attStatus": 2}, method="PUT")
    assert sent.status == answer and (answer == 200 or "bundleId" in sent.json["message"]), sent
    assert state(system, install)["attStatus"] == 2


@pytest.mark.parametrize("content_type", ["application/xml", "multipart/form-data; boundary=x"])
def test_a_withdrawal_counts_whatever_its_content_type(system, content_type):
    install = f"type-{uuid.uuid4().hex[:8]}"
    assert put(system, install, 3).status == 200
    url = f"{system.public}/v1/sessions/{install}/att-status?bundleId=com.example.app"
    assert system.request("PUT", url, b'{"attStatus":2}', {"Content-Type": content_type}).status == 200
    assert state(system, install)["attStatus"] == 2


def test_a_time_that_cannot_be_read_is_the_time_of_receipt_and_the_others_are_read(system):
    now = time.time()
    for written, at in (("yesterday", now), ("0008-09-10T08:00:00Z", now), ("2569-09-10T08:00:00Z", now), (1789027200.25, 1789027200.25),
                        ("2026-09-10T10:00:00.250+0200", 1789027200.25), ("2026-09-10T10:00:00.250Z+0200", 1789027200.25),
                        ("2026-09-10T08:00:00.25Z".translate(ARABIC), 1789027200.25)):
        install = f"read-{uuid.uuid4().hex[:8]}"
        assert put(system, install, 2, deviceTime=written).status == 200
        stated = state(system, install)["determinedAt"]
        if at == now:
            assert abs(time.mktime(time.strptime(stated[:19] + "GMT", "%Y-%m-%dT%H:%M:%S%Z")) - time.timezone - now) < 30, (written, stated)
        else:
            assert stated == "2026-09-10T08:00:00.250Z", (written, stated)


@pytest.mark.parametrize("name", ["advertiserId", "advertising_id", "advertisingIdentifier", "ifa", "ios_ifa", "$ios_ifa", "IDFA"])
def test_the_advertising_identifier_does_not_leave_under_any_name(system, name):
    install, idfa = f"name-{uuid.uuid4().hex[:8]}", new_identifier()
    nested = json.dumps({"device": {name: idfa}})
    body = {"bundleId": "com.example.app", "installId": install, "attStatus": 2, "device": {name: idfa}, "keep": "this",
            "copies": [idfa.lower(), f"id={idfa.replace('-', '%2D')}", nested, f"a=1&{name}={idfa}"], idfa: 1}
    assert system.post("/v1/sessions", body).status == 202
    entry = wait_for(system, install, 1)[0]
    assert entry["body"]["keep"] == "this" and entry["body"]["copies"] == [] and not holds(entry, idfa), entry
    # Only in a text, and a copy beside it.
    install = f"{install}-text"
    assert system.post("/v1/sessions", {"bundleId": "com.example.app", "installId": install, "attStatus": 2, "first": f"x{idfa}", "partner": nested,
                                        "keep": "this"}).status == 202
    entry = wait_for(system, install, 1)[0]
    assert entry["body"]["keep"] == "this" and not holds(entry, idfa), entry
    # With consent, all of it leaves.
    install = f"{install}-consent"
    assert system.post("/v1/sessions", {**body, "installId": install, "attStatus": 3}).status == 202
    assert wait_for(system, install, 1)[0]["body"]["device"] == {name: idfa}


NOTATIONS = [{"device_idfa": "ID"}, {"maid": "ID"}, {"log": "idfa|ID"}, {"log": "idfa ID"}, {"u": "https://x.example/idfa/ID"},
             {"u": "https://x.example/?idfa[]=ID"}, {"u": "ext.idfa.value=ID"}, {"p": [{"key": "idfa", "value": "ID"}]}, {"p": [["idfa", "ID"]]},
             {"idfa": 'Optional("ID")', "copy": "ID"}, {"advertising_ids": {"ID": "idfa"}, "copy": "ID"}, {"ID": "idfa=ID"},
             {"map": {"id-ID": '{"idfa":"ID"}'}}]


@pytest.mark.parametrize("fields", NOTATIONS, ids=json.dumps)
def test_the_advertising_identifier_does_not_leave_in_any_notation_nor_in_an_event(system, fields):
    install, idfa = f"notation-{uuid.uuid4().hex[:8]}", new_identifier()
    feed = system.subscribe(["attribution.session.routed.v1"])
    body = {"bundleId": "com.example.app", "installId": install, "attStatus": 2, "keep": "Haifa", "bidFactor": 2}
    assert system.post("/v1/sessions", body | json.loads(json.dumps(fields).replace("ID", idfa))).status == 202
    entry = wait_for(system, install, 1)[0]
    assert entry["body"]["keep"] == "Haifa" and entry["body"]["bidFactor"] == 2 and not holds(entry, idfa), entry
    events = feed.wait_for(1, seconds=20)
    feed.delete()
    assert events and not any(holds(event, idfa) for event in events)


def test_a_batch_without_consent_keeps_its_events(system):
    install = f"batch-{uuid.uuid4().hex[:8]}"
    events = [{"started_at": f"2026-09-10T08:00:00.{number:03}Z", "name": f"level number {number} finished"} for number in range(200)]
    assert post(system, install, new_identifier(), 2, events=events).status == 202
    sent = wait_for(system, install, 1)[0]["body"]["events"]
    assert sent == [{"name": event["name"]} for event in events]


def test_copies_of_removed_fields_do_not_leave_and_trivial_values_do(system, tmp_path):
    install = f"copies-{uuid.uuid4().hex[:8]}"
    body = {"bundleId": "com.example.app", "installId": install, "attStatus": 2, "email": "Anna.Smith@web.example", "flag": True, "country": "DE",
            "clickDate": "2026-10-08T17:17Z", "started_at": 1789027200123,
            "custom": {"mail": "anna.smith@web.example", "link": "mailto:anna.smith%40web.example", "tapped": "at 2026-10-08T17:17Z",
                       "first": "1789027200123"},
            "keep": [True, "DE", "a", 0, "Anna"]}
    with IngestProcess(system, tmp_path, settings="consentRouting: { removedFields: [email, flag, country] }\n") as process:
        assert process.post("/v1/sessions", json.dumps(body).encode())[0] == 202
        entry = wait_for(system, install, 1)[0]
    assert entry["host"] == "analytics.adjust.com"
    assert entry["body"]["custom"] == {} and entry["body"]["keep"] == [True, "DE", "a", 0, "Anna"], entry
    assert not {"email", "flag", "country", "clickDate", "started_at"} & set(entry["body"])


@pytest.mark.parametrize("before", ["session 2", "session 3", "update 2", "update 3", "update ?"])
def test_a_status_that_is_not_determined_again_begins_a_new_wait(system, before):
    """The app was installed again with an id that survived: what was held goes by the new answer."""
    kind, earlier = before.split()
    for answer in (3, 2):
        install, idfa = f"again-{uuid.uuid4().hex[:8]}", new_identifier()
        sent = 0
        if kind == "session":
            assert post(system, install, idfa, int(earlier), event="before").status == 202
            sent = 1
        elif earlier == "?":
            assert put(system, install, 3).status == 200 and put(system, install, "?").status == 400
        else:
            assert put(system, install, int(earlier)).status == 200
        assert len(wait_for(system, install, sent)) == sent
        for event in ("a", "b"):
            assert post(system, install, idfa, 0, event=event, attConsentWaitingInterval=60).status == 202
        time.sleep(1)
        assert len(received(system, install)) == sent and "heldUntil" in state(system, install)
        assert put(system, install, answer).status == 200
        entries = wait_for(system, install, sent + 2)[sent:]
        assert [entry["body"]["event"] for entry in entries] == ["a", "b"]
        side = "consent" if answer == 3 else "analytics"
        assert all(entry["host"] == f"{side}.adjust.com" and holds(entry, idfa) == (answer == 3) for entry in entries), entries


@pytest.mark.parametrize("interval,seconds", [(60.0, 60), (7.5, 8), ("60", 60), ("7.5", 8), (1e300, 120), ("soon", None), ([60], None)],
                         ids=json.dumps)
def test_a_wait_may_have_a_fraction(system, interval, seconds):
    install, idfa = f"interval-{uuid.uuid4().hex[:8]}", new_identifier()
    started = time.time()
    assert post(system, install, idfa, 0, attConsentWaitingInterval=interval).status == 202
    if seconds is None:
        assert not holds(wait_for(system, install, 1)[0], idfa)
        return
    until = state(system, install)["heldUntil"]
    at = time.mktime(time.strptime(until[:19] + "GMT", "%Y-%m-%dT%H:%M:%S%Z")) - time.timezone
    assert seconds - 2 <= at - started <= seconds + 5, until
    assert put(system, install, 2).status == 200
    assert len(wait_for(system, install, 1)) == 1


def test_a_status_in_a_batch_that_contradicts_a_consent_ends_it(system):
    install, idfa = f"batch-{uuid.uuid4().hex[:8]}", new_identifier()
    assert put(system, install, 3).status == 200
    assert post(system, install, idfa, 3, events=[{"name": "a", "attStatus": 3}, {"name": "b", "att_status": "denied"}]).status == 202
    entry = wait_for(system, install, 1)[0]
    assert entry["host"] == "analytics.adjust.com" and not holds(entry, idfa)
    assert state(system, install)["attStatus"] == -1
