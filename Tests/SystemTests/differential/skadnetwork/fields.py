"""Changes to the fields of SKAdNetwork postbacks."""

import json
import random
import re
from typing import Any

from cryptography.hazmat.primitives import hashes

from SystemTests.differential import jws, jws_mutations
from SystemTests.differential.expected_verdict import Changed
from SystemTests.differential.postbacks import (
    INT64,
    LOOKALIKES,
    P256,
    SAME_LOOK,
    SEPARATOR,
    VERSIONS,
)
from SystemTests.differential.signatures import der

from .postbacks import base64_of, signature_of, signed_text, written


def lenient(dice: random.Random, body: dict) -> Changed:
    """Writes the same values as some partners do, for example numbers as strings."""
    for name, value in list(body.items()):
        if isinstance(value, bool):
            body[name] = dice.choice([value, int(value), str(value).lower()])
        elif isinstance(value, int):
            body[name] = dice.choice([value, str(value)])
    # An absent version, and one that is null, mean 1.0.
    for name in ("version", "source-app-id", "conversion-value", "coarse-conversion-value", "country-code", "did-win"):
        if name not in body and dice.random() < 0.2 and not (name == "did-win" and body.get("version") in ("3.0", "4.0")):
            body[name] = None
    return "lenient", written(dice, body), True


def plain(dice: random.Random, body: dict) -> Changed:
    return "plain", written(dice, body), True


def unsigned_added(dice: random.Random, body: dict) -> Changed:
    """Unsigned fields of networks and partners."""
    for _ in range(dice.randint(1, 4)):
        name = dice.choice(["received-at", "campaign-name", "ip", "Version", "APP-ID", "app_id", "appId", "", "attribution-signature ",
                            "\u0000", "signature", "ad-network-id\u200b", *(spelling for pair in SAME_LOOK for spelling in pair)])
        body[name] = dice.choice([1, 2 ** 70, 1.5, True, None, "x", "y", [], [1, {"a": 1}], {"version": "9"}, "\u00e9", 10 ** 30])
    return "unsigned-added", written(dice, body), True


def similar_names(dice: random.Random, body: dict) -> Changed:
    """Two similar names that differ: neither repeats the other."""
    one, other = dice.choice(SAME_LOOK)
    body[one], body[other] = 1, 2
    return "same-look-names", written(dice, body), True


def similar_values(dice: random.Random, body: dict) -> Changed:
    """A value that is signed in one encoding and sent in another."""
    one, other = dice.sample(dice.choice(SAME_LOOK), 2)
    name = dice.choice(["ad-network-id", "transaction-id", *(["source-domain"] if "source-domain" in body else [])])
    body[name] += one
    body["attribution-signature"] = base64_of(der(*signature_of(body)))
    sent = dice.random() < 0.5
    if sent:
        body[name] = body[name].replace(one, other)
    return f"same-look-values-{name}", written(dice, body), not sent


def lookalike(dice: random.Random, body: dict) -> Changed:
    """A character similar to the separator inside a value, signed or inserted afterwards."""
    name = dice.choice([name for name in ("ad-network-id", "transaction-id", "source-domain", "country-code", "source-identifier",
                                          "version", "attribution-signature") if name in body])
    mark = dice.choice(LOOKALIKES)
    at = dice.randint(0, len(body[name]))
    changed = {**body, name: body[name][:at] + mark + body[name][at:]}
    if dice.random() < 0.5 and name not in ("attribution-signature", "version"):
        changed["attribution-signature"] = base64_of(der(*signature_of(changed)))
        return f"lookalike-signed-{name}", written(dice, changed), None
    return f"lookalike-{name}", written(dice, changed), None if not mark or name == "country-code" else False


