"""The console's pages, from the real executables: who may read them, for how long, and whether their figures are correct."""

import hashlib
import json
import re
import time
import uuid

import pytest

from SystemTests.support.running_system import redis_words
from SystemTests.support.second_instance import second_instance

from .reader import ConsoleReader

NETWORK, APP = "example123.skadnetwork", 525463029
PAGES = ["", "/deliveries", "/deliveries?range=7d", "/values", "/queues", "/dead-letters", "/subscriptions", "/app-store", "/recovery", "/keys"]


@pytest.fixture
def reader(system):
    reader = ConsoleReader(system.url("Verifier"))
    assert reader.sign_in(system.token).status == 303
    return reader


def counts(system) -> dict[tuple, int]:
    """The numbers of outcomes within the last hours, by kind, verdict and reason."""
    found: dict[tuple, int] = {}
    for period in system.call("Verifier", "GetDeliveryCounts", {"periods": 180})["periods"]:
        for count in period.get("counts", []):
            key = count["kind"], count["verdict"], count.get("reason")
            found[key] = found.get(key, 0) + int(count["count"])
    return found


def wait_for(what, seconds: float = 30):
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "not in time"
        time.sleep(0.1)
    return found


# --- readers ---------------------------------------------------------------------------------------------------------------

def test_a_session_cookie_does_not_reveal_the_token(system):
    reader = ConsoleReader(system.url("Verifier"))
    sent = reader.get("/queues")
    assert sent.status == 303 and sent.location == "/console/sign-in?next=%2Fconsole%2Fqueues"
    answer = reader.sign_in(system.token, "/queues")
    assert answer.status == 303 and answer.location == "/console/queues"
    cookie = next(cookie for cookie in answer.headers.get_all("Set-Cookie") if cookie.startswith("console="))
    assert {part.strip() for part in cookie.split(";")[1:]} == {"Path=/console", "Max-Age=3600", "HttpOnly", "SameSite=Strict"}
    value = cookie.split(";")[0].split("=")[1]
    digest = hashlib.sha256(system.token.encode()).hexdigest()
    assert re.fullmatch("[0-9a-f]{64}", value) and digest not in value and system.token not in cookie
    page = reader.get("/queues")
    assert page.status == 200 and "developer" in page.text and page.headers["Cache-Control"] == "no-store"
    # Redis does not store the token, nor anything that allows signing in with it, nor the cookie.
    shard_keys = list(redis_words(system, "KEYS", "*:verifier:console:*"))
    kept = " ".join(shard_keys + [word for key in shard_keys for word in redis_words(system, "GET", key)])
    assert shard_keys and value not in kept and digest not in kept and system.token not in kept


def test_every_page_requires_a_session(system, reader):
    stranger = ConsoleReader(system.url("Verifier"))
    for path in PAGES:
        page = reader.get(path)
        assert page.status == 200 and "<h1>" in page.text, path
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and page.headers["X-Content-Type-Options"] == "nosniff"
        # Pages load nothing from other hosts.
        assert all(link.startswith(("/console", "#")) for link in page.links), page.links
        assert stranger.get(path).status == 303
    assert reader.get("/nothing").status == 404 and stranger.get("/nothing").status == 303


@pytest.mark.parametrize("change", [
    {"form": "00" * 64}, {"form": ""}, {"token": "wrong"}, {"token": ""}, {"Origin": "https://evil.example"}, {"Sec_Fetch_Site": "cross-site"},
    {"Cookie": "console-form=" + "00" * 32},
])
def test_a_forged_form_or_a_wrong_token_creates_no_session(system, change):
    reader = ConsoleReader(system.url("Verifier"))
    sign_in_page = reader.get("/sign-in")
    fields = {"form": sign_in_page.field("form"), "next": "/console", "token": system.token,
              **{k: v for k, v in change.items() if k in ("form", "token")}}
    answer = reader.request("POST", "/console/sign-in", fields, **{k: v for k, v in change.items() if k not in ("form", "token")})
    assert answer.status == 403 and "console" not in reader.cookies and 'role="alert"' in answer.text


def test_signing_out_ends_the_session_for_every_instance(system):
    with second_instance(system, "verifier") as other:
        first, second = ConsoleReader(system.url("Verifier")), ConsoleReader(other)
        # A balancer may send the form, its submission and the next page to different instances.
        sign_in_page = first.get("/sign-in")
        second.cookies = dict(first.cookies)
        answer = second.request("POST", "/console/sign-in", {"form": sign_in_page.field("form"), "next": "/console", "token": system.token})
        assert answer.status == 303
        first.cookies = dict(second.cookies)
        assert first.get().status == second.get().status == 200
        # A form of another session, or without a session, does not end it.
        assert first.request("POST", "/console/sign-out", {"form": "00" * 64}).status == 403
        assert first.request("POST", "/console/sign-out", {"form": first.get().field("form")}, Origin="https://evil.example").status == 403
        assert second.get().status == 200
        kept = dict(first.cookies)
        assert first.sign_out().location == "/console/sign-in" and "console" not in first.cookies
        second.cookies = kept
        assert second.get().status == 303


