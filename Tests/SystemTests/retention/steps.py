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


OFFERED = {"promotionalOffer": {"message": OFFER, "offer": "stay"}}
SAID = {"message": {"de": GERMAN, "*": TEXT}}
RULES = [
    by_product("v2", OFFERED), by_product("v1", {"promotionalOffer": {
        "message": OFFER, "offer": "stay", "product": "yearly", "signature": "V1", "appAccountToken": "0f7b3e0a-7d3e-4e35-9c0c-0123456789AB"}}),
    by_product("plan", {"alternateProduct": {"message": PLAN, "product": "yearly", "billingPlanType": "MONTHLY"}}),
    by_product("advanced", {"advancedCommerce": {"message": ADVANCED, "request": json.dumps(MODIFY)}}),
    by_product("text", SAID), by_product("offer-or-text", OFFERED, SAID),
    by_product("pending", {"message": PENDING}), by_product("pending-or-text", {"message": PENDING}, SAID),
    {"name": "loyal", "answers": [OFFERED, SAID], "when": {
        "products": ["history"], "groups": ["21345678"], "storefronts": ["DEU"], "states": ["active"],
        "price": {"currency": "EUR", "atLeast": 5, "below": 10}, "tenure": {"atLeast": "90d"}}},
    by_product("history", SAID), by_product("experiment", OFFERED, experiment={"name": "spring", "to": 50}), by_product("experiment ", SAID),
    {"name": "rest of spring", "when": {"products": ["experiment"], "experiment": {"name": "spring", "from": 50}}, "answers": [SAID]},
]
