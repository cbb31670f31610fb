"""The URLs of single apps: deliveries of other apps are rejected, and a delivery to the wrong URL hides no other."""

import json
import time
import uuid

import pytest

from SystemTests.support.running_system import start_system, stop_system

SHARED = "/v1/app-store/notifications"
OURS, THEIRS, UNKNOWN = "com.example.app", "com.example.other", "com.example.nobody"
VERIFIED, REJECTED = "appstore.notification.verified.v1", "appstore.notification.rejected.v1"
OTHER_APP = f"\napps:\n  - bundleId: {THEIRS}\n    appAppleId: 424242\n    environments: [Production, Sandbox]\n"


@pytest.fixture(scope="module")
def two_apps(tmp_path_factory):
    """A system of two apps."""
    system = start_system(tmp_path_factory.mktemp("apps"))
    try:
        configuration = system.data / "configuration.yaml"
        whole = configuration.read_text()
        assert "\napps:\n" in whole
        configuration.write_text(whole.replace("\napps:\n", OTHER_APP))
        for name in ("ingest", "verifier", "asa-token-broker"):
            system.service("stop", name)
            system.service("start", name)
        # Recovered notifications would come between the copies that are sent here.
        system.service("stop", "notification-recovery")
        system.control("/control/apps", {"bundleId": THEIRS, "appAppleId": 424242, "notificationURLs": {}, "apiKeys": []})
        yield system
    finally:
        stop_system(system)


def of(app: str) -> str:
    return f"{SHARED}/{app}"


def made(system, app: str, environment: str = "Production", kind: str = "TEST") -> str:
    return system.control("/control/notifications", {
        "bundleId": app, "environment": environment, "notificationType": kind, "send": False})["signedPayload"]


def posted(system, path: str, signed_payload: str) -> tuple[str, str]:
    answer = system.post(path, {"signedPayload": signed_payload})
    assert answer.status == 200, answer
    return answer.json["id"], answer.json["status"]


def ended(system, id: str) -> dict:
    until = time.monotonic() + 60
    while (found := system.call("Ingest", "GetDelivery", {"id": id}))["state"] == "accepted":
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


def rejections(system, environment: str) -> float:
    text = system.request("GET", system.url("Verifier") + "/metrics", headers={"Authorization": f"Bearer {system.token}"}).body.decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith("attribution_rejected_total{") and f'environment="{environment}"' in line)


def counted(system, feed, count: int) -> list[tuple[str, str | None]]:
    """The contents of this number of events, after a check that there are no more."""
    events = feed.wait_for(count, settle=1)
    feed.delete()
    return sorted((event["type"], event["data"].get("reason")) for event in events)


@pytest.mark.parametrize("environment", ["Production", "Sandbox"])
def test_an_apps_url_verifies_its_notifications_and_rejects_those_of_other_apps(two_apps, environment):
    feed = two_apps.subscribe([VERIFIED, REJECTED])
    before = rejections(two_apps, environment)
    right = ended(two_apps, posted(two_apps, of(OURS) + "/", made(two_apps, OURS, environment))[0])
    assert right["state"] == "verified", right
    wrong = ended(two_apps, posted(two_apps, of(OURS), made(two_apps, THEIRS, environment))[0])
    assert (wrong["state"], wrong["reason"]) == ("rejected", "wrong_app")
    events = feed.wait_for(2, settle=1)
    feed.delete()
    rejected = next(event["data"] for event in events if event["type"] == REJECTED)
    assert len(events) == 2 and rejected["expectedBundleId"] == OURS and rejected["deliveryId"] == wrong["id"]
    assert rejections(two_apps, environment) == before + 1


@pytest.mark.parametrize("first,second", [(of(OURS), SHARED), (SHARED, of(OURS))], ids=["own first", "shared first"])
def test_the_same_bytes_at_both_urls_are_one_delivery(two_apps, first, second):
    feed = two_apps.subscribe([VERIFIED, REJECTED])
    payload = made(two_apps, OURS, kind="DID_RENEW")
    id, status = posted(two_apps, first, payload)
    assert status == "accepted" and posted(two_apps, second, payload) == (id, "duplicate")
    assert ended(two_apps, id)["state"] == "verified"
    assert posted(two_apps, second, payload) == (id, "duplicate")
    assert counted(two_apps, feed, 1) == [(VERIFIED, None)]