def test_the_cookie_is_secure_behind_a_balancer_with_tls(system):
    reader = ConsoleReader(system.url("Verifier"), X_Forwarded_Proto="https")
    answer = reader.sign_in(system.token)
    cookie = next(cookie for cookie in answer.headers.get_all("Set-Cookie") if "__Host-console=" in cookie)
    assert {part.strip() for part in cookie.split(";")[1:]} == {"Path=/", "Max-Age=3600", "HttpOnly", "SameSite=Strict", "Secure"}
    assert reader.get().status == 200
    # The cookie for clear text has another name.
    assert reader.get("", X_Forwarded_Proto="http").status == 303


def test_a_session_expires_ends_with_its_token_and_shows_only_permitted_pages(system, tmp_path):
    narrow, token = "a caller's token that may see queues", "a caller's token that is taken away"
    whole = (system.data / "configuration.yaml").read_text()

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def configured(taken: str) -> str:
        more = "".join(f'  - {{ name: {name}, tokenSHA256: "{digest(secret)}", allow: ["{allowed}"] }}\n' for name, secret, allowed in (
            ("narrow", narrow, "attribution.queues.v1.QueuesService/List*"), ("nobody", "nobody may do anything", "attribution.ingest.v1.*"),
            ("other", taken, "*")))
        return whole.replace("\nclients:\n", "\nclients:\n" + more) + "console: { session: 3s }\n"

    configuration = system.data / "console.yaml"
    configuration.write_text(configured(token))
    try:
        with second_instance(system, "verifier", more=f"export ATTRIBUTION_CONFIG='{configuration}'") as other:
            reader = ConsoleReader(other)
            reader.sign_in(narrow)
            page = reader.get()
            assert page.status == 200 and "Dead letters" in page.text and "/console/keys" not in page.links and "Feed backlog" not in page.text
            assert "you may not call GetDeliveryCounts" in reader.get("/deliveries").text
            refused = ConsoleReader(other).sign_in("nobody may do anything")
            assert refused.status == 403 and "may call none of the methods" in refused.text
            wait_for(lambda: reader.get().status == 303, 20)
            assert "console" in reader.cookies
    finally:
        configuration.unlink()


# --- content ---------------------------------------------------------------------------------------------------------------

def test_deliveries_are_counted_once_by_kind_verdict_and_reported_values(system, reader):
    before, values = counts(system), system.call("Verifier", "GetValueCounts")
    # No other test sends these, and sums of earlier tests may be written meanwhile.
    source, app = "7306", 1525463029

    def conversions(answer: dict) -> int:
        return sum(int(one["count"]) for one in answer.get("conversions", [])
                   if int(one["appAppleId"]) == app and one.get("fineValue") == 42)

    def sources(answer: dict) -> int:
        return sum(int(one["count"]) for one in answer.get("sources", []) if one["sourceIdentifier"] == source)

    made = [system.control("/control/skadnetwork/postbacks", {
        "transactionId": str(uuid.uuid4()), "adNetworkId": NETWORK, "version": "4.0", "appId": app, "sourceIdentifier": source,
        "conversionValue": 42, "send": False})["body"] for _ in range(3)]
    forged = json.dumps({**json.loads(made[0]), "app-id": app + 1, "transaction-id": str(uuid.uuid4())})
    # The same bytes twice are one delivery; the same postback in other bytes is a duplicate.
    copy = json.dumps(json.loads(made[0]), indent=1)
    for body in [*made, made[1], forged, copy]:
        assert system.post("/v1/postbacks", body).status == 200

    def grown() -> dict:
        return {key: count - before.get(key, 0) for key, count in counts(system).items() if key[0] == "skadnetwork-postback"
                and count > before.get(key, 0)}

    kind = "skadnetwork-postback"
    wanted = {(kind, "verified", None): 3, (kind, "duplicate", None): 1, (kind, "rejected", "bad_signature"): 1}
    wait_for(lambda: all(grown().get(key, 0) >= count for key, count in wanted.items()))
    assert grown() == wanted
    # A sum of many values is written once a minute.
    after = wait_for(
        lambda: next((after for after in [system.call("Verifier", "GetValueCounts")] if conversions(after) - conversions(values) >= 3), None),
        seconds=120)
    assert conversions(after) - conversions(values) == 3 and sources(after) - sources(values) == 3
    wait_for(lambda: "bad_signature" in reader.get("/deliveries").text)
    page = reader.get("/deliveries").text
    assert "SKAdNetwork postbacks" in page and "Apple did not sign it" in page and "<svg" in page
    page = reader.get(f"/values?app={app}&network={NETWORK}").text
    assert f"<b>{source}</b>" in page and "42: " in page
    for method, message, field in [("GetDeliveryCounts", {"period": "day"}, "period"), ("GetDeliveryCounts", {"periods": 0}, "periods"),
                                   ("GetDeliveryCounts", {"period": "hour", "periods": 169}, "periods"), ("GetValueCounts", {"hours": 169}, "hours")]:
        answer = system.rpc("Verifier", method, message)
        assert answer.status == 400 and field in answer.body.decode()


