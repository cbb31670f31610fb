"""Changes to the signatures of SKAdNetwork postbacks."""

import base64
import random

from SystemTests.differential.expected_verdict import Changed
from SystemTests.differential.postbacks import (
    KID_KEYS,
    KIDS,
    P192,
    P192_OTHER,
    P256,
    P256_OTHER,
    signing_key,
)
from SystemTests.differential.signatures import ORDERS, der, other_der, other_numbers, signed_with_special_nonce

from .postbacks import base64_of, signature_of, signed_text, written


def signature_numbers(dice: random.Random, body: dict) -> Changed:
    key = signing_key(body.get("version", "1.0"))
    if dice.random() < 0.3:
        name, r, s = signed_with_special_nonce(dice, key, signed_text(body).encode())
        body["attribution-signature"] = base64_of(der(r, s))
        return f"nonce-{name}", written(dice, body), True
    name, r, s, still = other_numbers(dice, *signature_of(body), ORDERS[key.curve.name])
    body["attribution-signature"] = base64_of(der(r, s))
    return f"numbers-{name}", written(dice, body), still


def signature_der(dice: random.Random, body: dict) -> Changed:
    name, data = other_der(dice, *signature_of(body))
    body["attribution-signature"] = base64_of(data)
    return f"der-{name}", written(dice, body), False


def signature_raw(dice: random.Random, body: dict) -> Changed:
    r, s = signature_of(body)
    width = signing_key(body.get("version", "1.0")).curve.key_size // 8
    body["attribution-signature"] = base64_of(r.to_bytes(width, "big") + s.to_bytes(width, "big"))
    return "raw", written(dice, body), False


def signature_bit(dice: random.Random, body: dict) -> Changed:
    data = bytearray(base64.b64decode(body["attribution-signature"]))
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    body["attribution-signature"] = base64_of(bytes(data))
    return "signature-bit", written(dice, body), False


def signature_base64(dice: random.Random, body: dict) -> Changed:
    """A valid signature with invalid Base64."""
    while True:
        good = body["attribution-signature"]
        name = dice.choice(["url-alphabet", "unpadded", "padded-more", "newline", "space-before", "space-inside", "lines", "hex", "twice",
                            "percent", "padding-inside", "bits-left-over", "nul", "not-ascii", "data-url", "pem", "comma"])
        spelt = {"url-alphabet": good.replace("+", "-").replace("/", "_"), "unpadded": good.rstrip("="), "padded-more": good + "=",
                 "newline": good + "\n", "space-before": " " + good, "space-inside": good[:8] + " " + good[8:],
                 "lines": good[:64] + "\r\n" + good[64:], "hex": base64.b64decode(good).hex(), "twice": base64_of(good.encode()),
                 "percent": good.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
                 "padding-inside": good[:4] + "====" + good[4:],
                 "bits-left-over": left_over(good), "nul": good + "\0", "not-ascii": good[:5] + "\uff21" + good[6:],
                 "data-url": "data:;base64," + good, "pem": f"-----BEGIN-----\n{good}\n-----END-----", "comma": good + ","}[name]
        if spelt != good:
            body["attribution-signature"] = spelt
            return f"base64-{name}", written(dice, body), False


def left_over(text: str) -> str:
    """Sets bits that padding makes meaningless."""
    bare = text.rstrip("=")
    if bare == text:
        return text
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return bare[:-1] + alphabet[alphabet.index(bare[-1]) + 1] + text[len(bare):]


def other_signer(dice: random.Random, body: dict) -> Changed:
    version = body.get("version", "1.0")
    small = version in ("1.0", "2.0")
    name, key = dice.choice([("own-curve", P192_OTHER if small else P256_OTHER), ("other-curve", P256 if small else P192),
                             ("kid-key", KID_KEYS[dice.choice(KIDS)])])
    body["attribution-signature"] = base64_of(der(*signature_of(body, key)))
    return f"signer-{name}", written(dice, body), False