def separator(dice: random.Random, body: dict) -> Changed:
    """The separator itself in a value: signed as Apple would, or moving a value's boundary."""
    name = dice.choice([name for name in ("ad-network-id", "transaction-id", "source-domain") if name in body])
    if dice.random() < 0.5:
        at = dice.randint(0, len(body[name]))
        body[name] = body[name][:at] + SEPARATOR + body[name][at:]
        body["attribution-signature"] = base64_of(der(*signature_of(body)))
        return f"separator-in-{name}", written(dice, body), False
    # The same signed text, divided differently.
    if body.get("version", "1.0") == "1.0":
        body["ad-network-id"] = f"{body['ad-network-id']}{SEPARATOR}{body['campaign-id']}"
        del body["campaign-id"]
    else:
        body["transaction-id"] = f"{body['transaction-id']}{SEPARATOR}{json.dumps(body['redownload'])}"
        del body["redownload"]
    return "separator-moved", written(dice, body), False


SIGNED = {"ad-network-id", "campaign-id", "source-identifier", "app-id", "transaction-id", "redownload", "source-app-id", "source-domain",
          "fidelity-type", "did-win", "postback-sequence-index", "version"}


def signs(version: str, name: str) -> bool:
    at = VERSIONS.index(version)
    return {"redownload": at >= 1, "source-app-id": at >= 1, "source-domain": at == 5, "fidelity-type": at >= 3, "did-win": at >= 4,
            "postback-sequence-index": at == 5, "campaign-id": at < 5, "source-identifier": at == 5}.get(name, name in SIGNED)


def another_value(dice: random.Random, name: str, value: Any) -> Any:
    """A valid value, but a different one."""
    if isinstance(value, bool):
        return not value
    if name == "version":
        return dice.choice([v for v in VERSIONS if v != value])
    if name == "fidelity-type":
        return 1 - value
    if isinstance(value, int):
        bound = {"campaign-id": (1, 100), "conversion-value": (0, 63), "postback-sequence-index": (0, 2)}.get(name, (1, INT64))
        near = [v for v in (value + 1, value - 1, value ^ 1, value + 2 ** 32, value * 10,
                            int(float(value))) if bound[0] <= v <= bound[1] and v != value]
        return dice.choice(near) if near else (value + 1 if value < bound[1] else value - 1)
    if name == "source-identifier":
        return dice.choice([v for v in (value[1:], "0" + value, value + "0", value[::-1], value[:-1],
                                        f"{(int(value) + 1) % 10 ** len(value):0{len(value)}}")
                            if v != value and 2 <= len(v) <= 4] or ["0123"])
    if name == "coarse-conversion-value":
        return "low" if value != "low" else "high"
    if name == "country-code":
        return "FR"
    if value.upper() != value and dice.random() < 0.3:
        return value.upper()
    if value.lower() != value and dice.random() < 0.3:
        return value.lower()
    at = dice.randrange(len(value))
    return value[:at] + ("1" if value[at] != "1" else "2") + value[at + 1:]


def changed(dice: random.Random, body: dict) -> Changed:
    version = body.get("version", "1.0")
    name = dice.choice([name for name in body if name != "attribution-signature"])
    body[name] = another_value(dice, name, body[name])
    if name == "version" and {version, body[name]} == {"2.0", "2.1"}:
        return "changed-version", written(dice, body), False
    return f"changed-{name}", written(dice, body), not signs(version, name)


def dropped(dice: random.Random, body: dict) -> Changed:
    version = body.get("version", "1.0")
    name = dice.choice(list(body))
    del body[name]
    still = name != "attribution-signature" and (not signs(version, name) or (name == "version" and version == "1.0"))
    return f"dropped-{name}", written(dice, body), still


def added(dice: random.Random, body: dict) -> Changed:
    """A signed field that was added after the signature."""
    version = body.get("version", "1.0")
    missing = [name for name in ("source-app-id", "source-domain", "fidelity-type", "did-win", "postback-sequence-index", "redownload",
                                 "campaign-id", "source-identifier", "version") if name not in body]
    name = dice.choice(missing)
    body[name] = {"source-app-id": dice.choice([0, 5]), "source-domain": "example.com", "fidelity-type": 1, "did-win": True,
                  "postback-sequence-index": 0, "redownload": False, "campaign-id": 5, "source-identifier": "5239",
                  "version": dice.choice(VERSIONS)}[name]
    if name == "version":
        return "added-version", written(dice, body), body[name] == "1.0"
    return f"added-{name}-to-{version}", written(dice, body), not signs(version, name)


