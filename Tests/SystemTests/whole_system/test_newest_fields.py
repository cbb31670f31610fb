"""Apple's latest additions, from the simulator through the public port to the event: external purchase tokens, commitments, Advanced
Commerce, web ads' sites."""

import base64
import json
import time
import uuid

import jsonschema_rs
import pytest

from SystemTests.migration.receipts import migrate, transaction_receipt
from SystemTests.support.running_system import ROOT

APP = "com.example.app"
TYPES = ["appstore.notification.verified.v1", "appstore.notification.rejected.v1"]


def made(system, **more) -> dict:
    return system.control("/control/notifications", {"bundleId": APP, "environment": "Production", "send": False, **more})


def post(system, signed_payload: str):
    answer = system.post("/v1/app-store/notifications", {"signedPayload": signed_payload})
    assert answer.status == 200, answer
    return answer.json


@pytest.mark.parametrize("environment, subtype", [
    ("Production", "CREATED"), ("Production", "ACTIVE_TOKEN_REMINDER"), ("Production", "UNREPORTED"), ("Sandbox", "CREATED"),
    ("Sandbox", "UNREPORTED"), ("Production", "A_NEW_SUBTYPE")])
def test_repeated_external_purchase_tokens_become_one_typed_event(system, environment, subtype):
    feed = system.subscribe(TYPES)
    notice = made(system, environment=environment, notificationType="EXTERNAL_PURCHASE_TOKEN", subtype=subtype)
    for _ in range(3):
        post(system, notice["signedPayload"])
    [event] = feed.wait_for(1, settle=0.5)
    assert event["type"] == TYPES[0] and event["subject"] == APP
    assert event["id"] == f"appstore:{environment}:{notice['notificationUUID'].lower()}"
    data, token = event["data"], event["data"]["externalPurchaseToken"]
    assert (data["environment"], data["notificationType"], data["subtype"]) == (environment, "EXTERNAL_PURCHASE_TOKEN", subtype)
    assert token == data["payload"]["externalPurchaseToken"]
    assert token["externalPurchaseId"].startswith("SANDBOX") == (environment == "Sandbox")
    assert token["bundleId"] == APP and isinstance(token["tokenCreationDate"], int)
    is_custom = subtype in ("CREATED", "ACTIVE_TOKEN_REMINDER")
    assert ("tokenType" in token, "tokenExpirationDate" in token) == (is_custom, is_custom)
    assert "lifecycle" not in data
    feed.delete()


def test_a_feed_of_one_app_by_its_apple_id_has_its_external_purchase_tokens(system):
    number = next(app["appAppleId"] for app in system.control("/control/apps")["apps"] if app["bundleId"] == APP)
    name = f"by-number-{uuid.uuid4().hex[:8]}"
    system.call("Events", "CreateSubscription", {"name": name, "start": "now", "types": TYPES, "filter": {"apps": [str(number)]}})
    notice = made(system, notificationType="EXTERNAL_PURCHASE_TOKEN", subtype="UNREPORTED")
    post(system, notice["signedPayload"])
    pulled = system.call("Events", "PullEvents", {"subscription": name, "waitMilliseconds": 20000})["events"]
    assert [one["event"]["data"]["notificationUUID"] for one in pulled] == [notice["notificationUUID"]]
    system.call("Events", "DeleteSubscription", {"name": name}, key=uuid.uuid4().hex)


def encoded(token: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(token).encode()).decode().rstrip("=")


