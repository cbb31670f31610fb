"""Tokens that Apple refuses: once by mistake, or because of the clocks."""

import uuid

import pytest

from client import Answer

from .look_up_steps import APP, ask, calls, cause, get, story


@pytest.mark.parametrize("environment", ["Production", "Sandbox"])
def test_after_one_401_a_call_is_repeated_with_a_new_token_and_a_change_is_made_once(system, environment):
    original = story(system, "buy", environment=environment)["originalTransactionId"]
    where = {"environment": environment}

    def refused_once(method: str, route: str, message: dict, **more) -> Answer:
        system.control("/control/faults", {"route": route, "count": 1, "status": 401})
        try:
            answer = ask(system, method, {**message, **more}, key=uuid.uuid4().hex)
            assert system.control("/control/state")["faults"] == 0
            return answer
        finally:
            system.control("/control/faults", {"clear": True})

    before = len(calls(system))
    end = get(system, "GetSubscriptionStatuses", {"transactionId": original, **where})["decoded"][0]["expiresDate"]
    for method, route in (("GetSubscriptionStatuses", "subscriptionStatuses"), ("GetTransactionHistory", "transactionHistory"),
                          ("GetTransactionInfo", "transactionInfo"), ("GetAppTransactionInfo", "appTransactionInfo"),
                          ("FinishTransaction", "finishTransaction")):
        assert refused_once(method, route, {"transactionId": original}, **where).status == 200, method
    token = {"originalTransactionId": original, "appAccountToken": str(uuid.uuid4())}
    assert refused_once("SetAppAccountToken", "setAppAccountToken", token, **where).status == 200
    extension = {"originalTransactionId": original, "extendByDays": 7, "extendReasonCode": 1, "requestIdentifier": uuid.uuid4().hex}
    extended = refused_once("ExtendSubscriptionRenewalDate", "extendRenewalDate", extension, **where)
    assert extended.status == 200 and extended.json["response"]["effectiveDate"] == end + 7 * 86_400_000, extended
    if environment == "Production":
        # Without an environment, the sandbox is not asked because of one 401.
        assert refused_once("GetTransactionInfo", "transactionInfo", {"transactionId": original}).json["environment"] == "Production"
        assert {call["environment"] for call in calls(system)[before:]} == {"Production"}
    changes = [call["method"] for call in calls(system)[before:] if call["method"] != "GET"]
    assert changes == ["POST", "PUT", "PUT"], changes


def test_a_clock_that_is_ahead_of_apples_does_no_harm_up_to_a_minute_and_is_named_in_the_error(system):
    original = story(system, "buy")["originalTransactionId"]
    message = {"transactionId": original, "environment": "Production"}
    try:
        for seconds in (5, 45):
            system.control("/control/clock", {"offsetMilliseconds": -seconds * 1000})
            # A lifetime that was not requested before gets a new token.
            assert system.call("Signer", "CreateAppStoreServerToken", {"bundleId": APP, "lifetimeSeconds": 3600 - seconds})["token"]
            assert get(system, "GetTransactionInfo", message)["decoded"]
            system.control("/control/faults", {"route": "transactionInfo", "count": 2, "status": 401})
            refused = ask(system, "GetTransactionInfo", message)
            assert abs(int(cause(refused)["clockDifferenceSeconds"]) - seconds) <= 1, refused
        # Every token of the last twenty minutes is from the future, or has expired.
        for seconds, word in ((1800, "ahead of"), (-7200, "behind")):
            system.control("/control/clock", {"offsetMilliseconds": -seconds * 1000})
            refused = ask(system, "GetTransactionInfo", message)
            assert refused.status == 400 and cause(refused)["reason"] == "APP_STORE_CREDENTIALS", refused
            found = int(cause(refused)["clockDifferenceSeconds"])
            assert abs(found - seconds) <= 1 and f"our clock is {abs(found)} s {word} Apple's" in refused.json["message"], refused
    finally:
        system.control("/control/clock", {"offsetMilliseconds": 0})
        system.control("/control/faults", {"clear": True})
    assert get(system, "GetTransactionInfo", message)["decoded"]
