"""Signed data of the App Store, and what is done to it."""

import base64
import dataclasses
import json
import random
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from . import jws
from .app_store import (
    APPS,
    DATES,
    JWT_CLAIMS,
    KINDS,
    LIMIT,
    NESTED,
    NOTIFICATION_LIMIT,
    OBJECTS,
    PAYLOADS,
    identity,
    judge,
    signed_token,
    transaction,
    when,
    without_none,
)
from .certificates import MIDDLE, OTHER_ROOT, Chain, chains, day, milliseconds
from .judgement import Case


@dataclasses.dataclass
class Subject:
    """What a case is made of; mutations change it in place and may answer a finished token."""

    kind: str
    payload: dict
    chain: Chain
    header: dict
    asked: dict
    names: tuple
    key: object = None

    def maker(self) -> jws.Maker:
        others = [chain.key for name, chain in chains().items() if name in ("second-intermediate", "short-leaf", "other-root")]
        return jws.Maker(self.header, self.payload, self.key or self.chain.key, [key for key in others if key is not self.chain.key])

    def use(self, chain: Chain) -> None:
        self.chain, self.header["x5c"] = chain, list(chain.x5c)

    def date(self, milliseconds) -> None:
        self.payload[DATES[self.kind]] = milliseconds

    def token(self) -> str:
        key = self.key or self.chain.key
        if isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size == 256:
            return self.maker().made()
        # Another kind of key: signed as ES256 would be with it, if it were possible.
        parts = self.maker().parts()
        message = ".".join(parts).encode()
        if isinstance(key, ec.EllipticCurvePrivateKey):
            r, s = jws.signed(key, message)
            width = key.key_size // 8
            data = r.to_bytes(width, "big") + s.to_bytes(width, "big")
        else:
            data = key.sign(message, jws.padding.PKCS1v15(), hashes.SHA256())
        return ".".join((*parts, jws.base64url(data)))


def plain(_dice, subject):
    return "plain", subject.token(), True


def form(dice, subject):
    return dice.choice(jws.FORMS)(dice, subject.maker())


def chain(dice, subject):
    other = dice.choice(list(chains().values()))
    subject.use(other)
    return f"chain-{other.name}", subject.token(), other.good


def chain_at_an_edge(dice, subject):
    other = dice.choice([one for one in chains().values() if one.edges])
    subject.use(other)
    moment = dice.choice(other.edges) * 1000 + dice.choice([0, 1, -1, 999, 1000, -1000, -999, -1001, 86_400_000, -86_400_000, 3_600_000,
                                                            -3_600_000])
    subject.date(moment)
    return f"edge-{other.name}", subject.token(), None


def list_of_certificates(dice, subject):
    leaf, intermediate, root = subject.header["x5c"]
    name, value = dice.choice([
        ("empty", []), ("leaf", [leaf]), ("two", [leaf, intermediate]), ("four", [leaf, intermediate, root, root]),
        ("four-leaf", [leaf, leaf, intermediate, root]), ("four-empty", [leaf, intermediate, root, ""]),
        ("five", [leaf, intermediate, root] + [root] * 2),
        ("root-first", [root, intermediate, leaf]), ("intermediate-first", [intermediate, leaf, root]),
        ("root-second", [leaf, root, intermediate]),
        ("leaf-twice", [leaf, leaf, root]), ("intermediate-twice", [leaf, intermediate, intermediate]),
        ("leaf-last", [leaf, intermediate, leaf]),
        ("text", leaf), ("joined", f"{leaf},{intermediate},{root}"), ("object", {"0": leaf, "1": intermediate, "2": root}),
        ("null", None), ("number", 3),
        ("nested", [[leaf, intermediate, root]]), ("nested-one", [[leaf], intermediate, root]), ("null-inside", [leaf, None, root]),
        ("number-inside", [leaf, 5, root]), ("other-root-last", [leaf, intermediate, OTHER_ROOT.text]),
        ("null-last", [leaf, intermediate, None]),
        ("many", [leaf] * 60), ("absent", "absent")])
    if value == "absent":
        del subject.header["x5c"]
    else:
        subject.header["x5c"] = value
    return f"x5c-{name}", subject.token(), {"intermediate-twice": None, "leaf-last": None, "other-root-last": None}.get(name, False)


