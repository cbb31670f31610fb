"""What signed data of the App Store names: the app and the environment. Apple's library requires that each piece of data names both; the rules
here, in `told`, are those of the specification for data that lacks a member or adds one."""

import contextlib
from typing import NamedTuple

from SystemTests.differential import jws
from SystemTests.differential.expected_verdict import Fraction, Refused, whole_number

from .signed_data import APPS, NESTED, OBJECTS, without_none


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Names(NamedTuple):
    """What data names, and whether objects of a notification that count the same contradict each other."""

    bundle: str | None
    app: int | None
    environment: str | None
    several_apps: bool = False
    several_environments: bool = False


# Members of a notification that are about nothing, and members by which data of a kind is told from other data.
PLAIN = ("notificationType", "subtype", "notificationUUID", "version", "signedDate")
OWN = {"notification": ("notificationUUID", "notificationType"),
       "transaction": ("transactionId", "purchaseDate", "type", "inAppOwnershipType", "quantity"),
       "renewalInfo": ("autoRenewStatus", "autoRenewProductId", "renewalDate", "recentSubscriptionStartDate"),
       "appTransaction": ("receiptType", "receiptCreationDate", "applicationVersion", "originalApplicationVersion"),
       "realtimeRequest": ("requestIdentifier", "userLocale")}


def text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def whole(value: object) -> int | None:
    """An integer, also one that a JSON library wrote that knows only doubles."""
    if isinstance(value, Fraction):
        value = whole_number(value.text)
    return value if is_whole(value) and -2 ** 63 <= value < 2 ** 63 else None


def holders(payload: dict) -> list[list[tuple[str, dict]]]:
    """The objects of a notification: the known ones, the payload itself, the others. What a group names counts before later groups."""
    found = [(name, value) for name, value in payload.items() if isinstance(value, dict) and name not in PLAIN]
    return [[one for one in found if one[0] in OBJECTS], [("", payload)], [one for one in found if one[0] not in OBJECTS]]


def holder_environment(name: str, holder: dict) -> str | None:
    if name == "externalPurchaseToken" and isinstance(holder.get("externalPurchaseId"), str):
        return "Sandbox" if holder["externalPurchaseId"].startswith("SANDBOX") else "Production"
    return text(holder.get("environment"))


def nested_parts(payload: dict) -> list[tuple[str, str]]:
    """The kinds and texts of the JWS inside a notification."""
    return [(kind, value) for field, kind in NESTED.items() for group in holders(payload) for _, holder in group
            if (value := text(holder.get(field)))]


def named(kind: str, payload: dict) -> Names:
    """The app and the environment in the data. What a notification does not name, the JWS inside it tell."""
    if kind != "notification":
        return Names(text(payload.get("bundleId")), whole(payload.get("appAppleId")),
                     text(payload.get("receiptType" if kind == "appTransaction" else "environment")))
    bundles, apps, environments = [], [], []
    for group in holders(payload):
        if not bundles and not any(apps):
            bundles = [value for _, holder in group if (value := text(holder.get("bundleId")))]
            apps = [value for _, holder in group if (value := whole(holder.get("appAppleId"))) is not None]
        environments = environments or [value for name, holder in group if (value := holder_environment(name, holder))]
    found = Names(next(iter(bundles), None), next(iter(apps), None), next(iter(environments), None),
                  len(set(bundles)) > 1 or len(set(apps)) > 1, len(set(environments)) > 1)
    if (found.bundle or found.app) and found.environment:
        return found
    inner = []
    for nested_kind, token in nested_parts(payload):
        with contextlib.suppress(Refused):
            inner.append(named(nested_kind, jws.parse(token).payload()))
    if not (found.bundle or found.app):
        teller = next((one for one in inner if one.bundle or one.app), found)
        found = found._replace(bundle=teller.bundle, app=teller.app)
    return found._replace(environment=found.environment or next((one.environment for one in inner if one.environment), None))