WRONG_KINDS = ([], {}, [1], {"a": 1}, "", " ", "x", "NaN", "\u0665", "\uff15", "+5", " 5", "5 ", "5.0", "5e0", "0x5", "1_0", -1, "-1",
               2 ** 63, 2 ** 64, 2 ** 64 + 5, str(2 ** 63), 101, 64, 3, True, False, "True", "FALSE", "yes", "none", "LOW", 10 ** 40)


def wrong_kind(dice: random.Random, body: dict) -> Changed:
    """A field of a wrong type or out of range, often signed in this form."""
    name = dice.choice([name for name in body if name != "attribution-signature"])
    body[name] = dice.choice(WRONG_KINDS)
    if dice.random() < 0.5 and isinstance(body[name], (str, int)) and name != "version":
        body["attribution-signature"] = base64_of(der(*signature_of(body)))
    return f"wrong-kind-{name}-{body[name]!r}", written(dice, body), None


def number_spelling(dice: random.Random, body: dict) -> Changed:
    """A number with a fraction, an exponent, zeros or a sign."""
    names = [name for name, value in body.items() if isinstance(value, int) and not isinstance(value, bool)]
    name = dice.choice(names)
    value = body[name]
    kind, spelt = dice.choice([("fraction", f"{value}.0"), ("exponent", f"{value}e0"), ("capital-exponent", f"{value}E0"),
                               ("scaled", f"{value}0e-1"), ("leading-zero", f"0{value}"), ("plus", f"+{value}"),
                               ("quoted-fraction", f'"{value}.0"'),
                               ("minus", f"-{value}"), ("point", f"{value}."), ("hex", hex(value)), ("quoted-plus", f'"+{value}"'),
                               ("quoted-space", f'" {value}"'), ("huge-exponent", f"{value}e999999999"), ("quoted-zeros", f'"000{value}"'),
                               ("quoted-minus", f'"-{value}"'),
                               ("quoted-exponent", f'"{value}e0"')])
    body[name] = "\u0001"
    text = written(dice, body).replace('"\\u0001"', spelt)
    if not signs(body.get("version", "1.0"), name):
        return f"number-{kind}-{name}", text, None
    # Other spellings of the same integer. Of zero, some of the others are too.
    same = kind in ("fraction", "exponent", "capital-exponent", "scaled", "quoted-fraction", "quoted-exponent", "quoted-zeros")
    return f"number-{kind}-{name}", text, None if value == 0 else same


def repeated(dice: random.Random, body: dict) -> Changed:
    text = jws.with_name_twice(dice, body, [])
    return "repeated", text, False


def not_json(dice: random.Random, body: dict) -> Changed:
    good = json.dumps(body)
    name, text = dice.choice([
        ("empty", ""), ("array", f"[{good}]"), ("string", json.dumps(good)), ("null", "null"), ("number", "5"), ("two", good + good),
        ("behind", good + "x"), ("comma", good[:-1] + ",}"), ("truncated", good[:dice.randrange(len(good))]), ("bom", "\ufeff" + good),
        ("nan", good[:-1] + ',"n":NaN}'), ("control", good[:-1] + ',"n":"\t"}'), ("nul-behind", good + "\0"), ("comment", good + "//x"),
        ("leading-zero", good[:-1] + ',"n":00}'), ("single", good.replace('"', "'")), ("line-separator-space", good + "\u2028"),
        ("no-break-space", "\u00a0" + good)])
    return f"json-{name}", text, False


def surrogates(dice: random.Random, body: dict) -> Changed:
    """Escapes in pairs form a character; half a pair is not valid text."""
    name = dice.choice(["ad-network-id", "transaction-id", "campaign-name"])
    body[name] = body.get(name, "") + dice.choice(["\U0001f600", "\U0010ffff", "\U00010000"])
    body["attribution-signature"] = base64_of(der(*signature_of(body)))
    text = json.dumps(body)
    if dice.random() < 0.5:
        return "surrogate-pair", text, True
    whole = re.search(r"\\u(d[89ab]..)\\u(d[c-f]..)", text)
    return "surrogate-half", text.replace(whole[0], dice.choice(["\\u" + whole[1], "\\u" + whole[2], f"\\u{whole[2]}\\u{whole[1]}"])), False