def spelt_certificate(dice, subject):
    """One entry's Base64 or DER spelt otherwise."""
    at = dice.randrange(3)
    good = subject.header["x5c"][at]
    data = base64.b64decode(good)
    pem = x509.load_der_x509_certificate(data).public_bytes(Encoding.PEM).decode()
    name, value = dice.choice([
        ("url-alphabet", good.replace("+", "-").replace("/", "_")), ("unpadded", good.rstrip("=")), ("newline", good + "\n"),
        ("space", good[:20] + " " + good[20:]), ("lines", "\n".join(good[i:i + 64] for i in range(0, len(good), 64))), ("pem", pem),
        ("empty", ""),
        ("garbage", "AAAA"), ("words", "not a certificate"), ("hex", data.hex()), ("padded-more", good + "===="),
        ("trailing-byte", base64.b64encode(data + b"\0").decode()), ("twice", base64.b64encode(data + data).decode()),
        ("truncated", base64.b64encode(data[:-1]).decode()), ("truncated-much",
                                                              base64.b64encode(data[:dice.randrange(1, len(data))]).decode()),
        ("head-lost", base64.b64encode(data[1:]).decode()), ("pem-inside", base64.b64encode(pem.encode()).decode()),
        ("left-over", left_over(good)), ("key-only", base64.b64encode(x509.load_der_x509_certificate(data).public_key().public_bytes(
            Encoding.DER, jws.PublicFormat.SubjectPublicKeyInfo)).decode()),
        ("nul", good + "\0"), ("not-ascii", "\uff2d" + good[1:]), ("nested-base64", base64.b64encode(good.encode()).decode())])
    subject.header["x5c"][at] = value
    return f"x5c-{at}-{name}", subject.token(), True if value == good else None if at == 2 else False


def left_over(text: str) -> str:
    bare = text.rstrip("=")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return text if bare == text else bare[:-1] + alphabet[alphabet.index(bare[-1]) + 1] + text[len(bare):]


def certificate_bits(dice, subject):
    at = dice.randrange(2)
    data = bytearray(base64.b64decode(subject.header["x5c"][at]))
    for _ in range(dice.choice([1, 1, 1, 2, 5])):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    subject.header["x5c"][at] = base64.b64encode(bytes(data)).decode()
    return f"certificate-{at}-bits", subject.token(), None


def certificate_bytes(dice, subject):
    at = dice.randrange(2)
    data = bytearray(base64.b64decode(subject.header["x5c"][at]))
    start = dice.randrange(len(data))
    data[start:start + dice.randint(0, 4)] = dice.randbytes(dice.randint(0, 4))
    subject.header["x5c"][at] = base64.b64encode(bytes(data)).decode()
    return f"certificate-{at}-bytes", subject.token(), None


def claim_changed(dice, subject):
    def change(payload):
        name = dice.choice(list(payload))
        value = payload[name]
        payload[name] = value + 1 if isinstance(value, int) else value + "x" if isinstance(value, str) else "x"
        return name
    return jws.changed_after(dice, subject.maker(), change)


def field_dropped(dice, subject):
    """Genuinely signed, with one field less."""
    of = dice.choice([subject.payload, held(subject)])
    name = dice.choice(list(of))
    del of[name]
    return f"without-{name}", subject.token(), None


def field_of_another_kind(dice, subject):
    """Genuinely signed, with one field of a kind that Apple does not write there."""
    of = dice.choice([subject.payload, held(subject)])
    name = dice.choice(list(of))
    of[name] = dice.choice([None, 5, "x", "", [], {}, True, 1.5, ["x"], {"a": 1}])
    return f"other-kind-{name}", subject.token(), None


def held(subject) -> dict:
    """Where the identity stands."""
    if subject.kind == "notification":
        return next(subject.payload[name] for name in OBJECTS if name in subject.payload)
    return subject.payload


BUNDLES = ("com.other.app", "com.example.App", "COM.EXAMPLE.APP", "com.example.app ", "com.example.app\u0000", "com.example.\u212aiosk",
           "com.example.kiosk",
           "com.example.Kiosk", "com.example.sandboxed", "com.example.app\u0301", "com.example.*", "", None, 5, True, [], {},
           ["com.example.app"], "absent")


def bundle_changed(dice, subject):
    """Genuinely signed, but for another app."""
    value = dice.choice(BUNDLES)
    if value == "absent":
        held(subject).pop("bundleId", None)
    else:
        held(subject)["bundleId"] = value
    return f"bundle-{value!r}", subject.token(), None


