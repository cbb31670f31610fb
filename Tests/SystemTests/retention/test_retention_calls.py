"""The calls of the Retention Messaging API over RPC: Apple's documented behaviour, from an image to the production URL, its errors, and
requests that are refused before Apple is called."""

import base64
import time

import pytest

from SystemTests.apple_calls.steps import APP, calls, cause, chunk, new_id, png, story


def ask(system, method: str, message: dict, key: str | None = None, **options):
    return system.rpc("Retention", method, {"bundleId": APP, **message}, key=key, **options)


def get(system, method: str, message: dict, key: str | None = None) -> dict:
    answer = ask(system, method, message, key)
    assert answer.status == 200, (method, answer)
    return answer.json


def states(answer: dict, kind: str) -> dict[str, str]:
    return {one[f"{kind}Identifier"]: one[f"{kind}State"] for one in answer.get(f"{kind}s", [])}


SANDBOX, PRODUCTION = {"environment": "Sandbox"}, {"environment": "Production"}
FULL = base64.b64encode(png(3840, 160)).decode()
POINT = base64.b64encode(png(1024, 1024, colour_type=2)).decode()


def test_messages_with_images_are_set_up_in_the_sandbox_and_the_url_in_production_after_a_passed_test(system):
    image, point, message = new_id(), new_id().upper(), new_id()
    get(system, "UploadRetentionImage", {**SANDBOX, "imageIdentifier": image, "image": FULL})
    get(system, "UploadRetentionImage", {**SANDBOX, "imageIdentifier": point, "imageSize": "BULLET_POINT", "image": POINT})
    sent = [call for call in calls(system, "/messaging/image/") if call["method"] == "PUT"][-2:]
    assert [call["status"] for call in sent] == [200, 200] and sent[1]["path"].endswith(point.lower())
    listed = get(system, "ListRetentionImages", SANDBOX)
    assert states(listed, "image")[image] == "APPROVED" and states(listed, "image")[point.lower()] == "APPROVED"
    assert {one["imageSize"] for one in listed["images"] if one["imageIdentifier"] in (image, point.lower())} == {"FULL_SIZE", "BULLET_POINT"}

    body = {"header": "Stay with us", "body": "You keep your lists, and what you saved.", "headerPosition": "ABOVE_IMAGE",
            "image": {"imageIdentifier": image, "altText": "A coast"},
            "bulletPoints": [{"text": "Offline", "imageIdentifier": point, "altText": "A cloud"}]}
    get(system, "UploadRetentionMessage", {**SANDBOX, "messageIdentifier": message, "message": body})
    assert calls(system, message)[-1]["body"] == body
    listed = next(one for one in get(system, "ListRetentionMessages", SANDBOX)["messages"] if one["messageIdentifier"] == message)
    assert listed["messageState"] == "APPROVED" and not listed.get("unapprovedImageIdentifiers")
    assert listed["imageIdentifiers"] == sorted([image, point.lower()])

    product = {**SANDBOX, "productId": f"{APP}.monthly", "locale": "en-US"}
    none = ask(system, "GetDefaultRetentionMessage", product)
    assert none.status == 404 and cause(none)["errorName"] == "DefaultMessageNotFound", none
    get(system, "SetDefaultRetentionMessage", {**product, "messageIdentifier": message})
    assert get(system, "GetDefaultRetentionMessage", product) == {"messageIdentifier": message, "environment": "Sandbox"}
    get(system, "DeleteDefaultRetentionMessage", product)
    # For Apple it is no error if there is none.
    get(system, "DeleteDefaultRetentionMessage", product)

    url = "https://ads.example.com/v1/app-store/retention/com.example.app"
    early = ask(system, "SetRetentionURL", {**PRODUCTION, "realtimeUrl": url})
    assert early.status == 400 and cause(early)["errorName"] == "ForbiddenNoPassingTest", early
    get(system, "SetRetentionURL", {**SANDBOX, "realtimeUrl": url})
    assert get(system, "GetRetentionURL", SANDBOX)["realtimeUrl"] == url
    purchase = story(system, "buy", environment="Sandbox")["originalTransactionId"]
    test = get(system, "StartRetentionPerformanceTest", {"originalTransactionId": purchase}, new_id())
    assert test["response"]["config"]["responseTimeThreshold"] == 700 and test["environment"] == "Sandbox"
    system.control("/control/retention", {"requestId": test["requestId"], "result": "PASS"})
    # An empty value is the same as an absent one.
    result = get(system, "GetRetentionPerformanceTest", {"requestId": test["requestId"], "environment": ""})
    assert result["result"] == "PASS" and result["response"]["target"] == url and result["response"]["config"]["totalRequests"] > 0
    get(system, "SetRetentionURL", {**PRODUCTION, "realtimeUrl": url})
    assert get(system, "GetRetentionURL", PRODUCTION)["realtimeUrl"] == url
    for environment in (SANDBOX, PRODUCTION):
        get(system, "DeleteRetentionURL", environment)
        gone = ask(system, "GetRetentionURL", environment)
        assert gone.status == 404 and cause(gone)["errorName"] == "RealtimeUrlNotFound", gone
    # Other tests begin without a passed performance test.
    system.control("/control/retention", {"requestId": test["requestId"], "result": "FAIL"})
    # While there is a message with images, ingest's lists of messages cost a list of images each.
    get(system, "DeleteRetentionMessage", {**SANDBOX, "messageIdentifier": message})
    for one in (image, point):
        get(system, "DeleteRetentionImage", {**SANDBOX, "imageIdentifier": one})