def has_foreign_members(kind: str, payload: dict) -> bool:
    """Whether data has members that only another kind has, and none of its own."""
    kinds = {one for one, members in OWN.items() if any(name in payload for name in members)}
    return bool(kinds) and kind not in kinds


def is_another_kind(kind: str, payload: dict) -> bool:
    if any(name in payload for name in OWN[kind]):
        return False
    if has_foreign_members(kind, payload):
        return True
    if kind == "notification":
        return not any(text(holder.get("bundleId")) or whole(holder.get("appAppleId")) for _, holder in holders(payload)[0])
    names = named(kind, payload)
    return not names.environment or (kind in ("transaction", "appTransaction") and not names.bundle)


def lacks_a_name(kind: str, payload: dict) -> bool:
    """Whether data lacks a member with which the library compares the app or the environment, or a notification has other objects than one
    that is known. Then the rules of `told` decide: the library refuses such data, although something else may tell what it is about."""
    names, production = named(kind, payload), "Production"
    if is_another_kind(kind, payload) or not names.environment:
        return True
    if kind == "notification":
        known, _, others = holders(payload)
        if len(known) != 1 or others:
            return True
        name, holder = known[0]
        # The library takes an external purchase token without an id for one of production.
        has_id = name != "externalPurchaseToken" or isinstance(holder.get("externalPurchaseId"), str)
        return (not text(holder.get("bundleId")) or not has_id or not holder_environment(name, holder)
                or (names.environment == production and whole(holder.get("appAppleId")) is None))
    # The library compares no bundle id of renewal information and realtime requests.
    if bool(names.bundle) != (kind in ("transaction", "appTransaction")):
        return True
    return kind in ("appTransaction", "realtimeRequest") and names.environment == production and names.app is None


def told(kind: str, payload: dict, requested: dict, *, nested: bool) -> tuple[tuple, dict]:
    """Our rules for the app and the environment: the reason if they are refused, and what is expected of the JWS inside a notification."""
    names = named(kind, payload)
    # A part of a notification that has nearly no members is left out.
    if has_foreign_members(kind, payload) or (is_another_kind(kind, payload) and not nested):
        return ("malformed",), {}
    bundle = names.bundle or requested.get("bundleId")
    id = names.app if names.app is not None else requested.get("appAppleId")
    bundle, configured = next(((name, app) for name, app in APPS.items() if (name == bundle if bundle else id and app.get("appAppleId") == id)),
                              (bundle, None))
    meant = configured
    if configured and requested.get("environment", configured["environments"][0]) not in configured["environments"]:
        meant = None
    ours = (meant or {}).get("appAppleId")
    environment = names.environment or requested.get("environment")
    production = (requested.get("environment") or names.environment) == "Production"
    expected = {"bundleId": bundle, "appAppleId": id if id is not None else ours, "environment": environment}
    expected = without_none(expected)
    if names.several_apps:
        return ("wrong_app",), expected
    if kind == "realtimeRequest" and production and names.app is None and not names.bundle:
        return ("app_not_named",), expected
    if kind not in ("renewalInfo", "realtimeRequest") and not names.bundle and not names.app:
        if not nested:
            return ("app_not_named",), expected
    elif names.bundle or (kind != "renewalInfo" and not (kind == "realtimeRequest" and not production)):
        if names.bundle and (requested["bundleId"] != names.bundle if "bundleId" in requested else not meant):
            return ("wrong_app",), expected
        app = names.app if names.app is not None else ours
        compared = not names.bundle or (production and kind not in ("transaction", "renewalInfo"))
        if compared and app is not None and app != (requested.get("appAppleId") or ours):
            return ("wrong_app",), expected
    if names.several_environments or environment not in ("Production", "Sandbox"):
        return ("wrong_environment",), expected
    allowed = [requested["environment"]] if "environment" in requested else configured["environments"] if configured else [environment]
    return (() if environment in allowed else ("wrong_environment",)), expected