def app_changed(dice, subject):
    value = dice.choice([525463029, 525463030, 9876543210, 0, -1, 2 ** 63, None, "525463029", 525463029.0, 525463029.5, True, [], {},
                         "absent"])
    if value == "absent":
        held(subject).pop("appAppleId", None)
    else:
        held(subject)["appAppleId"] = value
    return f"app-{value!r}", subject.token(), None


def environment_changed(dice, subject):
    field = "receiptType" if subject.kind == "appTransaction" else "environment"
    value = dice.choice(["Production", "Sandbox", "Xcode", "LocalTesting", "production", "SANDBOX", "Prod", "", "Sandbox ",
                         "Sandbox\u0301", None, 5, True, [],
                         {}, ["Sandbox"], "absent"])
    if value == "absent":
        held(subject).pop(field, None)
    else:
        held(subject)[field] = value
    return f"environment-{value!r}", subject.token(), None


def asked_otherwise(dice, subject):
    """The caller expects another app or environment than the data has."""
    name = dice.choice(["bundleId", "appAppleId", "environment"])
    subject.asked[name] = {"bundleId": dice.choice(["com.example.app", "com.example.Kiosk", "com.other.app", "com.example.sandboxed",
                                                    "com.example.\u212aiosk"]),
                           "appAppleId": dice.choice([525463029, 9876543210, 1]),
                           "environment": dice.choice(["Production", "Sandbox"])}[name]
    return f"asked-{name}", subject.token(), None


def not_configured(dice, subject):
    """An app, or an environment of an app, that only the caller knows."""
    bundle, app, environment = dice.choice([("com.other.app", 77, "Production"), ("com.other.app", 77, "Sandbox"),
                                            ("com.example.sandboxed", 77, "Production"), ("com.example.app", 77, "Production")])
    subject.payload = PAYLOADS[subject.kind](dice, bundle, app, environment)
    subject.asked = {name: value for name, value in (("bundleId", bundle), ("appAppleId", app), ("environment", environment))
                     if dice.random() < 0.7}
    return "not-configured", subject.token(), None


def dates(dice, subject):
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


def jwt_claims(dice, subject):
    """Claims that a reader of JWTs would act on."""
    for name in dice.sample(JWT_CLAIMS, dice.randint(1, 2)):
        subject.payload[name] = dice.choice([1, 0, 2 ** 40, "x", None, [], ["a"], {}, -1, 1.5])
    return "jwt-claims", subject.token(), True


def odd_payload(dice, subject):
    """Fields that Apple may add, or write otherwise some day."""
    for _ in range(dice.randint(1, 3)):
        subject.payload[dice.choice(["newField", "price2", "\u212a", "K", "x5c", "alg", "payload", "valid", "\u00e9", "e\u0301",
                                     ""])] = dice.choice(
            [1, -1.5, 2 ** 53 + 1, 2 ** 63 - 1, "\u2063", "\U0001f600", "\u0000", None, [], {}, {"a": [{}]}, [[[[]]]]])
    return "odd-payload", subject.token(), True


def header_extra(dice, subject):
    for name, value in dice.sample([("kid", "x"), ("kid", ""), ("typ", "JWT"), ("typ", 5), ("jwk", {"kty": "EC"}),
                                    ("jku", "https://example.com"), ("x5u", "https://example.com"),
                                    ("x5t", "x"), ("X5C", []), ("cty", "x"), ("zip", "DEF"), ("Alg", "none"), ("b64", True)],
                                   dice.randint(1, 3)):
        subject.header[name] = value
    return "header-extra", subject.token(), True


def header_odd(dice, subject):
    name, value = dice.choice([("kid", 5), ("kid", None), ("kid", []), ("b64", False), ("b64", None), ("b64", "false")])
    subject.header[name] = value
    return f"header-odd-{name}-{value!r}", subject.token(), None


def objects(dice, subject):
    """A notification with no object, or more than one."""
    if subject.kind != "notification":
        return plain(dice, subject)
    present = next(name for name in OBJECTS if name in subject.payload)
    what = dice.choice(["none", "null", "second", "second-null", "array", "text", "empty", "renamed"])
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
    elif what == "second-null":
        subject.payload[dice.choice(others)] = None
    else:
        subject.payload[dice.choice(others)] = subject.payload.pop(present)
    return f"objects-{what}", subject.token(), {"none": False, "null": False, "array": False, "text": False, "empty": False}.get(what)