def test_unapproved_messages_cannot_be_defaults_and_identifiers_are_unique(system):
    image, message = new_id(), new_id()
    get(system, "UploadRetentionImage", {**PRODUCTION, "imageIdentifier": image, "image": FULL})
    body = {"header": "Stay", "body": "Please", "image": {"imageIdentifier": image, "altText": "A coast"}}
    get(system, "UploadRetentionMessage", {**PRODUCTION, "messageIdentifier": message, "message": body})
    listed = lambda: next((one for one in get(system, "ListRetentionMessages", PRODUCTION)["messages"]  # noqa: E731
                           if one["messageIdentifier"] == message), None)
    assert listed() == {"messageIdentifier": message, "messageState": "PENDING", "imageIdentifiers": [image],
                        "unapprovedImageIdentifiers": [image]}
    product = {**PRODUCTION, "productId": f"{APP}.monthly", "locale": "de"}
    for name, approved in (("MessageNotApproved", "messageIdentifier"), ("ImageNotApproved", "imageIdentifier")):
        refused = ask(system, "SetDefaultRetentionMessage", {**product, "messageIdentifier": message})
        assert refused.status == 400 and cause(refused)["errorName"] == name, refused
        system.control("/control/retention", {"bundleId": APP, approved: {"messageIdentifier": message, "imageIdentifier": image}[approved],
                                              "state": "APPROVED"})
    get(system, "SetDefaultRetentionMessage", {**product, "messageIdentifier": message})
    assert listed() == {"messageIdentifier": message, "messageState": "APPROVED", "imageIdentifiers": [image]}

    again = ask(system, "UploadRetentionImage", {**PRODUCTION, "imageIdentifier": image, "image": FULL})
    assert again.status == 409 and cause(again)["errorName"] == "ImageAlreadyExists", again
    again = ask(system, "UploadRetentionMessage", {**PRODUCTION, "messageIdentifier": message, "message": {"header": "a", "body": "b"}})
    assert again.status == 409 and cause(again)["errorName"] == "MessageAlreadyExists", again
    # A refused upload changes nothing. A message that another system uploaded does not show its images.
    assert listed()["imageIdentifiers"] == [image]
    used = ask(system, "DeleteRetentionImage", {**PRODUCTION, "imageIdentifier": image})
    assert used.status == 400 and cause(used)["errorName"] == "ImageInUse", used
    get(system, "DeleteRetentionMessage", {**PRODUCTION, "messageIdentifier": message})
    get(system, "DeleteRetentionImage", {**PRODUCTION, "imageIdentifier": image})
    for method, field, name in (("DeleteRetentionMessage", "messageIdentifier", "MessageNotFound"),
                                ("DeleteRetentionImage", "imageIdentifier", "ImageNotFound")):
        gone = ask(system, method, {**PRODUCTION, field: new_id()})
        assert gone.status == 404 and cause(gone)["errorName"] == name, gone


TEXT = {"header": "a", "body": "b"}
WRONG = [
    ("UploadRetentionImage", {"imageIdentifier": "x", "image": FULL}, "imageIdentifier"),
    ("UploadRetentionImage", {"image": FULL}, "imageIdentifier"),
    ("UploadRetentionImage", {"imageIdentifier": new_id()}, "image"),
    ("UploadRetentionImage", {"imageIdentifier": new_id(), "image": "?"}, "image"),
    ("UploadRetentionImage", {"imageIdentifier": new_id(), "image": base64.b64encode(b"GIF89a").decode()}, "image"),
    ("UploadRetentionImage", {"imageIdentifier": new_id(), "image": POINT}, "image"),
    ("UploadRetentionImage", {"imageIdentifier": new_id(), "image": FULL, "imageSize": "BULLET_POINT"}, "image"),
    ("UploadRetentionImage", {"imageIdentifier": new_id(), "image": FULL, "imageSize": "SMALL"}, "imageSize"),
    ("DeleteRetentionImage", {}, "imageIdentifier"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id()}, "message"),
    ("UploadRetentionMessage", {"messageIdentifier": "x", "message": TEXT}, "messageIdentifier"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id(), "message": {**TEXT, "header": "h" * 67}}, "message.header"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id(), "message": {**TEXT, "body": "b" * 145}}, "message.body"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id(), "message": {"header": "h"}}, "message.body"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id(), "message": {**TEXT, "heading": "h"}}, "message.heading"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id(), "message": {**TEXT, "headerPosition": "ABOVE_IMAGE"}}, "message.headerPosition"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id(), "message": {**TEXT, "image": {"imageIdentifier": "x", "altText": "a"}}},
     "message.image.imageIdentifier"),
    ("UploadRetentionMessage", {"messageIdentifier": new_id(), "message": {**TEXT, "bulletPoints": [
        {"text": "t", "imageIdentifier": new_id(), "altText": "a"}, {"text": "t" * 67, "imageIdentifier": new_id(), "altText": "a"}]}},
     "message.bulletPoints[1].text"),
    ("SetDefaultRetentionMessage", {"locale": "en", "messageIdentifier": new_id()}, "productId"),
    ("SetDefaultRetentionMessage", {"productId": "p", "locale": "english-", "messageIdentifier": new_id()}, "locale"),
    ("SetDefaultRetentionMessage", {"productId": "p", "locale": "en", "messageIdentifier": "m"}, "messageIdentifier"),
    ("SetRetentionURL", {"realtimeUrl": "http://example.com/"}, "realtimeUrl"),
    ("SetRetentionURL", {"realtimeUrl": "https://example.com/" + "a" * 237}, "realtimeUrl"),
    *[("SetRetentionURL", {"realtimeUrl": url}, "realtimeUrl")
      for url in ("https://", "https:///path", "https://:443/", "https://?a", "https://user:word@example.com/", "https://example.com/#a")],
    ("StartRetentionPerformanceTest", {"originalTransactionId": "a"}, "originalTransactionId"),
    ("StartRetentionPerformanceTest", {"environment": "Production", "originalTransactionId": "1"}, "environment"),
    ("GetRetentionPerformanceTest", {}, "requestId"),
]


