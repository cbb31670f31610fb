"""Compares the acknowledged deliveries with the events that exist."""

from __future__ import annotations

import collections

from .load import ADSERVICES, COPY, FORGED, GENUINE, NOTIFICATION, SESSION, Ledger


def account(events: list[dict], states: dict[str, str], ledger: Ledger) -> dict[str, int]:
    """Compares the acknowledged deliveries with the stored data; fails if they differ. Returns counts."""
    by_kind = collections.defaultdict(list)
    for delivery in ledger.deliveries.values():
        by_kind[delivery.kind].append(delivery.name)
    by_type = collections.defaultdict(list)
    for event in events:
        by_type[event["type"]].append(event)
    twice = [id for id, count in collections.Counter(event["id"] for event in events).items() if count > 1]
    assert not twice, f"{len(twice)} events twice: {twice[:5]}"

    def same(what: str, sent: list[str], found: list[str]) -> None:
        counted = collections.Counter(found)
        lost, doubled = set(sent) - set(found), [name for name, count in counted.items() if count > 1]
        unknown = set(found) - set(sent)
        assert not lost and not doubled and not unknown, (
            f"{what}: {len(lost)} lost {list(lost)[:3]}, {len(doubled)} twice {doubled[:3]}, {len(unknown)} unknown {list(unknown)[:3]}")

    verified = by_type.pop("attribution.skadnetwork.postback.verified.v1", [])
    same("postbacks", by_kind[GENUINE], [event["data"]["transactionId"] for event in verified])
    forged = {id for id, delivery in ledger.deliveries.items() if delivery.kind == FORGED}
    rejected = by_type.pop("attribution.skadnetwork.postback.rejected.v1", [])
    same("forgeries", sorted(forged), [event["data"]["deliveryId"] for event in rejected])
    notifications = by_type.pop("appstore.notification.verified.v1", [])
    same("notifications", by_kind[NOTIFICATION], [event["data"]["notificationUUID"] for event in notifications])
    tokens = by_type.pop("attribution.adservices.resolved.v1", [])
    same("tokens", [id for id, delivery in ledger.deliveries.items() if delivery.kind == ADSERVICES],
         [event["data"]["exchangeId"] for event in tokens])
    routed = by_type.pop("attribution.session.routed.v1", [])
    same("sessions", [id for id, delivery in ledger.deliveries.items() if delivery.kind == SESSION],
         [event["data"]["deliveryId"] for event in routed])
    for data in (event["data"] for event in routed):
        session = ledger.deliveries[data["deliveryId"]]
        assert data["delivered"] and data["host"].startswith("consent." if data["consent"] else "analytics."), data
        # The consent of a session that waited depends on whether the answer came in time; a session that has the answer must match it.
        assert not data["consent"] or ledger.answers[session.name] == 3, data
        assert session.status == 0 or data["consent"] == (session.status == 3), data
    changed = by_type.pop("attribution.att.status_changed.v1", [])
    same("answers", list(ledger.answers), [event["data"]["installHash"] for event in changed])
    assert all(event["data"]["to"] == ledger.answers[event["data"]["installHash"]] for event in changed)
    # Events of the subscriptions' histories belong to no sent delivery.
    others = {name: len(found) for name, found in by_type.items() if not name.startswith("appstore.subscription.")}
    assert not others, others
    expected = {GENUINE: "verified", COPY: "verified", FORGED: "rejected", NOTIFICATION: "verified", ADSERVICES: "done",
                SESSION: "done"}
    wrong = [(id, state) for id, state in states.items() if state != expected[ledger.deliveries[id].kind]]
    assert set(states) == set(ledger.deliveries) and not wrong, f"{len(wrong)} deliveries in a wrong state: {wrong[:5]}"
    # A shard keeps the order of its events, and an original transaction id has one shard.
    came = collections.defaultdict(list)
    order_of = {delivery.name: delivery.order for delivery in ledger.deliveries.values() if delivery.order}
    for event in notifications:
        name = event["data"]["notificationUUID"]
        came[order_of[name]].append(name)
    ordered = {order: names for order, names in ledger.order.items() if order not in ledger.unordered}
    for order, names in ordered.items():
        assert came[order] == names, f"out of order: {order}"
    return {"postbacks verified": len(verified), "copies": len(by_kind[COPY]), "forgeries rejected": len(rejected),
            "notifications": len(notifications), "subscriptions in order": len(ordered), "tokens": len(tokens),
            "sessions sent": len(routed), "with consent": sum(event["data"]["consent"] for event in routed), "answers": len(changed)}