def test_a_dead_letter_page_shows_the_history(system, reader):
    id = f"017-{uuid.uuid4().hex}"
    received = int(time.time() * 1000) - 7_200_000
    secret = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
    history = f"{received + 1000} the host answered 503\n{received + 3_600_000} idfa {secret} was refused\n"
    envelope = json.dumps({"r": received, "s": "public"})
    redis_words(system, "XADD", "{attr:017}:q:gaps:dead", "*", "i", id, "k", "gap", "b", "x", "a", envelope, "n", 3, "h", history,
                "x", "<b>it was given up</b>", "d", received + 7_000_000)
    try:
        page = wait_for(lambda: next((page for page in [reader.get("/dead-letters?queue=gaps")] if id in page.text), None))
        assert "&lt;b&gt;it was given up&lt;/b&gt;" in page.text
        story = reader.get(f"/dead-letters/gaps/{id}")
        assert story.status == 200 and "the host answered 503" in story.text and "1 h" in story.text
        assert story.text.index("answered 503") < story.text.index("was refused") < story.text.index("Given up")
        assert secret not in page.text + story.text and "6D9207…" in story.text
        wait_for(lambda: "1 dead letter in the queue gaps" in reader.get().text)
    finally:
        system.call("Queues", "PurgeDeadLetters", {"queue": "gaps", "ids": [id]}, key=uuid.uuid4().hex)
    assert wait_for(lambda: reader.get(f"/dead-letters/gaps/{id}").status == 404)


def test_subscriptions_keys_and_recoveries_match_the_services(system, reader):
    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1"])
    url = "https://hooks.example.com/services/secret-path?key=secret"
    pushed = f"p-{uuid.uuid4().hex[:8]}"
    answer = system.call("Events", "CreateSubscription", {"name": pushed, "push": {"url": url}})
    try:
        page = wait_for(lambda: next((page for page in [reader.get("/subscriptions")] if pushed in page.text), None)).text
        assert feed.name in page and "https://hooks.example.com/…" in page
        assert "secret" not in page and answer["secret"] not in page
    finally:
        system.call("Events", "DeleteSubscription", {"name": pushed}, key=uuid.uuid4().hex)
        feed.delete()
    keys = system.call("Signer", "ListSigningKeys")["keys"]
    page = reader.get("/keys").text
    assert keys and all(key["keyId"] in page for key in keys)
    assert "PRIVATE" not in page and "BEGIN" not in page and not any(key["publicKey"].splitlines()[1] in page for key in keys)
    assert reader.get("/keys").figure("Active") == str(sum(key["state"] == "active" for key in keys))
    now = int(time.time())
    stamps = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - back)) for back in (7200, 3600)]
    recovery = system.call("Recovery", "StartRecovery", {
        "bundleId": "com.example.app", "environment": "Sandbox", "startDate": stamps[0], "endDate": stamps[1]}, key=uuid.uuid4().hex)["recoveryId"]
    page = wait_for(lambda: next((page for page in [reader.get("/recovery")] if recovery in page.text and "<progress" in page.text), None))
    assert "by request" in page.text and "com.example.app" in page.text


def test_the_app_store_page_shows_the_state_and_history_of_a_subscription(system, reader):
    story = system.control("/control/notifications/story", {
        "bundleId": "com.example.app", "environment": "Production", "steps": ["buy", "renew", "cancel"], "send": True})["notifications"]
    id = story[0]["originalTransactionId"]
    page = wait_for(lambda: next((page for page in [reader.get(f"/app-store?transaction={id}")] if "AUTO_RENEW_DISABLED" in page.text), None))
    assert "active-not-renewing" in page.text and "SUBSCRIBED" in page.text
    assert "no notification of this subscription was received" in reader.get("/app-store?transaction=12345678901234").text
    # Counts are written every few seconds, and later on a busy machine.
    wait_for(lambda: "DID_RENEW" in reader.get("/app-store").text, 120)


def test_an_unavailable_service_is_named_and_the_rest_is_shown(system):
    with second_instance(
        system, "verifier", more="unset ATTRIBUTION_NOTIFICATION_RECOVERY_URL; export ATTRIBUTION_SIGNER_URL=http://127.0.0.1:9"
    ) as other:
        reader = ConsoleReader(other)
        reader.sign_in(system.token)
        assert "Set ATTRIBUTION_NOTIFICATION_RECOVERY_URL." in reader.get("/recovery").text
        overview = reader.get()
        assert overview.status == 200 and "signer does not answer" in overview.text and overview.figure("Dead letters")


def test_the_console_can_be_disabled(system):
    configuration = system.data / "no-console.yaml"
    configuration.write_text((system.data / "configuration.yaml").read_text() + "console: { enabled: false }\n")
    try:
        with second_instance(system, "verifier", more=f"export ATTRIBUTION_CONFIG='{configuration}'") as other:
            assert ConsoleReader(other).get().status == 404
    finally:
        configuration.unlink()