@pytest.mark.parametrize("method,message,field", WRONG)
def test_a_wrong_field_is_refused_by_its_name_before_apple_is_called(system, method, message, field):
    before = len(calls(system, "/messaging/"))
    answer = ask(system, method, {**SANDBOX, **message}, new_id())
    assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer
    assert len(calls(system, "/messaging/")) == before


@pytest.mark.parametrize("image,words", [
    (png(3840, 160, colour_type=6), "transparency"), (png(3840, 160, colour_type=4), "transparency"),
    (png(3840, 160, more=chunk(b"tRNS", b"\0\0")), "transparency"), (png(3840, 159), "160 to 2160"), (png(3840, 2161), "160 to 2160"),
    (png(3839, 160), "3840"), (png(3840, 160)[:-1], "complete"), (png(3840, 160) + b"\0", "complete"),
    (png(3840, 160).replace(b"IDAT", b"IDAX"), "complete")])
def test_images_that_apple_would_refuse_are_not_sent(system, image, words):
    before = len(calls(system, "/messaging/image/"))
    answer = ask(system, "UploadRetentionImage", {**SANDBOX, "imageIdentifier": new_id(), "image": base64.b64encode(image).decode()})
    assert answer.status == 400 and words in answer.body.decode(), answer
    assert len(calls(system, "/messaging/image/")) == before


def test_apples_rate_limit_is_reported_and_observed_and_failures_are_unavailable(system):
    try:
        moment = int(time.time() * 1000) + 2500
        system.control("/control/faults", {"route": "realtimeURL", "count": 1, "status": 429, "body": {"errorCode": 4290000},
                                           "retryAfter": moment})
        limited = ask(system, "GetRetentionURL", SANDBOX, headers={"Connect-Timeout-Ms": "1000"})
        assert limited.status == 429 and cause(limited)["reason"] == "APP_STORE_RATE_LIMITED" and limited.headers["Retry-After"], limited
        # Until then Apple is not called.
        before = len(calls(system, "/realtime/url"))
        assert ask(system, "GetRetentionURL", SANDBOX, headers={"Connect-Timeout-Ms": "500"}).status == 429
        assert len(calls(system, "/realtime/url")) == before
        assert ask(system, "GetRetentionURL", SANDBOX).status in (200, 404) and time.time() * 1000 >= moment
        # A request that changes something is not repeated automatically.
        before = len(calls(system, "/messaging/message/"))
        for number in (5000000, 5000001):
            system.control("/control/faults", {"route": "messageUpload", "count": 1, "status": 500, "body": {"errorCode": number}})
            failed = ask(system, "UploadRetentionMessage", {**SANDBOX, "messageIdentifier": new_id(), "message": TEXT})
            assert failed.status == 503 and cause(failed)["reason"] == "APP_STORE_UNAVAILABLE", failed
        assert len(calls(system, "/messaging/message/")) == before
        # Without access to the API Apple answers only 404. (Ingest also lists messages and images, by itself.)
        system.control("/control/faults", {"route": "realtimeURL", "count": 1, "status": 404})
        assert ask(system, "GetRetentionURL", SANDBOX).status == 404
        # After one 401 the call is repeated.
        system.control("/control/faults", {"route": "realtimeURL", "count": 2, "status": 401})
        denied = ask(system, "GetRetentionURL", SANDBOX)
        assert denied.status == 400 and cause(denied)["reason"] == "APP_STORE_CREDENTIALS", denied
    finally:
        system.control("/control/faults", {"clear": True})
