"""Changes to the payloads of signed data of the App Store, and to the requests that verify them."""

import dataclasses
import json
import random
import time

from cryptography.hazmat.primitives.asymmetric import ec

from SystemTests.differential import jws, jws_mutations
from SystemTests.differential.certificates import MIDDLE, chains, day, milliseconds
from SystemTests.differential.expected_verdict import Changed

from .chains import plain
from .reference_verifier import JWT_CLAIMS, LIMIT
from .signed_data import APPS, DATES, KINDS, NESTED, OBJECTS, PAYLOADS, signed_token, when
from .subject import Subject


def claim_changed(dice: random.Random, subject: Subject) -> Changed:
    def change(payload: dict) -> str:
        name = dice.choice(list(payload))
        value = payload[name]
        payload[name] = value + 1 if isinstance(value, int) else value + "x" if isinstance(value, str) else "x"
        return name
    return jws_mutations.changed_after(dice, subject.maker(), change)


def field_dropped(dice: random.Random, subject: Subject) -> Changed:
    """Genuinely signed, without one field."""
    of = dice.choice([subject.payload, app_object(subject)])
    name = dice.choice(list(of))
    del of[name]
    return f"without-{name}", subject.token(), None


def field_of_another_kind(dice: random.Random, subject: Subject) -> Changed:
    """Genuinely signed, with one field of a wrong type."""
    of = dice.choice([subject.payload, app_object(subject)])
    name = dice.choice(list(of))
    of[name] = dice.choice([None, 5, "x", "", [], {}, True, 1.5, ["x"], {"a": 1}])
    return f"other-kind-{name}", subject.token(), None


def app_object(subject: Subject) -> dict:
    """The object with the identity of the app."""
    if subject.kind == "notification":
        return next(subject.payload[name] for name in OBJECTS if name in subject.payload)
    return subject.payload


BUNDLES = ("com.other.app", "com.example.App", "COM.EXAMPLE.APP", "com.example.app ", "com.example.app\u0000", "com.example.\u212aiosk",
           "com.example.kiosk",
           "com.example.Kiosk", "com.example.sandboxed", "com.example.app\u0301", "com.example.*", "", None, 5, True, [], {},
           ["com.example.app"], "absent")


def bundle_changed(dice: random.Random, subject: Subject) -> Changed:
    """Genuinely signed, but for another app."""
    value = dice.choice(BUNDLES)
    if value == "absent":
        app_object(subject).pop("bundleId", None)
    else:
        app_object(subject)["bundleId"] = value
    return f"bundle-{value!r}", subject.token(), None


def app_changed(dice: random.Random, subject: Subject) -> Changed:
    value = dice.choice([525463029, 525463030, 9876543210, 0, -1, 2 ** 63, None, "525463029", 525463029.0, 525463029.5, True, [], {},
                         "absent"])
    if value == "absent":
        app_object(subject).pop("appAppleId", None)
    else:
        app_object(subject)["appAppleId"] = value
    return f"app-{value!r}", subject.token(), None


def environment_changed(dice: random.Random, subject: Subject) -> Changed:
    field = "receiptType" if subject.kind == "appTransaction" else "environment"
    value = dice.choice(["Production", "Sandbox", "Xcode", "LocalTesting", "production", "SANDBOX", "Prod", "", "Sandbox ",
                         "Sandbox\u0301", None, 5, True, [],
                         {}, ["Sandbox"], "absent"])
    if value == "absent":
        app_object(subject).pop(field, None)
    else:
        app_object(subject)[field] = value
    return f"environment-{value!r}", subject.token(), None


def requested_differently(dice: random.Random, subject: Subject) -> Changed:
    """The caller expects another app or environment than the data has."""
    name = dice.choice(["bundleId", "appAppleId", "environment"])
    subject.requested[name] = {"bundleId": dice.choice(["com.example.app", "com.example.Kiosk", "com.other.app", "com.example.sandboxed",
                                                        "com.example.\u212aiosk"]),
                               "appAppleId": dice.choice([525463029, 9876543210, 1]),
                               "environment": dice.choice(["Production", "Sandbox"])}[name]
    return f"requested-{name}", subject.token(), None