@pytest.mark.parametrize("right", [SHARED, of(OURS)], ids=["shared", "own"])
@pytest.mark.parametrize("waiting", [True, False], ids=["while it waits", "when it was verified"])
def test_a_delivery_to_the_wrong_url_does_not_hide_the_later_correct_one(two_apps, right, waiting):
    feed = two_apps.subscribe([VERIFIED, REJECTED])
    payload = made(two_apps, OURS, kind="DID_RENEW")
    if waiting:
        two_apps.service("stop", "verifier")
    try:
        astray, status = posted(two_apps, of(THEIRS), payload)
        assert status == "accepted"
        if not waiting:
            assert ended(two_apps, astray)["reason"] == "wrong_app"
        genuine, status = posted(two_apps, right, payload)
        assert (status, genuine != astray) == ("accepted", True), two_apps.call("Ingest", "GetDelivery", {"id": genuine})
        assert posted(two_apps, right, payload) == (genuine, "duplicate")
    finally:
        if waiting:
            two_apps.service("start", "verifier")
    assert ended(two_apps, astray)["reason"] == "wrong_app" and ended(two_apps, genuine)["state"] == "verified"
    # And the reverse: what was counted remains counted.
    ended(two_apps, posted(two_apps, of(THEIRS), payload)[0])
    assert posted(two_apps, right, payload) == (genuine, "duplicate")
    assert counted(two_apps, feed, 2) == [(REJECTED, "wrong_app"), (VERIFIED, None)]


def test_a_claimed_app_is_not_trusted_without_verification(two_apps):
    """A forgery that names the right app is rejected like one that names another."""
    feed = two_apps.subscribe([VERIFIED, REJECTED])
    genuine = made(two_apps, OURS)
    header, payload, signature = genuine.split(".")
    other = made(two_apps, THEIRS).split(".")
    forged = [f"{header}.{payload}.{other[2]}", f"{header}.{other[1]}.{signature}"]
    assert [ended(two_apps, posted(two_apps, of(OURS), text)[0])["reason"] for text in forged] == ["bad_signature"] * 2
    assert ended(two_apps, posted(two_apps, of(OURS), genuine)[0])["state"] == "verified"
    # A forgery's environment is not counted, because anybody could add values of the label.
    assert rejections(two_apps, "") >= 2
    assert counted(two_apps, feed, 3) == [(REJECTED, "bad_signature")] * 2 + [(VERIFIED, None)]


def test_notifications_of_a_purchase_keep_their_order_at_both_urls(two_apps):
    story = two_apps.control("/control/notifications/story", {
        "bundleId": OURS, "environment": "Production", "steps": ["buy", "renew", "renew"], "send": False})
    feed = two_apps.subscribe([VERIFIED, REJECTED])
    paths = [of(OURS), SHARED, of(OURS)]
    for path, notification in zip(paths, story["notifications"], strict=True):
        posted(two_apps, path, notification["signedPayload"])
    events = feed.wait_for(3, settle=1)
    feed.delete()
    assert [event["data"].get("notificationUUID", event) for event in events] == [one["notificationUUID"] for one in story["notifications"]]


@pytest.mark.parametrize("path", [
    of(UNKNOWN), of(UNKNOWN) + "/", of("COM.EXAMPLE.APP"), of("com.example.app%00"), of("com.example.ap"), of("%20com.example.app"),
    f"/v1/adservices/tokens/{UNKNOWN}"])
def test_an_app_that_is_not_configured_has_no_url(two_apps, path):
    answer = two_apps.post(path, {"signedPayload": made(two_apps, OURS), "token": uuid.uuid4().hex})
    assert answer.status == 404 and answer.json["code"] == "not_found", answer


def test_a_version_1_notification_is_reported_at_an_apps_url_too(two_apps):
    body = {"notification_type": "DID_RENEW", "password": uuid.uuid4().hex, "bid": OURS}
    answer = two_apps.post(of(OURS), body)
    assert ended(two_apps, answer.json["id"])["reason"] == "unsupported_version"
    assert two_apps.post(SHARED, body).json["id"] == answer.json["id"]


def test_a_token_at_an_apps_url_needs_no_bundle_id(two_apps):
    def post(path: str, body, **options):
        return two_apps.post(f"/v1/adservices/tokens/{path}", body, **options)

    token = uuid.uuid4().hex * 2
    accepted = post(OURS, {"token": token})
    assert accepted.status == 202 and accepted.json["status"] == "accepted", accepted
    again = {"id": accepted.json["id"], "status": "duplicate"}
    assert post(OURS, {"token": token, "bundleId": OURS}).json == again
    assert post(OURS + "/", token, content_type="text/plain").json == again
    assert two_apps.post("/v1/adservices/tokens", {"token": token, "bundleId": OURS}).json == again
    for refused in (post(OURS, {"token": token, "bundleId": THEIRS}), post(f"{OURS}?bundleId={THEIRS}", token, content_type="text/plain"),
                    post(OURS, {"attributionError": 1, "bundleId": THEIRS})):
        assert refused.status == 400 and "bundleId" in refused.body.decode(), refused
    assert post(THEIRS, {"attributionError": 1}).json == {"status": "counted", "retry": True}
    assert json.loads(post(OURS, token, content_type="application/xml").body)["code"] == "invalid_argument"
