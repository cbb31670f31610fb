"""The cases of lifecycle.json as signed notifications: through the queue, and read back by RPC."""

import json
import time
import uuid

import pytest

from SystemTests.differential import certificates
from SystemTests.differential.app_store.signed_data import signed_token
from SystemTests.differential.certificates import ROOT, Chain
from SystemTests.support.running_system import VECTORS, start_system, stop_system

from .test_vectors import configured, outcome

APP, NUMBER, DAY = "com.example.app", 1234567890, 86_400_000
CASES = json.loads((VECTORS / "appstore/lifecycle.json").read_text())
# Members of a transaction; the others belong to the renewal.
TRANSACTIONS_OWN = {"expires": "expiresDate", "revocationDate": "revocationDate"}
RENEWALS_OWN = {"gracePeriodExpires": "gracePeriodExpiresDate"}


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    directory = tmp_path_factory.mktemp("lifecycle")
    (directory / "root.der").write_bytes(ROOT.der)
    path, token = configured(
        directory, appStore={"rootCertificates": [str(directory / "root.der")]},
        apps=[{"bundleId": APP, "appAppleId": NUMBER, "environments": ["Production"]}])
    system = start_system(directory, "--config", str(path))
    system.token = token
    yield system
    stop_system(system)


@pytest.fixture(scope="module")
def chain():
    authority = certificates.authority("lifecycle authority")
    leaf = certificates.leaf("lifecycle leaf", authority)
    return Chain("lifecycle", [leaf.text, authority.text, ROOT.text], leaf.key, True)


def notification(event, number: str, origin: int, chain) -> tuple[str, str]:
    """Its UUID, and the notification as Apple would sign it; `origin`: day 0 of the case."""
    type, subtype, facts = event
    signed = origin + facts["t"] * DAY
    about = {"bundleId": APP, "environment": "Production"}
    given = {name: origin + value * DAY if name in TRANSACTIONS_OWN or name in RENEWALS_OWN else value for name, value in facts.items()}
    transaction = {
        **about, "transactionId": number, "originalTransactionId": number, "productId": "com.example.gold", "signedDate": signed,
        "purchaseDate": origin, "originalPurchaseDate": origin, "type": "Auto-Renewable Subscription",
        **{theirs: given[ours] for ours, theirs in TRANSACTIONS_OWN.items() if ours in given}}
    renewal = {
        "environment": "Production", "originalTransactionId": number, "productId": "com.example.gold", "signedDate": signed,
        **{theirs: given[ours] for ours, theirs in RENEWALS_OWN.items() if ours in given},
        **{name: given[name] for name in ("expirationIntent", "isInBillingRetryPeriod") if name in given}}
    name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{number} {facts['uuid']}")) if "uuid" in facts else str(uuid.uuid4())
    payload = {"notificationType": type, **({"subtype": subtype} if subtype else {}), "notificationUUID": name, "version": "2.0",
               "signedDate": signed, "data": {
                   **about, "appAppleId": NUMBER, "signedTransactionInfo": signed_token(transaction, chain),
                   "signedRenewalInfo": signed_token(renewal, chain)}}
    return name, signed_token(payload, chain)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_each_lifecycle_case_gets_its_states_and_gaps_through_the_queue_and_by_rpc(system, chain, case):
    number, expect = str(uuid.uuid4().int % 10 ** 15), case["expect"]
    # The last of them was just now.
    origin = int(time.time() * 1000) - max(event[2]["t"] for event in case["events"]) * DAY - 60_000
    made = [notification(event, number, origin, chain) for event in case["events"]]
    for index in case.get("arrival", range(len(made))):
        answer = system.post("/v1/app-store/notifications", json.dumps({"signedPayload": made[index][1]}))
        assert answer.status == 200, answer
        assert outcome(system, answer.json["id"])["state"] == "verified"
    state = system.call("Verifier", "GetSubscriptionState", {"originalTransactionId": number, "environment": "Production"})
    steps = state["notifications"]
    assert state["state"] == expect["final"], state
    assert [step["state"] for step in steps] == expect.get("states", [step["state"] for step in steps])
    assert len(steps) == expect.get("applied", len({name for name, _ in made}))
    assert [step["notificationUUID"] for step in steps] == list(dict.fromkeys(name for name, _ in made)), "signedDate decides"
    if "autoRenew" in expect:
        assert state["autoRenew"] is expect["autoRenew"], state
    if "gaps" in expect:
        gaps = state.get("gaps", [])
        assert len(gaps) == len(expect["gaps"]), state
        for gap, named in zip(gaps, expect["gaps"], strict=True):
            # "period-jump and no renewal-status change seen"
            assert made[named["before"]][0] in json.dumps(gap) and len(gap["rules"]) == 2, gap