def not_configured(dice: random.Random, subject: Subject) -> Changed:
    """An app, or an environment of an app, that only the request names."""
    bundle, app, environment = dice.choice([("com.other.app", 77, "Production"), ("com.other.app", 77, "Sandbox"),
                                            ("com.example.sandboxed", 77, "Production"), ("com.example.app", 77, "Production")])
    subject.payload = PAYLOADS[subject.kind](dice, bundle, app, environment)
    subject.requested = {name: value for name, value in (("bundleId", bundle), ("appAppleId", app), ("environment", environment))
                     if dice.random() < 0.7}
    return "not-configured", subject.token(), None


def dates(dice: random.Random, subject: Subject) -> Changed:
    now = int(time.time() * 1000)
    value = dice.choice([now, now - 1000, now + 60_000, now + 200_000, now + 900_000, now + 86_400_000, 0, 1, -1, -10 ** 12, 10 ** 18,
                         2 ** 63 - 1, 2 ** 63,
                         2 ** 64, -2 ** 63, None, True, "", "x", str(when(dice)), float(when(dice)), when(dice) + 0.5, [], {}, "absent",
                         when(dice) // 1000])
    if value == "absent":
        del subject.payload[DATES[subject.kind]]
    else:
        subject.date(value)
    if dice.random() < 0.2:
        other = {"signedDate": "receiptCreationDate", "receiptCreationDate": "signedDate"}[DATES[subject.kind]]
        subject.payload[other] = dice.choice([milliseconds(MIDDLE), milliseconds(day("2012-01-01")), None])
    if dice.random() < 0.3:
        subject.use(chains()[dice.choice(["short-leaf", "both-short"])])
    return f"date-{type(value).__name__}", subject.token(), None


def jwt_claims(dice: random.Random, subject: Subject) -> Changed:
    """Claims that a JWT library would evaluate."""
    for name in dice.sample(JWT_CLAIMS, dice.randint(1, 2)):
        subject.payload[name] = dice.choice([1, 0, 2 ** 40, "x", None, [], ["a"], {}, -1, 1.5])
    return "jwt-claims", subject.token(), True


def odd_payload(dice: random.Random, subject: Subject) -> Changed:
    """Fields that Apple may add, or may write differently in future."""
    for _ in range(dice.randint(1, 3)):
        subject.payload[dice.choice(["newField", "price2", "\u212a", "K", "x5c", "alg", "payload", "valid", "\u00e9", "e\u0301",
                                     ""])] = dice.choice(
            [1, -1.5, 2 ** 53 + 1, 2 ** 63 - 1, "\u2063", "\U0001f600", "\u0000", None, [], {}, {"a": [{}]}, [[[[]]]]])
    return "odd-payload", subject.token(), True


def header_extra(dice: random.Random, subject: Subject) -> Changed:
    for name, value in dice.sample([("kid", "x"), ("kid", ""), ("typ", "JWT"), ("typ", 5), ("jwk", {"kty": "EC"}),
                                    ("jku", "https://example.com"), ("x5u", "https://example.com"),
                                    ("x5t", "x"), ("X5C", []), ("cty", "x"), ("zip", "DEF"), ("Alg", "none"), ("b64", True)],
                                   dice.randint(1, 3)):
        subject.header[name] = value
    return "header-extra", subject.token(), True


def header_odd(dice: random.Random, subject: Subject) -> Changed:
    name, value = dice.choice([("kid", 5), ("kid", None), ("kid", []), ("b64", False), ("b64", None), ("b64", "false")])
    subject.header[name] = value
    return f"header-odd-{name}-{value!r}", subject.token(), None


def objects(dice: random.Random, subject: Subject) -> Changed:
    """A notification with no object, or with more than one."""
    if subject.kind != "notification":
        return plain(dice, subject)
    present = next(name for name in OBJECTS if name in subject.payload)
    what = dice.choice(["none", "null", "second", "second-null", "array", "text", "empty", "renamed", "new", "new-beside", "payload"])
    others = [name for name in OBJECTS if name != present]
    if what == "none":
        del subject.payload[present]
    elif what in ("null", "array", "text", "empty"):
        subject.payload[present] = {"null": None, "array": [subject.payload[present]], "text": json.dumps(subject.payload[present]),
                                    "empty": {}}[what]
    elif what == "second":
        subject.payload[dice.choice(others)] = dice.choice([{"bundleId": subject.names[0], "environment": subject.names[2],
                                                             "appAppleId": subject.names[1]},
                                                            {"bundleId": "com.other.app"}, {}])
    elif what == "new":
        subject.payload["unclaimInfo"] = subject.payload.pop(present)
    elif what == "new-beside":
        subject.payload["unclaimInfo"] = dice.choice([{}, {"bundleId": "com.other.app", "environment": "Sandbox"}, {"unclaimSeatIds": []}])
    elif what == "payload":
        subject.payload.update({name: subject.payload[present].pop(name, None) for name in ("bundleId", "appAppleId", "environment")})
    elif what == "second-null":
        subject.payload[dice.choice(others)] = None
    else:
        subject.payload[dice.choice(others)] = subject.payload.pop(present)
    return f"objects-{what}", subject.token(), None


def nested(dice: random.Random, subject: Subject) -> Changed:
    """A valid notification with invalid content."""
    if subject.kind != "notification":
        return plain(dice, subject)
    while not (present := [name for name in NESTED if name in app_object(subject)]):
        subject.payload = PAYLOADS["notification"](dice, *subject.names)
    name = dice.choice(present)
    kind = NESTED[name]
    what = dice.choice(["tampered", "other-chain", "other-app", "other-number", "other-environment", "other-kind", "wrong-key", "null",
                        "number",
                        "empty", "garbage", "future", "form", "notification", "object", "field-dropped", "odd-date"])
    bundle, app, environment = subject.names
    payload = PAYLOADS[kind](dice, bundle, app, environment)
    good = signed_token(payload, chains()["plain"])
    if what == "tampered":
        value = jws_mutations.bit_flipped(dice, jws.Maker({"alg": "ES256", "x5c": chains()["plain"].x5c}, payload, chains()["plain"].key, []))[1]
    elif what == "other-chain":
        used = dice.choice([one for one in chains().values() if isinstance(one.key,
                                                                           ec.EllipticCurvePrivateKey) and one.key.key_size == 256])
        value = signed_token(payload, used)
    elif what == "other-app":
        other = dice.choice([one for one in APPS if one != bundle] + ["com.other.app"])
        value = signed_token(PAYLOADS[kind](dice, other, 1, environment), chains()["plain"])
    elif what == "other-environment":
        value = signed_token(PAYLOADS[kind](dice, bundle, app, "Sandbox" if environment == "Production" else "Production"),
                             chains()["plain"])
    elif what == "other-kind":
        other = dice.choice([one for one in KINDS if one != kind])
        value = signed_token(PAYLOADS[other](dice, bundle, app, environment), chains()["plain"])
    elif what == "wrong-key":
        value = signed_token(payload, dataclasses.replace(chains()["plain"], key=chains()["plain-two"].key))
    elif what == "future":
        payload[DATES[kind]] = int(time.time() * 1000) + 10 ** 9
        value = signed_token(payload, chains()["plain"])
    elif what == "other-number":
        payload["appAppleId"] = dice.choice([1, None, str(app), 9876543211])
        value = signed_token(payload, chains()["plain"])
    elif what == "field-dropped":
        del payload[dice.choice(list(payload))]
        value = signed_token(payload, chains()["plain"])
    elif what == "odd-date":
        payload[DATES[kind]] = dice.choice([None, "x", 1.5, True, 0, milliseconds(day("2010-01-01"))])
        value = signed_token(payload, chains()["plain"])
    elif what == "form":
        maker = jws.Maker({"alg": "ES256", "x5c": chains()["plain"].x5c}, payload, chains()["plain"].key, [chains()["plain-two"].key])
        value = dice.choice(jws_mutations.MUTATIONS)(dice, maker)[1]
    else:
        value = {"null": None, "number": 5, "empty": "", "garbage": "a.b.c", "notification": subject.token(), "object": {"jws": good}}[what]
    app_object(subject)[name] = value
    return f"nested-{what}-{name}", subject.token(), None


def sizes(dice: random.Random, subject: Subject) -> Changed:
    """Near the limit."""
    target = LIMIT + dice.choice([-2000, -100, -1, 0, 1, 2, 100, 5000])
    subject.payload["filling"] = ""
    for _ in range(4):
        subject.payload["filling"] += "x" * max(0, (target - len(subject.token())) * 3 // 4)
    return "size", subject.token(), None


def other_kind(dice: random.Random, subject: Subject) -> Changed:
    """Verified as another kind of data than it is."""
    actual = subject.kind
    subject.kind = dice.choice([one for one in KINDS if one != actual])
    return f"{actual}-as-{subject.kind}", subject.token(), None
