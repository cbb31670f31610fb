"""Calls of the Advanced Commerce API, with the request bodies of Apple's documentation."""

from typing import Any

from client import Answer
from SystemTests.support.running_system import System

from .steps import APP, new_id, story, until

ITEMS = [{"SKU": "AD_FREE_1M", "displayName": "Ad-free", "description": "No ads.", "price": 9990},
         {"SKU": "ADVANCED_1M", "displayName": "Advanced", "description": "More features.", "price": 3990}]
COMMERCE = {"taxCode": "C003-00-1", "descriptors": {"displayName": "Both", "description": "Both features."}, "items": ITEMS, "period": "P1M"}


def ask(system: System, method: str, transaction: str, body: dict, environment: str | None = "Production", **options: Any) -> Answer:
    message = {"bundleId": APP, "transactionId": transaction, "request": body}
    if environment:
        message["environment"] = environment
    return system.rpc("AdvancedCommerce", method, message, **options)


def get(system: System, method: str, transaction: str, body: dict, environment: str | None = "Production") -> dict:
    answer = ask(system, method, transaction, body, environment)
    assert answer.status == 200, (method, answer)
    return answer.json


def record(system: System, reference: str) -> Answer:
    """The answer of GetAdvancedCommerceCall, which has the call as the service has stored it."""
    return system.rpc("AdvancedCommerce", "GetAdvancedCommerceCall", {"bundleId": APP, "requestReferenceId": reference})


def notified(system: System, reference: str, type: str) -> dict:
    """Waits until a notification of this type is joined to the call; returns the call."""
    def look() -> dict | None:
        answer = record(system, reference)
        call = answer.json.get("call", {}) if answer.status == 200 else {}
        return call if type in [one["notificationType"] for one in call.get("notifications", [])] else None

    return until(look)


def bought(system: System, environment: str = "Production") -> str:
    return story(system, "buy", environment=environment, advancedCommerce=COMMERCE)["originalTransactionId"]


def info(**more: Any) -> dict:
    return {"requestInfo": {"requestReferenceId": new_id(), **more}}


def bodies() -> list[tuple]:
    """One call for each method, partly Apple's own examples: the method, the body, the operation in the stored call, and the type of the
    notification that Apple sends for it. Each result has new identifiers."""
    return [
        ("ChangeAdvancedCommerceMetadata", {**info(), "storefront": "USA", "descriptors": {"effective": "IMMEDIATELY", "displayName": "New"},
                                            "items": [{"currentSKU": "AD_FREE_1M", "SKU": "AD_FREE_2M", "effective": "NEXT_BILL_CYCLE"}]},
         "changeMetadata", "METADATA_UPDATE"),
        ("ChangeAdvancedCommercePrice", {**info(), "currency": "USD", "storefront": "USA",
                                         "items": [{"SKU": "AD_FREE_1M", "price": 12990, "dependentSKUs": ["ADVANCED_1M"]}]},
         "changePrice", "PRICE_CHANGE"),
        ("CancelAdvancedCommerceSubscription", {**info(), "storefront": "USA"}, "cancel", "DID_CHANGE_RENEWAL_STATUS"),
        ("RevokeAdvancedCommerceSubscription", {**info(), "refundReason": "UNINTENDED_PURCHASE", "refundRiskingPreference": True,
                                                "refundType": "FULL"}, "revoke", "REFUND"),
        ("RequestAdvancedCommerceRefund", {**info(), "currency": "USD", "refundRiskingPreference": False, "items": [
            {"SKU": "AD_FREE_1M", "refundReason": "LEGAL", "refundType": "CUSTOM", "refundAmount": 1990, "revoke": False}]},
         "requestRefund", "REFUND"),
    ]
