"""The content types that common clients send where nobody sets one: the body shows what it is."""

import json
import time
import uuid

import pytest

TYPES = ["application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=UTF-8", None, "", "text/plain",
         "text/plain;charset=UTF-8", "application/json; charset=utf-8", "Application/JSON", "application/vnd.example+json",
         "application/problem+json;v=1", "application/octet-stream"]


def sent(system, path: str, body: dict | str, content_type: str | None, method: str = "POST"):
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    headers = {} if content_type is None else {"Content-Type": content_type}
    return system.request(method, system.public + path, data, headers)


def postback(system, kind: str) -> str:
    return system.control(f"/control/{kind}/postbacks", {"adNetworkId": "example123.skadnetwork", "send": False})["body"]


def verified(system, id: str) -> bool:
    until = time.monotonic() + 20
    while (state := system.call("Ingest", "GetDelivery", {"id": id})["state"]) != "verified" and time.monotonic() < until:
        time.sleep(0.05)
    return state == "verified"


@pytest.mark.parametrize("content_type", TYPES)
def test_a_json_object_is_read_under_the_type_of_a_client_that_sets_none(system, content_type):
    for path, kind in (("/v1/postbacks", "skadnetwork"), ("/v1/postbacks/example123.skadnetwork", "adattributionkit"),
                       ("/.well-known/skadnetwork/report-attribution/", "skadnetwork"),
                       ("/.well-known/appattribution/report-attribution/", "adattributionkit")):
        answer = sent(system, path, "\n " + postback(system, kind), content_type)
        assert answer.status == 200 and verified(system, answer.json["id"]), answer
    notification = system.control("/control/notifications", {
        "bundleId": "com.example.app", "environment": "Production", "notificationType": "TEST", "send": False})
    answer = sent(system, "/v1/app-store/notifications", {"signedPayload": notification["signedPayload"]}, content_type)
    assert answer.status == 200 and verified(system, answer.json["id"]), answer
    install = f"type-{uuid.uuid4().hex[:8]}"
    answer = sent(system, "/v1/sessions", {"bundleId": "com.example.app", "installId": install, "attStatus": 2}, content_type)
    assert answer.status == 202, answer
    assert sent(system, f"/v1/sessions/{install}/att-status", {"attStatus": 3}, content_type, "PUT").status == 200
    # The request is read; no web ad is stored under its nonce.
    answer = sent(system, "/.well-known/skadnetwork/get-signed-payload/", {
        "source_domain": "example.com", "source_engagement_type": "click_to_App_Store", "source_nonce": "AAAAAAAAAAAAAAAAAAAAAA",
        "version": "4.0"}, content_type)
    assert answer.status == 404 and "web ad" in answer.json["message"], answer


@pytest.mark.parametrize("content_type", TYPES)
def test_a_token_is_read_as_an_object_and_bare(system, content_type):
    query = "?bundleId=com.example.app"
    for body, path in (({"token": uuid.uuid4().hex * 2, "bundleId": "com.example.app"}, ""), (uuid.uuid4().hex * 2 + "+/+w==", query)):
        answer = sent(system, "/v1/adservices/tokens" + path, body, content_type)
        assert answer.status == 202 and answer.json["status"] == "accepted", answer
    assert sent(system, "/v1/adservices/tokens", {"attributionError": 1, "bundleId": "com.example.app"}, content_type).json["status"] == "counted"


@pytest.mark.parametrize("content_type", TYPES)
def test_a_body_that_is_no_object_is_refused_with_a_reason(system, content_type):
    for path in ("/v1/postbacks", "/v1/app-store/notifications", "/v1/sessions"):
        for body in ("jws-string=a.b.c&conversion-value=5", "[]", "", "5", '"text"'):
            answer = sent(system, path, body, content_type)
            assert answer.status == 400 and answer.json["code"] == "invalid_argument", (body, answer)
    for body in ("[]", "", "{", '{"token":""}', "token=abc", "token=abc&attStatus=3"):
        answer = sent(system, "/v1/adservices/tokens?bundleId=com.example.app", body, content_type)
        assert answer.status == 400 and answer.json["code"] == "invalid_argument", (body, answer)


@pytest.mark.parametrize("content_type", ["application/xml", "multipart/form-data; boundary=x", "image/png", "text/html"])
def test_other_types_are_refused(system, content_type):
    for path, body in (("/v1/postbacks", postback(system, "skadnetwork")), ("/v1/adservices/tokens?bundleId=com.example.app", "abc")):
        answer = sent(system, path, body, content_type)
        assert answer.status == 415 and answer.headers["Accept-Post"] == "application/json, text/plain", answer
