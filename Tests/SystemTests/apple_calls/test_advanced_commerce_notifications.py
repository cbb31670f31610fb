"""Notifications of the Advanced Commerce API are joined to the calls that caused them, by the request or by the purchase."""

from .commerce_steps import bodies, bought, get, notified, record
from .steps import APP, new_id, until


def test_a_one_time_charge_is_found_by_the_identifier_of_the_in_app_request(system):
    reference = new_id()
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "ONE_TIME_CHARGE", "send": True,
        "transaction": {"advancedCommerceInfo": {"requestReferenceId": reference, "items": []}}})
    call = notified(system, reference.upper(), "ONE_TIME_CHARGE")
    assert call["state"] == "unknown" and not call.get("operation")
    nobody = record(system, new_id())
    assert nobody.status == 404, nobody


def test_a_notification_without_the_calls_identifier_is_joined_by_its_purchase(system):
    transaction = bought(system)
    creation = new_id()
    changes = [bodies()[1][1] for _ in range(2)]
    first, second = (change["requestInfo"]["requestReferenceId"] for change in changes)
    for change in changes:
        get(system, "ChangeAdvancedCommercePrice", transaction, change)
        notified(system, change["requestInfo"]["requestReferenceId"], "PRICE_CHANGE")

    def notify(type: str, reference: str) -> str:
        return system.control("/control/notifications", {
            "bundleId": APP, "environment": "Production", "notificationType": type, "send": True,
            "transaction": {"originalTransactionId": transaction, "advancedCommerceInfo": {"requestReferenceId": reference, "items": []}},
            "renewal": {"advancedCommerceInfo": {"requestReferenceId": reference, "items": []}}})["notificationUUID"]

    def joined(call: dict) -> dict[str, str]:
        return {one["notificationUuid"]: one["joinedBy"] for one in call.get("notifications", [])}

    # These notifications name the request with which the app started the subscription, and no call of a server.
    price, metadata = notify("PRICE_CHANGE", creation), notify("METADATA_UPDATE", creation)
    notified(system, creation, "METADATA_UPDATE")
    found = until(lambda: (one := record(system, first).json["call"]) and price in joined(one) and one)
    assert joined(found)[price] == "purchase" and metadata not in joined(found)
    # Neither call has the notification that names the other one.
    for reference, other in ((first, second), (second, first)):
        named = [one for one in record(system, reference).json["call"]["notifications"] if one["joinedBy"] == "requestReferenceId"]
        assert len(named) == 1 and named[0]["notificationUuid"] not in joined(record(system, other).json["call"])
        assert price in joined(record(system, reference).json["call"])