def bounds(dice: random.Random, body: dict) -> Changed:
    """Near the contract's limits of a body, in an unsigned field."""
    name, text = jws_mutations.near_bounds(dice, json.dumps(body))
    return f"bounds-{name}", text, None


def other_text(dice: random.Random, body: dict) -> Changed:
    """Signed by the right key over a wrong text: every mistake that readers make."""
    text = signed_text(body)
    words = text.split(SEPARATOR)
    choices = [("trailing-separator", text + SEPARATOR), ("leading-separator", SEPARATOR + text),
               ("other-separator", text.replace(SEPARATOR, "\u2062")),
               ("bar", "|".join(words)), ("no-separator", "".join(words)), ("newline", text + "\n"), ("bom", "\ufeff" + text),
               ("reversed", SEPARATOR.join(reversed(words))), ("shorter", SEPARATOR.join(words[:-1])),
               ("upper", text.upper()), ("lower", text.lower()), ("capital-booleans", text.replace("true", "True").replace("false",
                                                                                                                           "False")),
               ("digits-for-booleans", text.replace("true", "1").replace("false", "0")),
               ("floats", text.replace(str(body["app-id"]), f"{float(body['app-id'])}"))]
    if body.get("version", "1.0") != "1.0":
        choices += [("without-version", SEPARATOR.join(words[1:])),
                    ("with-conversion-value", text + SEPARATOR + str(body.get("conversion-value", 0))),
                    ("empty-slot", SEPARATOR.join([*words[:6], "", *words[6:]]))]
        if body.get("source-app-id") == 0:
            choices.append(("zero-left-out", SEPARATOR.join(words[:6] + words[7:])))
    else:
        choices.append(("with-version", SEPARATOR.join(["1.0", *words])))
    name, other = dice.choice(choices)
    digest = dice.choice([None, None, None, hashes.SHA1(), hashes.SHA384(), hashes.SHA512()])
    if other == text and digest is None:
        digest = hashes.SHA384()
    body["attribution-signature"] = base64_of(der(*signature_of(body, text=other, digest=digest)))
    return f"text-{name}", written(dice, body), False


def unsigned_wrong(dice: random.Random, body: dict) -> Changed:
    """An unsigned field of Apple's with an impossible value, or in a version that does not have it."""
    name = dice.choice(["conversion-value", "coarse-conversion-value", "country-code", "did-win", "fidelity-type", "source-domain",
                        "postback-sequence-index", "source-identifier"])
    signed_here = signs(body.get("version", "1.0"), name)
    if not signed_here:
        body[name] = dice.choice(WRONG_KINDS)
    return f"unsigned-wrong-{name}-{body.get(name)!r}", written(dice, body), None if not signed_here else True


def both_values(dice: random.Random, body: dict) -> Changed:
    body["conversion-value"], body["coarse-conversion-value"] = dice.randint(0, 63), dice.choice(["low", "medium", "high"])
    return "both-values", written(dice, body), None


def both_sources(dice: random.Random, body: dict) -> Changed:
    body["source-app-id"], body["source-domain"] = dice.choice([0, 5]), "example.com"
    body["attribution-signature"] = base64_of(der(*signature_of(body)))
    return "both-sources", written(dice, body), None


def other_version(dice: random.Random, body: dict) -> Changed:
    """Signed with an undefined version, or with one in another notation."""
    body["version"] = dice.choice(["2.3", "5.0", "4", "4.00", "04.0", "4.0 ", " 4.0", "4.1", "3.1", "1", "", "v4.0", "4,0", "\uff14.0",
                                   "4.0\u0000",
                                   "4.0\u0301", 4, 4.0, 4.5, True, [], ["4.0"], 2 ** 70])
    if isinstance(body["version"], str):
        body["attribution-signature"] = base64_of(der(*signature_of({**body, "version": "4.0"}, P256, text=signed_text({**body}))))
    return f"version-{body['version']!r}", written(dice, body), False
