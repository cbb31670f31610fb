"""Reports of external purchases over RPC: Apple's own examples, its errors by line and field, automatic retries, and that
Apple accepts each report once, whichever process is killed."""

import os
import signal
import threading
import time

import pytest

from .steps import APP, calls, cause, new_id, until

LINE = {"lineItemId": "a", "creationDate": 1706047472367, "eventType": "BUY", "productType": "ONE_TIME_BUY",
        "productIdentifier": "example.one-time-buy.product", "amountTaxInclusive": 10000, "amountTaxExclusive": 8000, "taxAmount": 2000,
        "netAmountTaxExclusive": 8000, "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "ESP", "quantity": 6}
START = {**dict(LINE.items()), "productType": "SUBSCRIPTION", "productIdentifier": "example.subscription.monthly",
         "subscriptionEvent": "SUBSCRIPTION_START", "subscriptionStartDate": 1706047488039, "subscriptionEndDate": 1708639488039,
         "subscriptionDaysOfPaidService": 0, "quantity": 1}
REFUND = {"creationDate": 1706047491127, "eventType": "REFUND", "amountTaxInclusive": 2500, "amountTaxExclusive": 2000, "taxAmount": 500,
          "netAmountTaxExclusive": 6000, "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "ESP"}


def line(base: dict, **more) -> dict:
    return {name: value for name, value in {**base, "lineItemId": new_id(), **more}.items() if value is not None}


def report(*lines, token: str | None = None, status: str | None = None) -> dict:
    body = {"requestIdentifier": new_id(), "externalPurchaseId": token or new_id(), "status": status or ("LINE_ITEM" if lines else "NO_LINE_ITEM")}
    return {**body, "lineItems": list(lines)} if lines else body


def send(system, body: dict, wait: int = 20_000, **more):
    return system.rpc("ExternalPurchase", "SendExternalPurchaseReport", {"bundleId": APP, "report": body, "waitMilliseconds": wait, **more})


def accepted(system, body: dict) -> dict:
    answer = send(system, body)
    assert answer.status == 200 and answer.json["report"]["state"] == "accepted", answer
    return answer.json["report"]


def known(system, body: dict, environment: str = "Production") -> dict:
    return system.call("ExternalPurchase", "GetExternalPurchaseReport", {
        "bundleId": APP, "environment": environment, "requestIdentifier": body["requestIdentifier"]})["report"]


def listed(system, state: str) -> set[str]:
    """The identifiers of the app's reports in this state; the list for all apps must have them too."""
    of_app, of_all = ({one["requestIdentifier"] for one in system.call(
        "ExternalPurchase", "ListExternalPurchaseReports", {**app, "state": state, "maxReports": 1000}).get("reports", [])}
        for app in ({"bundleId": APP}, {}))
    assert of_app <= of_all
    return of_app


def puts(system, body: dict) -> list[int]:
    """Apple's answers to each attempt to send the report."""
    return [call["status"] for call in calls(system, "/externalPurchase/v1/reports")
            if call["method"] == "PUT" and call.get("body", {}).get("requestIdentifier") == body["requestIdentifier"]]


def test_apples_examples_are_accepted_and_can_be_retrieved(system):
    buy, start = line(LINE), line(START)
    renewal = line(START, subscriptionEvent="RENEWAL", subscriptionDaysOfPaidService=30, subscriptionStartDate=1708639488039,
                   subscriptionEndDate=1711231488039, creationDate=1708639488039, referenceLineItemId=start["lineItemId"])
    bodies = [report(buy), report(start), report(renewal), report(line(REFUND, referenceLineItemId=buy["lineItemId"])),
              report(), report(status="UNRECOGNIZED_TOKEN"), report(status="DUPLICATE_TOKEN")]
    for body in bodies:
        stored = accepted(system, body)
        assert stored["environment"] == "Production" and stored["attempts"] == 1 and stored.get("lineItems", 0) == len(body.get("lineItems", []))
        sent = [call for call in calls(system, "/externalPurchase/v1/reports") if call["method"] == "PUT"][-1]
        assert sent["body"] == body and sent["environment"] == "Production"
        found = system.call("ExternalPurchase", "RetrieveExternalPurchaseReport", {
            "bundleId": APP, "environment": "Production", "requestIdentifier": body["requestIdentifier"].upper()})
        assert found["response"]["report"] == body
        # A repetition is recognised, and Apple is not called.
        again = dict(reversed(body.items()))
        assert accepted(system, again)["attempts"] == 1 and puts(system, body) == [200]
    assert {body["requestIdentifier"] for body in bodies} <= listed(system, "accepted")


def test_a_sandbox_token_is_reported_to_the_sandbox(system):
    body = report(token=f"SANDBOX_{new_id()}")
    assert accepted(system, body)["environment"] == "Sandbox"
    # An empty value is the same as an absent one.
    assert send(system, report(token=f"SANDBOX_{new_id()}"), environment="").json["report"]["environment"] == "Sandbox"
    wrong = send(system, report(token=f"SANDBOX_{new_id()}"), environment="Production")
    assert wrong.status == 400 and '"report.externalPurchaseId"' in wrong.body.decode(), wrong
    unknown = system.rpc("ExternalPurchase", "RetrieveExternalPurchaseReport", {
        "bundleId": APP, "environment": "Production", "requestIdentifier": body["requestIdentifier"]})
    # Apple's answer is only the status 400.
    assert unknown.status == 404 and '"requestIdentifier"' in unknown.body.decode(), unknown


def test_apples_errors_name_line_and_field_and_a_corrected_report_reuses_the_identifier(system):
    wrong = report(line(REFUND, referenceLineItemId="nobody's"))
    answer = send(system, wrong)
    stored = answer.json["report"]
    assert stored["state"] == "refused" and stored["errors"][0]["fieldName"] == "referenceLineItemId", answer
    assert stored["errors"][0]["lineItemId"] == wrong["lineItems"][0]["lineItemId"] and stored["lastError"] == stored["errors"][0]["errorMessage"]
    assert wrong["requestIdentifier"] in listed(system, "refused") and wrong["requestIdentifier"] not in listed(system, "waiting")
    corrected = {**report(line(LINE)), "requestIdentifier": wrong["requestIdentifier"]}
    assert accepted(system, corrected)["requestIdentifier"] == wrong["requestIdentifier"]
    assert not [state for state in ("waiting", "refused") if wrong["requestIdentifier"] in listed(system, state)]
    other = send(system, {**report(), "requestIdentifier": wrong["requestIdentifier"]})
    assert other.status == 400 and cause(other)["reason"] == "REQUEST_IDENTIFIER_REUSED", other


def test_a_report_is_sent_again_automatically_while_apple_is_unavailable(system):
    body = report(line(LINE))
    try:
        system.control("/control/faults", {"route": "externalPurchaseReport", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
        assert send(system, body, wait=0).json["report"]["state"] == "waiting" and body["requestIdentifier"] in listed(system, "waiting")
        stored = until(lambda: (one := known(system, body))["state"] == "accepted" and one)
        assert stored["attempts"] == 2
        # The service waits for the rate limit.
        body = report()
        moment = int(time.time() * 1000) + 1500
        system.control("/control/faults", {"route": "externalPurchaseReport", "count": 1, "status": 429, "body": {"errorCode": 4290000},
                                           "retryAfter": moment})
        assert accepted(system, body)["state"] == "accepted" and time.time() * 1000 >= moment
    finally:
        system.control("/control/faults", {"clear": True})


def test_a_report_whose_answer_is_lost_is_not_sent_again(system):
    body = report(line(LINE))
    system.control("/control/faults", {"route": "externalPurchaseReport", "count": 1, "reset": True})
    try:
        assert accepted(system, body)["attempts"] == 2
    finally:
        system.control("/control/faults", {"clear": True})
    assert puts(system, body) == [200]


def test_a_report_that_apple_has_but_does_not_show_yet_is_not_reported_as_refused(system):
    body = report(line(LINE))
    system.control("/control/faults", {"route": "externalPurchaseReport", "count": 1, "reset": True})
    system.control("/control/faults", {"route": "externalPurchaseRetrieval", "count": 1, "status": 400, "body": {"fieldName": "requestIdentifier"}})
    try:
        stored = accepted(system, body)
    finally:
        system.control("/control/faults", {"clear": True})
    # Apple refused the second one as a duplicate.
    assert puts(system, body) == [200, 400] and stored["attempts"] == 2 and "lastError" not in stored and "errors" not in stored


def test_another_report_under_an_identifier_that_apple_has_is_refused(system):
    body = report(line(LINE))
    system.control("/control/faults", {"route": "externalPurchaseReport", "count": 1, "reset": True})
    # Twice, after which the service must treat the report as refused.
    system.control("/control/faults", {"route": "externalPurchaseRetrieval", "count": 2, "status": 400, "body": {"fieldName": "requestIdentifier"}})
    try:
        assert send(system, body).json["report"]["state"] == "refused"
    finally:
        system.control("/control/faults", {"clear": True})
    stored = send(system, {**body, "lineItems": [line(LINE)]}).json["report"]
    assert stored["state"] == "refused" and stored["errors"][0]["fieldName"] == "requestIdentifier", stored
    assert accepted(system, body)["attempts"] == 1 and puts(system, body) == [200, 400, 400, 400]


def test_a_report_outlives_the_service_that_was_sending_it(system):
    body = report(line(LINE))
    system.control("/control/faults", {"route": "externalPurchaseReport", "count": 1, "delayMilliseconds": 60_000})
    try:
        caller = threading.Thread(target=_quietly, args=(system, body))
        caller.start()
        until(lambda: puts(system, body))
        os.kill(system.pid("notification-recovery"), signal.SIGKILL)
        caller.join(30)
        system.control("/control/faults", {"clear": True})
        system.service("stop", "notification-recovery")
        system.service("start", "notification-recovery")
        stored = until(lambda: (one := known(system, body))["state"] == "accepted" and one, seconds=60)
    finally:
        system.control("/control/faults", {"clear": True})
    assert stored["attempts"] == 2 and puts(system, body) == [200]


def _quietly(system, body: dict) -> None:
    try:
        send(system, body)
    except OSError:
        return


@pytest.mark.parametrize("body,field", [
    ({**report(), "requestIdentifier": "x"}, "requestIdentifier"), ({**report(), "externalPurchaseId": ""}, "externalPurchaseId"),
    (report(status="NOTHING"), "status"), (report(status="LINE_ITEM"), "lineItems"), ({**report(line(LINE)), "status": "NO_LINE_ITEM"}, "lineItems"),
    ({**report(), "more": 1}, "more"),
    (report(line(LINE, amountTaxInclusive=9999)), "lineItems[0].amountTaxInclusive"), (report(line(LINE, taxAmount=-1)), "lineItems[0].taxAmount"),
    (report(line(LINE, quantity=0)), "lineItems[0].quantity"), (report(line(LINE, taxCountry="ES")), "lineItems[0].taxCountry"),
    (report(line(LINE, pricingCurrency="USD")), "lineItems[0].reportingCurrency"),
    (report(line(LINE, reportingCurrency="ISK", pricingCurrency="ISK")), "lineItems[0].reportingCurrency"),
    (report(line(LINE, pricingCurrency="ISK")), "lineItems[0].exchangeRate"), (report(line(LINE, exchangeRate=1.5)), "lineItems[0].exchangeRate"),
    (report(line(LINE, creationDate=4_000_000_000_000)), "lineItems[0].creationDate"),
    (report(line(LINE, erroneouslySubmitted=True)), "lineItems[0].restatement"), (report(line(LINE, eventType="GIFT")), "lineItems[0].eventType"),
    (report(line(LINE, subscriptionEvent="RENEWAL")), "lineItems[0].subscriptionEvent"),
    (report(line(REFUND)), "lineItems[0].referenceLineItemId"), (report(line(REFUND, referenceLineItemId="a", quantity=1)), "lineItems[0].quantity"),
    (report(line(START, subscriptionDaysOfPaidService=1)), "lineItems[0].subscriptionDaysOfPaidService"),
    (report(line(START, subscriptionStartDate=1708639488040)), "lineItems[0].subscriptionStartDate"),
    (report(line(LINE), {**line(LINE), "lineItemId": "a"}, {**line(LINE), "lineItemId": "a"}), "lineItems[2].lineItemId"),
    (report({**line(LINE), "lineItemId": "a"}, line(REFUND, referenceLineItemId="a", taxCountry="FRA")), "lineItems[1].taxCountry"),
])
def test_a_wrong_field_is_refused_by_its_name_before_apple_is_called(system, body, field):
    before = len(calls(system, "/externalPurchase/"))
    answer = send(system, body)
    assert answer.status == 400 and f'"report.{field}"' in answer.body.decode(), answer
    assert len(calls(system, "/externalPurchase/")) == before
