"""AdAttributionKit postbacks, and the changes that make them invalid."""

import random

from SystemTests.differential.skadnetwork.fields import WRONG_KINDS, another_value, not_json
from SystemTests.differential.skadnetwork.postbacks import anycase_uuid, pick, written

from . import jws, jws_mutations
from .expected_verdict import Case
from .postbacks import INT64, KID_KEYS, KIDS, LOOKALIKES, P256, P256_OTHER, SAME_LOOK, SEPARATOR, expect_ad_attribution_kit, item


def good_claims(dice: random.Random) -> dict:
    claims = {"postback-identifier": anycase_uuid(dice), "ad-network-identifier": dice.choice(["example123.adattributionkit",
                                                                                               "example123.skadnetwork"]),
              "advertised-item-identifier": pick(dice, 0, INT64), "impression-type": "app-impression",
              "source-identifier": "".join(dice.choice("0123456789") for _ in range(dice.randint(2, 4))),
              "conversion-type": dice.choice(["download", "redownload", "re-engagement"]), "did-win": dice.random() < 0.7,
              "postback-sequence-index": dice.randint(0, 2)}
    if dice.random() < 0.5:
        claims["publisher-item-identifier"] = pick(dice, 0, INT64)
    if dice.random() < 0.5:
        claims["marketplace-identifier"] = dice.choice(["com.apple.AppStore", "com.example.market"])
    if dice.random() < 0.1:
        claims["new-claim"] = dice.choice([1, "x", None, [1], {"a": {}}])
    return claims


def maker(dice: random.Random) -> jws.Maker:
    kid = dice.choice(KIDS)
    header = {"alg": "ES256", "kid": kid}
    if dice.random() < 0.3:
        header = {"kid": kid, "alg": "ES256"}
    return jws.Maker(header, good_claims(dice), KID_KEYS[kid], [P256, P256_OTHER, *(key for name, key in KID_KEYS.items() if name != kid)])


def outer(dice: random.Random) -> dict:
    body = {}
    if dice.random() < 0.8:
        body["ad-interaction-type"] = dice.choice(["click", "view"])
    match dice.randrange(4):
        case 0:
            body["conversion-value"] = pick(dice, 0, 63)
        case 1:
            body["coarse-conversion-value"] = dice.choice(["low", "medium", "high"])
    if dice.random() < 0.3:
        body["country-code"] = dice.choice(["US", "de"])
    return body


