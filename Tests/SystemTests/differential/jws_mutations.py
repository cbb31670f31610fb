"""Changes of a compact JWS, most of which make it invalid. Each function gets a random generator and a maker, and returns the change's
name, the token, and whether it must be valid (None if the reference verifier decides)."""

import base64
import json
import random
import re
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .expected_verdict import Changed
from .jws import ALGORITHMS, Maker, N, compact, raw, rsa_key, with_name_twice
from .signatures import base64url, base64url_strictly, der, other_der, other_numbers, signed, signed_with_special_nonce


def numbers_changed(dice: random.Random, maker: Maker) -> Changed:
    parts = maker.parts()
    if dice.random() < 0.3:
        name, r, s = signed_with_special_nonce(dice, maker.key, ".".join(parts).encode())
        return f"nonce-{name}", ".".join((*parts, base64url(raw(r, s)))), True
    name, r, s, still = other_numbers(dice, *maker.numbers(parts), N)
    if r >= 1 << 256 or s >= 1 << 256:
        width = 33
        data = r.to_bytes(width, "big") + s.to_bytes(width, "big")
    else:
        data = raw(r, s)
    return f"numbers-{name}", ".".join((*parts, base64url(data))), still


def signature_form(dice: random.Random, maker: Maker) -> Changed:
    parts = maker.parts()
    r, s = maker.numbers(parts)
    good = raw(r, s)
    name, data = dice.choice([
        ("der", der(r, s)), ("other-der", other_der(dice, r, s)[1]), ("short", good[:-1]), ("shorter", good[:32]), ("long", good + b"\0"),
        ("long-front", b"\0" + good), ("twice", good + good), ("empty", b""), ("one", b"\0"),
        ("little-endian", r.to_bytes(32, "little") + s.to_bytes(32, "little")),
        ("p384-width", r.to_bytes(48, "big") + s.to_bytes(48, "big")), ("hex", good.hex().encode()),
        ("base64-twice", base64url(good).encode()), ("zeros", bytes(64)), ("ones", b"\xff" * 64),
        ("random", dice.randbytes(64)), ("random-length", dice.randbytes(dice.randint(0, 130)))])
    return f"form-{name}", ".".join((*parts, base64url(data))), False


def bit_flipped(dice: random.Random, maker: Maker) -> Changed:
    parts = [*maker.parts()]
    signature = bytearray(raw(*maker.numbers(tuple(parts))))
    which = dice.randrange(3)
    data = bytearray(base64url_strictly(parts[which])) if which < 2 else signature
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    final = [*parts, base64url(bytes(signature))]
    final[which] = base64url(bytes(data))
    return f"bit-{('header', 'payload', 'signature')[which]}", ".".join(final), False


def character_changed(dice: random.Random, maker: Maker) -> Changed:
    token = maker.made()
    at = dice.randrange(len(token))
    put = dice.choice("AZaz09-_.=+/ \n\t\0%~é\u2063\u200b\ufeff")
    kind = dice.choice(["replaced", "inserted", "dropped", "appended", "prepended"])
    changed = {"replaced": token[:at] + put + token[at + 1:], "inserted": token[:at] + put + token[at:],
               "dropped": token[:at] + token[at + 1:], "appended": token + put, "prepended": put + token}[kind]
    return f"character-{kind}", changed, changed == token


def spelling(dice: random.Random, maker: Maker) -> Changed:
    """Spells a part wrongly in Base64URL, with the wrong alphabet, padding or unused bits; the signature is that of the sent text."""
    header, payload = maker.parts()
    which = dice.choice(["padding-header", "padding-payload", "padding-signature", "standard-alphabet", "bits-left-over-signature",
                         "bits-left-over-payload", "newline", "space", "lines"])
    if which == "padding-header":
        header += "=" * (-len(header) % 4 or 4)
    elif which == "padding-payload":
        payload += "=" * (-len(payload) % 4 or 4)
    elif which == "bits-left-over-payload":
        while len(payload) % 4 == 0:
            maker.payload["filling"] = maker.payload.get("filling", "") + "x"
            payload = maker.parts()[1]
        payload = _next_last(payload)
    elif which == "newline":
        payload += "\n"
    elif which == "space":
        header = " " + header
    elif which == "lines":
        payload = "\r\n".join(payload[i:i + 64] for i in range(0, len(payload), 64))
    signature = base64url(raw(*maker.numbers((header, payload))))
    if which == "padding-signature":
        signature += "=="
    elif which == "bits-left-over-signature":
        signature = _next_last(signature)
    elif which == "standard-alphabet":
        while not set("+/") & set(base64.b64encode(base64url_strictly(signature)).decode()):
            maker.payload["filling"] = maker.payload.get("filling", "") + "x"
            header, payload = maker.parts()
            signature = base64url(raw(*maker.numbers((header, payload))))
        signature = signature.replace("-", "+").replace("_", "/")
    return f"spelling-{which}", f"{header}.{payload}.{signature}", False