def test_a_token_that_an_app_passes_is_decoded(system):
    token = {"appAppleId": 55555, "bundleId": APP, "tokenCreationDate": 1698148950000, "externalPurchaseId": "SANDBOX_1",
             "tokenType": "ACQUISITION", "tokenExpirationDate": 1698149950000, "later": [1]}
    answer = system.call("Verifier", "DecodeExternalPurchaseToken", {"token": encoded(token)})
    assert answer == {"token": token, "environment": "Sandbox", "createdAt": "2023-10-24T12:02:30Z", "expiresAt": "2023-10-24T12:19:10Z",
                      "expired": True}
    # These times are not valid dates: the object still contains them.
    far = {"externalPurchaseId": "1", "tokenCreationDate": -2**63, "tokenExpirationDate": 253402300800000}
    assert system.call("Verifier", "DecodeExternalPurchaseToken", {"token": encoded(far)}) == {
        "token": far, "environment": "Production", "expired": False}
    plain = {"externalPurchaseId": "1"}
    assert system.call("Verifier", "DecodeExternalPurchaseToken", {"token": encoded(plain)}) == {"token": plain, "environment": "Production"}


@pytest.mark.parametrize("token, field", [
    (None, "token"), ("", "token"), ("no base64!", "token"), (encoded([1]), "token"), (encoded({}), "token.externalPurchaseId"),
    (encoded({"externalPurchaseId": "1", "appAppleId": "x"}), "token.appAppleId"), ("A" * 9000, "token")])
def test_an_invalid_token_is_refused_by_its_field(system, token, field):
    answer = system.rpc("Verifier", "DecodeExternalPurchaseToken", {"token": token} if token is not None else {})
    assert (answer.status, answer.json["code"]) == (400, "invalid_argument")
    assert field in json.dumps(answer.json["details"])


def test_commitments_and_advanced_commerce_reach_the_event_with_every_member(system):
    feed = system.subscribe(TYPES)
    story = system.control("/control/notifications/story", {
        "bundleId": APP, "environment": "Production", "steps": ["buy", "renew", "price-increase", "refund"], "commitmentPeriods": 12,
        "skus": ["one", "two"], "send": False, "transaction": {"aNewMember": {"of": "Apple's"}, "offerDiscountType": "A_NEW_WORD"}})
    for sent in story["notifications"]:
        post(system, sent["signedPayload"])
    events = {event["data"]["notificationType"]: event["data"] for event in feed.wait_for(4)}
    bought, renewed = events["SUBSCRIBED"]["transactionInfo"], events["DID_RENEW"]["transactionInfo"]
    assert bought["billingPlanType"] == "MONTHLY"
    assert [one["commitmentInfo"]["billingPeriodNumber"] for one in (bought, renewed)] == [1, 2]
    assert bought["commitmentInfo"]["totalBillingPeriods"] == 12
    info = bought["advancedCommerceInfo"]
    assert [item["SKU"] for item in info["items"]] == ["one", "two"] and info["taxRate"] == "0.0859"
    raised = events["PRICE_INCREASE"]["renewalInfo"]
    assert raised["advancedCommerceInfo"]["items"][0]["priceIncreaseInfo"]["status"] == "PENDING"
    assert raised["renewalBillingPlanType"] == "MONTHLY" and raised["commitmentInfo"]["commitmentAutoRenewStatus"] == 1
    refunded = events["REFUND"]["transactionInfo"]
    assert (refunded["revocationType"], refunded["revocationPercentage"]) == ("REFUND_FULL", 100_000)
    feed.delete()


def test_unknown_members_and_values_reach_the_event(system):
    feed = system.subscribe(TYPES)
    notice = made(system, notificationType="SUBSCRIBED", subtype="INITIAL_BUY", payload={"aNewMember": [1, {"deep": None}]},
                  data={"alsoNew": True}, transaction={"revocationType": "A_NEW_WORD", "price": "text", "brandNew": {"a": 1}},
                  renewal={"renewalBillingPlanType": "WEEKLY"})
    post(system, notice["signedPayload"])
    [event] = feed.wait_for(1)
    data = event["data"]
    assert data["payload"]["aNewMember"] == [1, {"deep": None}] and data["payload"]["data"]["alsoNew"] is True
    transaction = data["transactionInfo"]
    assert (transaction["revocationType"], transaction["price"], transaction["brandNew"]) == ("A_NEW_WORD", "text", {"a": 1})
    assert data["renewalInfo"]["renewalBillingPlanType"] == "WEEKLY"
    feed.delete()


