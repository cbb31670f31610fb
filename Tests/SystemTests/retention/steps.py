"""Requests of the App Store for retention messages, and the rules that answer them."""

from __future__ import annotations

import json

from .system import (
    ADVANCED,
    GERMAN,
    MODIFY,
    OFFER,
    PENDING,
    PLAN,
    TEXT,
)


def by_product(product: str, *answers: dict, **when: object) -> dict:
    return {"name": product, "when": {"products": [product], **when}, "answers": list(answers)}


CONFIGURED_OFFER = {"promotionalOffer": {"message": OFFER, "offer": "stay"}}
CONFIGURED_TEXT = {"message": {"de": GERMAN, "*": TEXT}}
RULES = [
    by_product("v2", CONFIGURED_OFFER), by_product("v1", {"promotionalOffer": {
        "message": OFFER, "offer": "stay", "product": "yearly", "signature": "V1", "appAccountToken": "0f7b3e0a-7d3e-4e35-9c0c-0123456789AB"}}),
    by_product("plan", {"alternateProduct": {"message": PLAN, "product": "yearly", "billingPlanType": "MONTHLY"}}),
    by_product("advanced", {"advancedCommerce": {"message": ADVANCED, "request": json.dumps(MODIFY)}}),
    by_product("text", CONFIGURED_TEXT), by_product("offer-or-text", CONFIGURED_OFFER, CONFIGURED_TEXT),
    by_product("pending", {"message": PENDING}), by_product("pending-or-text", {"message": PENDING}, CONFIGURED_TEXT),
    {"name": "loyal", "answers": [CONFIGURED_OFFER, CONFIGURED_TEXT], "when": {
        "products": ["history"], "groups": ["21345678"], "storefronts": ["DEU"], "states": ["active"],
        "price": {"currency": "EUR", "atLeast": 5, "below": 10}, "tenure": {"atLeast": "90d"}}},
    by_product("history", CONFIGURED_TEXT), by_product("experiment", CONFIGURED_OFFER, experiment={"name": "spring", "to": 50}),
    by_product("experiment ", CONFIGURED_TEXT),
    {"name": "rest of spring", "when": {"products": ["experiment"], "experiment": {"name": "spring", "from": 50}}, "answers": [CONFIGURED_TEXT]},
]