def _next_last(part: str) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return part[:-1] + alphabet[alphabet.index(part[-1]) + 1]


def shape(dice: random.Random, maker: Maker) -> Changed:
    token = maker.made()
    header, payload, signature = token.split(".")
    name, changed = dice.choice([
        ("two-parts", f"{header}.{payload}"), ("one-part", header), ("empty", ""), ("dots", ".."), ("four-parts", token + "." + signature),
        ("five-parts", token + ".."), ("no-header", f".{payload}.{signature}"), ("no-payload", f"{header}..{signature}"),
        ("no-signature", f"{header}.{payload}."), ("dot-behind", token + "."), ("dot-before", "." + token),
        ("swapped", f"{payload}.{header}.{signature}"), ("rotated", f"{signature}.{header}.{payload}"), ("twice", token + token),
        ("json-form", compact({"payload": payload, "protected": header, "signature": signature})),
        ("space-around", f" {token} "), ("newline-behind", token + "\n"), ("quoted", f'"{token}"'), ("bearer", "Bearer " + token)])
    return f"shape-{name}", changed, False


def algorithm(dice: random.Random, maker: Maker) -> Changed:
    """Has another `alg`, and a signature by ES256 or by that algorithm, as a forger could make it."""
    name = dice.choice([*ALGORITHMS, None, 256, True, ["ES256"], {"ES256": 1}, "absent"])
    if name == "absent":
        maker.header.pop("alg", None)
    else:
        maker.header["alg"] = name
    parts = maker.parts()
    message = ".".join(parts).encode()
    public = maker.key.public_key()
    how = dice.choice(["as-es256", "as-its-own"])
    if how == "as-es256":
        data = raw(*maker.numbers(parts))
    elif isinstance(name, str) and name.startswith("HS"):
        secret = dice.choice([public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
                              public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
                              public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint), b""])
        mac = hmac.HMAC(secret, hashes.SHA256() if name == "HS256" else hashes.SHA384())
        mac.update(message)
        data = mac.finalize()
    elif name in ("RS256", "PS256"):
        scheme = padding.PKCS1v15() if name == "RS256" else padding.PSS(padding.MGF1(hashes.SHA256()), 32)
        data = rsa_key().sign(message, scheme, hashes.SHA256())
    elif isinstance(name, str) and name.startswith("ES"):
        r, s = signed(maker.key, message, hashes.SHA384())
        data = raw(r, s)
    else:
        data = b""
    return f"alg-{name!r}-{how}", ".".join((*parts, base64url(data))), False


def other_signer(dice: random.Random, maker: Maker) -> Changed:
    parts = maker.parts()
    message = ".".join(parts).encode()
    what = dice.choice(["another-key", "sha384", "sha512", "sha1", "payload-only", "without-dot", "header-only", "decoded"])
    if what == "another-key":
        pair = signed(dice.choice(maker.other_keys), message)
    elif what in ("sha384", "sha512", "sha1"):
        pair = signed(maker.key, message, {"sha384": hashes.SHA384(), "sha512": hashes.SHA512(), "sha1": hashes.SHA1()}[what])
    else:
        pair = signed(maker.key, {"payload-only": parts[1].encode(), "without-dot": "".join(parts).encode(),
                                  "header-only": parts[0].encode(),
                                  "decoded": b".".join(base64url_strictly(part) for part in parts)}[what])
    return f"signer-{what}", ".".join((*parts, base64url(raw(*pair)))), False


def changed_after(_dice: random.Random, maker: Maker, change: Callable[[dict], str]) -> Changed:
    """Changes a claim and keeps the signature."""
    parts = maker.parts()
    signature = base64url(raw(*maker.numbers(parts)))
    before = compact(maker.payload)
    name = change(maker.payload)
    return f"after-{name}", ".".join((*maker.parts(), signature)), None if compact(maker.payload) == before else False


