"""Two keys for the App Store Server API while one is being replaced: `apps[].appStoreServer.otherKey`."""

import json
import subprocess
from collections.abc import Iterator

import pytest

from SystemTests.support.running_system import System, start_system, stop_system

from .look_up_steps import APP, ask, calls, cause, get, story

ISSUER, FIRST, OTHER = "57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34", "7Q2W8ERT90"


@pytest.fixture(scope="module")
def two_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    system = start_system(tmp_path_factory.mktemp("keys"))
    try:
        keys = system.data / "keys"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", keys / "OtherKey.p8"],
                       check=True, capture_output=True)
        configuration = system.data / "configuration.yaml"
        whole = configuration.read_text()
        line = f"privateKey: {keys}/SubscriptionKey.p8 "
        assert whole.count(line) == 1
        # Ingest and recoveries would call Apple with the same keys meanwhile.
        system.service("stop", "ingest")
        whole = "\n".join("    recovery: { schedule: never, outages: false }" if line.startswith("    recovery:") else line
                          for line in whole.splitlines()) + "\n"
        configuration.write_text(whole.replace(line, f"{line.strip()}, otherKey: {{ keyId: {OTHER}, privateKey: {keys}/OtherKey.p8 }} "))
        for name in ("signer", "notification-recovery"):
            restart(system, name)
        yield system
    finally:
        stop_system(system)


def restart(system: System, name: str) -> None:
    system.service("stop", name)
    system.service("start", name)


def accept(system: System, *names: str) -> None:
    """Sets the keys that App Store Connect knows."""
    files = {FIRST: "SubscriptionKey", OTHER: "OtherKey"}
    keys = [{"issuerId": ISSUER, "keyId": name, "publicKey": subprocess.run(
        ["openssl", "pkey", "-in", system.data / "keys" / f"{files[name]}.p8", "-pubout"], capture_output=True, text=True, check=True).stdout}
        for name in names]
    system.control("/control/apps", {"bundleId": APP, "appAppleId": 525463029, "notificationURLs": {}, "apiKeys": keys})


def test_a_call_that_apple_refuses_is_repeated_with_the_other_key_and_later_calls_begin_with_it(two_keys):
    original = story(two_keys, "buy")["originalTransactionId"]
    # What each call costs: requests to Apple and their statuses.
    for accepted, statuses in (((FIRST,), [200]), ((OTHER,), [401, 401, 200]), ((OTHER,), [200]), ((FIRST, OTHER), [200]),
                               ((FIRST,), [401, 401, 200]), ((FIRST,), [200])):
        accept(two_keys, *accepted)
        before = len(calls(two_keys))
        answer = ask(two_keys, "GetSubscriptionStatuses", {"transactionId": original, "environment": "Production"})
        assert answer.status == 200, answer
        assert [call["status"] for call in calls(two_keys)[before:]] == statuses, accepted
    log = (two_keys.data / f"run-{two_keys.port_base}" / "notification-recovery.log").read_text()
    refused = [entry["keyId"] for entry in map(json.loads, log.splitlines()) if "Apple refuses a key" in entry["message"]]
    assert refused == [FIRST, OTHER]
    assert 'attribution_app_store_errors_total{class="credentials"} 2' in two_keys.request(
        "GET", two_keys.url("Recovery") + "/metrics", headers={"Authorization": f"Bearer {two_keys.token}"}).body.decode()


def test_if_apple_refuses_both_keys_the_call_fails_after_two_requests_with_each(two_keys):
    original = story(two_keys, "buy")["originalTransactionId"]
    message = {"transactionId": original, "environment": "Production"}

    def refused() -> list[tuple[str, int]]:
        before = len(calls(two_keys))
        answer = ask(two_keys, "GetSubscriptionStatuses", message)
        assert answer.status == 400 and cause(answer)["reason"] == "APP_STORE_CREDENTIALS"
        return [(call["environment"], call["status"]) for call in calls(two_keys)[before:]]

    restart(two_keys, "notification-recovery")
    accept(two_keys)
    # The service checks the keys in the sandbox, because production refuses each key of an app that was never released.
    assert refused() == [("Production", 401)] * 4 + [("Sandbox", 401)] * 4
    accept(two_keys, FIRST)
    get(two_keys, "GetSubscriptionStatuses", message)
    accept(two_keys)
    assert refused() == [("Production", 401)] * 4, "it was released"


def test_if_only_production_refuses_a_key_the_answer_says_that_the_app_was_never_released_unless_it_accepted_one_before(two_keys):
    accept(two_keys, FIRST, OTHER)
    bought, original = story(two_keys, "buy")["originalTransactionId"], story(two_keys, "buy", environment="Sandbox")["originalTransactionId"]
    two_keys.control("/control/faults", {"route": "production", "count": 1000, "status": 401})
    # It does not remember then that production has accepted a key.
    restart(two_keys, "notification-recovery")
    try:
        for method, message in (("GetTransactionInfo", {"transactionId": original}), ("GetRefundHistory", {"transactionId": original})):
            refused = ask(two_keys, method, {**message, "environment": "Production"})
            assert refused.status == 400 and cause(refused)["reason"] == "APP_STORE_CONFIGURATION", refused
            assert "never released" in refused.body.decode() and cause(refused)["environment"] == "Production"
        assert get(two_keys, "GetTransactionInfo", {"transactionId": original})["environment"] == "Sandbox"
        two_keys.control("/control/faults", {"clear": True})
        get(two_keys, "GetTransactionInfo", {"transactionId": bought, "environment": "Production"})
        two_keys.control("/control/faults", {"route": "production", "count": 1000, "status": 401})
        for more in ({}, {"environment": "Production"}):
            refused = ask(two_keys, "GetTransactionInfo", {"transactionId": bought, **more})
            assert refused.status == 400 and cause(refused)["reason"] == "APP_STORE_CREDENTIALS", refused
    finally:
        two_keys.control("/control/faults", {"clear": True})


def test_signer_makes_a_token_with_the_named_key(two_keys):
    for key in (FIRST, OTHER):
        assert two_keys.call("Signer", "CreateAppStoreServerToken", {"bundleId": APP, "keyId": key})["token"]
    answer = two_keys.rpc("Signer", "CreateAppStoreServerToken", {"bundleId": APP, "keyId": "2X9R4HXF35"})
    assert answer.status == 404 and answer.json["details"][0]["debug"]["fieldViolations"][0]["field"] == "keyId", "the key of the offers"
    listed = two_keys.call("Signer", "ListSigningKeys", {"bundleId": APP})["keys"]
    assert {key["keyId"]: key["use"] for key in listed} == {FIRST: "appStoreServer", OTHER: "otherAppStoreServer", "2X9R4HXF35": "offers"}