@pytest.mark.parametrize("domain, registrable, inside", [
    ("example.co.uk", True, "example.co.uk"), ("shop.example.co.uk", False, "example.co.uk"), ("co.uk", False, None),
    ("someone.github.io", True, "someone.github.io"), ("Example.com", False, None)])
def test_a_web_ad_postback_counts_for_any_site_and_shows_the_registrable_domain(system, domain, registrable, inside):
    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1", "attribution.skadnetwork.postback.rejected.v1"])
    postback = system.control("/control/skadnetwork/postbacks", {"version": "4.0", "web": True, "sourceDomain": domain, "send": False})
    assert system.post("/v1/postbacks", postback["body"]).status == 200
    [event] = feed.wait_for(1)
    assert event["type"] == "attribution.skadnetwork.postback.verified.v1"
    expected = {"registrable": registrable, **({"registrableDomain": inside} if inside else {})}
    assert event["data"]["sourceDomain"] == expected and event["data"]["postback"]["source-domain"] == domain
    feed.delete()


WEB = {"version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029}


@pytest.mark.parametrize("domain", ["shop.example.co.uk", "co.uk", "a.b.c.kobe.jp", "c.kobe.jp", "github.io", "xn--55qx5d.cn", "example.com."])
def test_a_web_ad_is_signed_only_for_registrable_domains(system, domain):
    for method, more in (("SignSKAdNetworkWebImpression", {}), ("SignSKAdNetworkWebImpression", {"deferred": True}),
                         ("SignSKAdNetworkImpression", {"fidelityType": 1})):
        answer = system.rpc("Signer", method, {**WEB, **more, "sourceDomain": domain})
        assert (answer.status, answer.json["code"]) == (400, "invalid_argument"), answer
        assert "sourceDomain" in json.dumps(answer.json["details"])
    kept = system.rpc("Signer", "SignSKAdNetworkWebImpression", {**WEB, "deferred": True, "sourceDomains": ["example.org", domain]})
    assert kept.status == 400 and "sourceDomains[1]" in json.dumps(kept.json["details"])
    [result] = system.call("Signer", "SignImpressions", {"items": [{"skadnetworkWeb": {**WEB, "sourceDomain": domain}}]})["results"]
    assert result["error"]["code"] == "invalid_argument"


@pytest.mark.parametrize("domain", ["example.co.uk", "city.kobe.jp", "b.c.kobe.jp", "someone.github.io", "xn--85x722f.xn--55qx5d.cn"])
def test_registrable_domains_of_every_kind_of_rule_are_signed(system, domain):
    signed = system.call("Signer", "SignSKAdNetworkWebImpression", {**WEB, "sourceDomain": domain})
    assert signed["payload"]["source_domain"] == domain


def test_a_site_that_a_device_names_is_signed_even_if_its_list_is_newer(system):
    kept = system.call("Signer", "SignSKAdNetworkWebImpression", {**WEB, "deferred": True})
    answer = system.post("/.well-known/skadnetwork/get-signed-payload", {
        "source_domain": "site.newhost.example.com", "source_engagement_type": "click_to_App_Store",
        "source_nonce": kept["attributionSourceNonce"], "version": "4.0"})
    assert answer.status == 200 and answer.json["source_domain"] == "site.newhost.example.com"
    checked = {name: answer.json[theirs] for name, theirs in (
        ("version", "version"), ("adNetworkId", "ad_network_id"), ("sourceIdentifier", "source_identifier"), ("itunesItemId", "itunes_item_id"),
        ("sourceDomain", "source_domain"), ("nonce", "nonce"), ("timestamp", "timestamp"), ("signature", "signature"))}
    assert system.call("Verifier", "VerifySKAdNetworkImpression", {**checked, "fidelityType": 1})["valid"] is True


OPENAPI = json.loads((ROOT / "Shared/AttributionProtocol/Contract/openapi.json").read_text())
SCHEMAS = OPENAPI["components"]["schemas"]
OF_TYPE = {schema["x-event-type"]: name for name, schema in SCHEMAS.items() if "x-event-type" in schema}


def unnamed(value, schema: dict, path: str = "data") -> list[str]:
    """The members that the contract does not name. An object without its own message may have any members."""
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list):
        return [found for item in value for found in unnamed(item, schema.get("items", {}), f"{path}[]")]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    return [found for name, item in value.items()
            for found in (unnamed(item, schema["properties"][name], f"{path}.{name}") if name in schema["properties"] else [f"{path}.{name}"])]