def nested(dice, subject):
    """A good notification that carries something that is not."""
    if subject.kind != "notification":
        return plain(dice, subject)
    while not (present := [name for name in NESTED if name in held(subject)]):
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
        value = jws.bit_flipped(dice, jws.Maker({"alg": "ES256", "x5c": chains()["plain"].x5c}, payload, chains()["plain"].key, []))[1]
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
        value = dice.choice(jws.FORMS)(dice, maker)[1]
    else:
        value = {"null": None, "number": 5, "empty": "", "garbage": "a.b.c", "notification": subject.token(), "object": {"jws": good}}[what]
    held(subject)[name] = value
    return f"nested-{what}-{name}", subject.token(), None


def sizes(dice, subject):
    """About the bounds on a token and on a notification."""
    limit = dice.choice([LIMIT, NOTIFICATION_LIMIT])
    target = limit + dice.choice([-2000, -100, -1, 0, 1, 2, 100, 5000])
    subject.payload["filling"] = ""
    for _ in range(4):
        subject.payload["filling"] += "x" * max(0, (target - len(subject.token())) * 3 // 4)
    return f"size-{limit}", subject.token(), None


def other_kind(dice, subject):
    """Asked to be judged as what it is not."""
    actual = subject.kind
    subject.kind = dice.choice([one for one in KINDS if one != actual])
    return f"{actual}-as-{subject.kind}", subject.token(), None


MUTATIONS = {plain: 8, form: 16, chain: 14, chain_at_an_edge: 8, list_of_certificates: 4, spelt_certificate: 5, certificate_bits: 5,
             certificate_bytes: 3,
             claim_changed: 4, field_dropped: 3, field_of_another_kind: 3, bundle_changed: 4, app_changed: 3, environment_changed: 4,
             asked_otherwise: 3, not_configured: 3, dates: 5,
             jwt_claims: 1,
             odd_payload: 3,
             header_extra: 2, header_odd: 1, objects: 2, nested: 8, sizes: 1, other_kind: 2}


def made_case(dice: random.Random, index: int) -> Case:
    mutation = dice.choices(list(MUTATIONS), MUTATIONS.values())[0]
    kind = "notification" if mutation in (nested, objects) and dice.random() < 0.9 else KINDS[index % len(KINDS)]
    names = identity(dice)
    base = chains()[dice.choice(["plain", "plain-two", "second-intermediate", "short-leaf", "short-intermediate", "both-short"])]
    asked = without_none({"bundleId": names[0], "appAppleId": names[1], "environment": names[2]})
    match dice.randrange(4):
        case 0:
            asked = {}
        case 1:
            asked = {name: value for name, value in asked.items() if dice.random() < 0.5}
    subject = Subject(kind, PAYLOADS[kind](dice, *names), base, {"alg": "ES256", "x5c": list(base.x5c)}, asked, names)
    name, token, expected = mutation(dice, subject)
    item = {"signedData": token, "kind": subject.kind, **subject.asked}
    return Case("appstore", index, f"{name}-{kind}", json.dumps({"appStoreSignedData": item}), judge(token, subject.kind, subject.asked),
                expected)


def edge_cases() -> list[Case]:
    """Every chain in the middle of its time, and about each moment where something begins or ends, before the path can have been
    remembered and after: what is remembered decides nothing."""
    dice = random.Random(0)
    moments = []
    for chain in chains().values():
        # From the last to the first: nothing is remembered before a moment inside.
        edges = [edge * 1000 + offset for edge in reversed(chain.edges) for offset in (1000, 999, 1, 0, -1, -1000)]
        moments += [(chain, moment) for moment in (*edges, milliseconds(MIDDLE), *edges)]
    made = []
    for index, (chain, moment) in enumerate(moments):
        payload = transaction(dice, "com.example.app", 525463029, "Sandbox") | {"signedDate": moment}
        token = Subject("transaction", payload, chain, {"alg": "ES256", "x5c": list(chain.x5c)}, {}, ()).token()
        item = json.dumps({"appStoreSignedData": {"signedData": token, "kind": "transaction"}})
        made.append(Case("chains", index, f"{chain.name}-at-{moment}", item, judge(token, "transaction", {}),
                         chain.good if moment == milliseconds(MIDDLE) else None))
    return made
