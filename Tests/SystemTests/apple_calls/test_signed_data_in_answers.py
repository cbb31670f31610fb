"""Signed data in Apple's answers that names no app or fails verification: the rest of the answer is used."""

import json

from .look_up_steps import APP, ask, cause, get, story


def test_an_answer_whose_signed_data_fails_verification_is_not_returned(system):
    original = story(system, "buy")["originalTransactionId"]
    forged = system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "forge": "root", "send": False})["signedPayload"]
    system.control("/control/faults", {"route": "transactionInfo", "count": 1, "status": 200, "body": {"signedTransactionInfo": forged}})
    answer = ask(system, "GetTransactionInfo", {"transactionId": original})
    assert answer.status == 500 and answer.json["code"] == "data_loss", answer
    assert cause(answer)["reason"] == "SIGNED_DATA_INVALID" and cause(answer)["kind"] == "transaction", json.dumps(answer.json)


def nameless(system, original: str) -> str:
    """Adds a one-time purchase that names no app to the customer's purchases; returns its transaction id."""
    return system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "ONE_TIME_CHARGE", "originalTransactionId": original, "send": False,
        "history": False, "transaction": {"bundleId": None}})["transactionId"]


def test_a_transaction_that_names_no_app_is_returned_and_named(system):
    original = story(system, "buy", "renew")["originalTransactionId"]
    id = nameless(system, original)
    problem = {"index": 0, "reason": "app_not_named"}
    info = get(system, "GetTransactionInfo", {"transactionId": id})
    assert info["problems"] == [problem] and info["decoded"][0]["transactionId"] == id and "bundleId" not in info["decoded"][0]
    history = get(system, "GetTransactionHistory", {"transactionId": original})
    assert history["problems"] == [{**problem, "index": 2}] and [one["transactionId"] for one in history["decoded"]][2] == id, history
    assert "problems" not in get(system, "GetTransactionHistory", {"transactionId": original, "productType": ["AUTO_RENEWABLE"]})
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "REFUND", "originalTransactionId": id, "send": False, "history": False})
    refunds = get(system, "GetRefundHistory", {"transactionId": original})
    assert refunds["problems"] == [problem] and refunds["decoded"][0]["transactionId"] == id, refunds
    signed = info["response"]["signedTransactionInfo"]
    for route, method, message, body in (
            ("orderLookup", "LookUpOrder", {"orderId": "MX"}, {"status": 0, "signedTransactions": [signed]}),
            ("subscriptionStatuses", "GetSubscriptionStatuses", {"transactionId": original}, {"data": [{"lastTransactions": [
                {"originalTransactionId": id, "status": 1, "signedTransactionInfo": signed}]}]})):
        system.control("/control/faults", {"route": route, "count": 1, "status": 200, "body": body})
        answer = get(system, method, message)
        assert answer["problems"] == [problem] and answer["decoded"][0]["transactionId"] == id, (method, answer)


def test_signed_data_that_fails_verification_leaves_the_rest_of_an_answer(system):
    original = story(system, "buy", "renew", "refund")["originalTransactionId"]

    def broken(jws: str) -> str:
        head, payload, signature = jws.split(".")
        return f"{head}.{payload}.{signature[::-1]}"

    history = get(system, "GetTransactionHistory", {"transactionId": original})
    statuses = get(system, "GetSubscriptionStatuses", {"transactionId": original})
    first, second = history["response"]["signedTransactions"]
    entry = statuses["response"]["data"][0]["lastTransactions"][0]
    for route, method, message, body, places in (
            ("transactionHistory", "GetTransactionHistory", {}, {**history["response"], "signedTransactions": [broken(first), second]}, [0]),
            ("refundHistory", "GetRefundHistory", {}, {"signedTransactions": [second, "x", broken(first)], "hasMore": False}, [1, 2]),
            ("orderLookup", "LookUpOrder", {"orderId": "MX"}, {"status": 0, "signedTransactions": [second, broken(first)]}, [1]),
            ("subscriptionStatuses", "GetSubscriptionStatuses", {}, {"data": [{"lastTransactions": [
                {**entry, "signedRenewalInfo": broken(entry["signedRenewalInfo"])}]}]}, [1])):
        system.control("/control/faults", {"route": route, "count": 1, "status": 200, "body": body})
        answer = get(system, method, {**(message or {"transactionId": original}), "environment": "Production"})
        assert [one.get("index", 0) for one in answer["problems"]] == places, (method, answer["problems"])
        assert {one["reason"] for one in answer["problems"]} <= {"bad_signature", "malformed_signature", "malformed_jws"}, answer["problems"]
        assert [bool(one) for one in answer["decoded"]] == [place not in places for place in range(len(answer["decoded"]))], answer["decoded"]
        assert answer["response"] == body
    # If nothing can be used, that is an error.
    system.control("/control/faults", {"route": "refundHistory", "count": 1, "status": 200, "body": {
        "signedTransactions": [broken(first), broken(second)], "revision": "r", "hasMore": False}})
    nothing = ask(system, "GetRefundHistory", {"transactionId": original, "environment": "Production"})
    assert nothing.status == 500 and cause(nothing)["reason"] == "SIGNED_DATA_INVALID", nothing