def twice(dice: random.Random, maker: Maker) -> Changed:
    """Repeats a name in the header or the payload, and signs it."""
    if dice.random() < 0.5:
        maker.header_text = with_name_twice(dice, maker.header, ["alg", "kid", "x5c"])
        where = "header"
    else:
        maker.payload_text = with_name_twice(dice, maker.payload, [])
        where = "payload"
    return f"twice-{where}", maker.made(), None


def not_an_object(dice: random.Random, maker: Maker) -> Changed:
    where = dice.choice(["header", "payload"])
    good = compact(getattr(maker, where))
    name, text = dice.choice([
        ("array", f"[{good}]"), ("string", json.dumps(good)), ("number", "5"), ("null", "null"), ("true", "true"), ("empty", ""),
        ("space", " "), ("two", good + good), ("behind", good + "x"), ("comma", good[:-1] + ",}"),
        ("single-quotes", good.replace('"', "'")),
        ("comment", "/**/" + good), ("nan", good[:-1] + ',"n":NaN}'), ("infinity", good[:-1] + ',"n":-Infinity}'),
        ("bom", "\ufeff" + good), ("control", good[:-1] + ',"n":"\x01"}'), ("leading-zero", good[:-1] + ',"n":01}'),
        ("plus", good[:-1] + ',"n":+1}'), ("hex", good[:-1] + ',"n":0x1}'), ("point", good[:-1] + ',"n":1.}'),
        ("bad-escape", good[:-1] + ',"n":"\\x41"}'), ("truncated", good[:-1]), ("unquoted", re.sub(r'"(alg|kid)"', r"\1", good) + "x"),
        ("lone-surrogate-bytes", good[:-1] + ',"n":"\ud800"}')])
    setattr(maker, f"{where}_text", text)
    return f"json-{where}-{name}", maker.made(), False


def near_bounds(dice: random.Random, text: str) -> tuple[str, str]:
    """The object's text with one more value, whose depth or number of values is near the limit."""
    depth = dice.choice([1, 10, 29, 30, 31, 32, 33, 64, 100, 500, 5000])
    size = dice.choice([100, 19_900, 19_960, 19_980, 20_000, 20_100])
    name, value = dice.choice([("arrays", "[" * depth + "]" * depth), ("objects", '{"a":' * depth + "1" + "}" * depth),
                               ("mixed", '[{"a":' * (depth // 2) + "[]" + "}]" * (depth // 2)),
                               ("many", "[" + ",".join("0" * size) + "]"), ("many-empty", "[" + ",".join(["{}"] * size) + "]"),
                               ("names", "{" + ",".join(f'"{one}":0' for one in range(size)) + "}")])
    return name, f'{text[:-1]},"more":{value}}}'


def bounds(dice: random.Random, maker: Maker) -> Changed:
    name, maker.payload_text = near_bounds(dice, compact(maker.payload))
    return f"bounds-{name}", maker.made(), None


def white_space(dice: random.Random, maker: Maker) -> Changed:
    """Writes the same values as a different JSON text."""
    maker.header_text = json.dumps(maker.header, indent=dice.choice([None, 0, 1, 4]), ensure_ascii=dice.random() < 0.5)
    maker.payload_text = json.dumps(dict(dice.sample(list(maker.payload.items()), len(maker.payload))), indent=dice.choice([None, 1]))
    if dice.random() < 0.5:
        maker.header_text = maker.header_text.replace("/", "\\/")
        maker.payload_text = maker.payload_text.replace("/", "\\/")
    if dice.random() < 0.5:
        maker.payload_text = dice.choice(" \n\r\t") + maker.payload_text + dice.choice(" \n\r\t") * 3
    return "written-otherwise", maker.made(), True


def critical(dice: random.Random, maker: Maker) -> Changed:
    """`crit` names extensions that a reader must understand (RFC 7515, 4.1.11)."""
    maker.header["crit"] = dice.choice([["exp"], ["b64"], ["http://example.com/x"], ["alg"], ["x5c"], [], "exp", None, 5, {}])
    if maker.header["crit"] in (["exp"], ["b64"]) and dice.random() < 0.5:
        maker.header[maker.header["crit"][0]] = dice.choice([True, False, 5])
    return f"crit-{maker.header['crit']!r}", maker.made(), None


MUTATIONS = (numbers_changed, signature_form, bit_flipped, character_changed, spelling, shape, algorithm, other_signer, twice, not_an_object,
         bounds, white_space, critical)