def checked(event: dict) -> None:
    name = OF_TYPE[event["type"]]
    assert unnamed(event["data"], SCHEMAS[name]) == [], event
    jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", "components": OPENAPI["components"]}).validate(event["data"])


def test_every_event_member_with_apples_data_is_in_the_contract(system):
    feed = system.subscribe([*OF_TYPE])
    # test_main_paths.py uses Apple's genuine postback of AdAttributionKit, which a system counts only once.
    bodies = []
    for version, more in (("1.0", {}), ("2.2", {}), ("3.0", {"didWin": False}), ("4.0", {"web": True}), ("4.0", {"sequenceIndex": 2})):
        bodies.append(system.control("/control/skadnetwork/postbacks", {"version": version, "send": False, **more})["body"])
    for more in ({"countryCode": "DE"}, {"conversionType": "re-engagement"}, {"sequenceIndex": 1}):
        bodies.append(system.control("/control/adattributionkit/postbacks", {"send": False, **more})["body"])
    for body in bodies:
        assert system.post("/v1/postbacks", body).status == 200
    story = system.control("/control/notifications/story", {
        "bundleId": APP, "environment": "Production", "send": False, "commitmentPeriods": 12, "skus": ["one"],
        "steps": ["buy", "offer-redeemed", "renew", "grace", "recover", "cancel", "resume", "price-increase", "consumption-request", "refund",
                  "refund-reversed", "extend", "revoke"]})
    notices = [sent["signedPayload"] for sent in story["notifications"]]
    for kind, subtype in (("TEST", None), ("RENEWAL_EXTENSION", "SUMMARY"), ("RESCIND_CONSENT", None), ("ONE_TIME_CHARGE", None),
                          ("EXTERNAL_PURCHASE_TOKEN", "CREATED")):
        notices.append(made(system, notificationType=kind, **({"subtype": subtype} if subtype else {}))["signedPayload"])
    for notice in notices:
        post(system, notice)
    past = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 30))
    for preset in ("standard", "detailed", "view", "organic", "test"):
        token = uuid.uuid4().hex * 2
        system.control("/control/adservices/tokens", {"token": token, "preset": preset})
        system.call("Broker", "ExchangeToken", {"token": token, "bundleId": APP, "attStatus": 3 if preset in ("detailed", "view") else 2,
                                                "requestedAt": past, "installId": uuid.uuid4().hex, "waitMilliseconds": 20000})
    system.call("Broker", "ExchangeToken", {"token": "not+a/token=!", "bundleId": APP, "requestedAt": past, "waitMilliseconds": 20000})
    events = feed.wait_for(len(bodies) + len(notices) + 6)
    # Data that is looked up for the same purchase: its status and its transactions.
    migrate(system, [{"id": "1", "transactionReceipt": transaction_receipt(story["originalTransactionId"])}])
    until = time.monotonic() + 30
    while {event["type"] for event in events} != set(OF_TYPE) and time.monotonic() < until:
        events += feed.pull(wait=1)
    assert {event["type"] for event in events} == set(OF_TYPE)
    for event in events:
        checked(event)
    feed.delete()