def aak_plain(_dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    return "plain", made.made(), True


KID_TRICKS = ("../apple-cas-identifier/0", "./apple-cas-identifier/0", "apple-cas-identifier/0/../0", "apple-cas-identifier//0",
              "apple-cas-identifier/00", "apple-cas-identifier/0\u0000", "apple-cas-identifier/0\u0000/1", "apple-cas-identifier/0 ",
              " apple-cas-identifier/0", "apple-cas-identifier/0\n", "Apple-CAS-Identifier/0", "apple-cas-identifier\\/0",
              "apple-cas-identifier%2F0", "apple-cas-identifier/0#", "apple-cas-identifier/0?x", "apple-cas-identifier",
              "apple-cas-identifier/",
              "apple-cas-identifier/1", "apple-development-identifier/2", "file:///etc/passwd", "http://127.0.0.1/key", "' OR 1=1 --", "*",
              "",
              "apple-cas-identifier/\u0660", "apple-cas-identifier/\uff10", "apple\u2010cas\u2010identifier/0",
              "apple-cas-identifier\u22150",
              "apple-cas-identifier/0\u200b", "apple-cas-identifier/0\u0301", "\ufeffapple-cas-identifier/0", "a" * 10000, None, 0, True,
              [], {},
              ["apple-cas-identifier/0"], {"kid": "apple-cas-identifier/0"}, "absent")


def misleading_kid(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    kid = dice.choice(KID_TRICKS)
    if kid == "absent":
        del made.header["kid"]
    else:
        made.header["kid"] = kid
    made.key = KID_KEYS[dice.choice(KIDS)]
    return f"kid-{str(kid)[:40]!r}", made.made(), False


def kid_of_another(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    made.header["kid"] = dice.choice([kid for kid in KIDS if kid != made.header["kid"]])
    return "kid-of-another", made.made(), False


def header_extra(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    """Keys in the token, or names of keys: they are ignored."""
    good = dice.random() < 0.5
    if not good:
        made.key = dice.choice(made.other_keys)
    numbers = made.key.public_key().public_numbers()
    coordinates = {name: jws.base64url(value.to_bytes(32, "big")) for name, value in (("x", numbers.x), ("y", numbers.y))}
    for name, value in dice.sample([("jwk", {"kty": "EC", "crv": "P-256", **coordinates}), ("jku", "https://example.com/keys"),
                                    ("typ", "JWT"),
                                    ("x5u", "https://example.com/cert"), ("cty", "json"), ("x5c", []), ("x5t", "x"), ("b64", True),
                                    ("zip", "DEF"),
                                    ("enc", "A256GCM"), ("Alg", "none"), ("ALG", "none"), ("Kid", "x"), ("epk", {})], dice.randint(1, 3)):
        made.header[name] = value
    return "header-extra", made.made(), good


def claim_changed(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    def change(claims: dict) -> str:
        name = dice.choice(list(claims))
        if isinstance(claims[name], (list, dict, type(None))):
            del claims[name]
        else:
            claims[name] = another_value(dice, "" if name == "new-claim" else name, claims[name])
        return name
    return jws_mutations.changed_after(dice, made, change)


def claim_dropped_signed(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    name = dice.choice(list(made.payload))
    del made.payload[name]
    return f"without-{name}", made.made(), name in ("publisher-item-identifier", "marketplace-identifier", "new-claim")


def claim_wrong_kind(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    name = dice.choice([name for name in made.payload if name != "new-claim"])
    made.payload[name] = dice.choice((*WRONG_KINDS, None))
    return f"claim-{name}-{made.payload[name]!r}", made.made(), None


def claim_lookalike(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    name = dice.choice(["postback-identifier", "ad-network-identifier", "marketplace-identifier", "impression-type", "conversion-type"])
    made.payload[name] = made.payload.get(name, "com.example") + dice.choice([SEPARATOR, *LOOKALIKES, *(s for p in SAME_LOOK for s in p)])
    return f"claim-lookalike-{name}", made.made(), None


def claims_outside(dice: random.Random, made: jws.Maker, body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    """Puts claims into the body and unsigned values into the JWS, where they are not read."""
    body.update({name: another_value(dice, name, value) for name, value in good_claims(dice).items()
                 if isinstance(value, (str, int)) and name != "new-claim"})
    made.payload |= {"conversion-value": dice.choice([5, 64, "x"]), "coarse-conversion-value": "LOW", "ad-interaction-type": 5,
                     "country-code": []}
    return "claims-outside", made.made(), True


def outer_changed(dice: random.Random, made: jws.Maker, body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    name = dice.choice(["ad-interaction-type", "conversion-value", "coarse-conversion-value", "country-code", "other"])
    body[name] = dice.choice((*WRONG_KINDS, None, 0, 63, "low", "click"))
    return f"outer-{name}-{body[name]!r}", made.made(), None


def jws_string_kind(dice: random.Random, made: jws.Maker, body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    """Puts the token into a value of another type, or another value in its place."""
    token = made.made()
    body["jws-string"] = dice.choice([None, 5, [token], {"jws": token}, token.split("."), True, 1.5])
    return "jws-string-kind", None, False


def body_twice(dice: random.Random, made: jws.Maker, body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    body["jws-string"] = made.made()
    return "body-twice", ("raw", jws.with_name_twice(dice, body, ["jws-string"])), False


def body_not_json(dice: random.Random, made: jws.Maker, body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    body["jws-string"] = made.made()
    name, text, expected = not_json(dice, body)
    return f"body-{name}", ("raw", text), expected


def jws_mutation(dice: random.Random, made: jws.Maker, _body: dict) -> tuple[str, str | tuple[str, str] | None, bool | None]:
    return dice.choice(jws_mutations.MUTATIONS)(dice, made)


AAK = {aak_plain: 8, jws_mutation: 24, misleading_kid: 3, kid_of_another: 2, header_extra: 2, claim_changed: 4, claim_dropped_signed: 2,
       claim_wrong_kind: 3,
       claim_lookalike: 1, claims_outside: 1, outer_changed: 2, jws_string_kind: 1, body_twice: 1, body_not_json: 1}


def ad_attribution_kit_case(dice: random.Random, index: int) -> Case:
    mutation = dice.choices(list(AAK), AAK.values())[0]
    body = outer(dice)
    name, token, expected = mutation(dice, maker(dice), body)
    if isinstance(token, tuple):
        text = token[1]
    else:
        if token is not None:
            body["jws-string"] = token
        text = written(dice, body)
    return Case("adattributionkit", index, name, item(dice, "adAttributionKitPostback", text), expect_ad_attribution_kit(text), expected)
