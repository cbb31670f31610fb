"""Compact JWS by RFC 7515: `parse` reads one strictly, `Maker` writes one. jws_mutations.py changes what a maker writes."""

import dataclasses
import json
import random

from cryptography.hazmat.primitives.asymmetric import ec, rsa

from .expected_verdict import Refused, strict_json
from .signatures import ORDERS, base64url, base64url_strictly, signed

N = ORDERS["secp256r1"]
ALGORITHMS = ("none", "None", "NONE", "", "HS256", "HS384", "RS256", "PS256", "ES384", "ES512", "ES256K", "EdDSA", "es256", "Es256",
              "ES256 ", " ES256", "ES256\u0000", "ES-256", "\uff25\uff33256", "ES\u200b256", "ES256\u0301", "SHA256withECDSA")


def raw(r: int, s: int) -> bytes:
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@dataclasses.dataclass
class Parsed:
    header: dict
    payload_part: str
    signing_input: bytes
    signature: bytes

    def payload(self) -> dict:
        return object_of(self.payload_part)


def object_of(part: str) -> dict:
    try:
        value = strict_json(base64url_strictly(part).decode("utf-8"))
    except ValueError:
        raise Refused("not a JSON object") from None
    if not isinstance(value, dict):
        raise Refused("not an object")
    return value


def parse(jws: str) -> Parsed:
    """Parses the token, and refuses anything but three Base64URL parts with an object in the first."""
    parts = jws.split(".")
    if len(parts) != 3 or not parts[0] or not parts[1]:
        raise Refused("not three parts")
    base64url_strictly(parts[1])
    return Parsed(object_of(parts[0]), parts[1], f"{parts[0]}.{parts[1]}".encode(), base64url_strictly(parts[2]))


_rsa_key: list = []


def rsa_key() -> rsa.RSAPrivateKey:
    if not _rsa_key:
        _rsa_key.append(rsa.generate_private_key(public_exponent=65537, key_size=2048))
    return _rsa_key[0]


@dataclasses.dataclass
class Maker:
    """The content of a JWS. `made` signs and encodes it; a mutation may replace the JSON text of the header or the payload."""

    header: dict
    payload: dict
    key: ec.EllipticCurvePrivateKey
    other_keys: list
    header_text: str | None = None
    payload_text: str | None = None

    def parts(self) -> tuple[str, str]:
        return (base64url((compact(self.header) if self.header_text is None else self.header_text).encode("utf-8", "surrogatepass")),
                base64url((compact(self.payload) if self.payload_text is None else self.payload_text).encode("utf-8", "surrogatepass")))

    def numbers(self, parts: tuple[str, str]) -> tuple[int, int]:
        return signed(self.key, ".".join(parts).encode())

    def made(self) -> str:
        parts = self.parts()
        return ".".join((*parts, base64url(raw(*self.numbers(parts)))))


def with_name_twice(dice: random.Random, value: dict, prefer: list[str]) -> str:
    """The object's text with one name twice, the second possibly with an escape, possibly with another value."""
    names = [name for name in prefer if name in value] or list(value)
    name = dice.choice(names)
    again = json.dumps(name)
    if dice.random() < 0.4:
        again = f'"\\u{ord(name[0]):04x}{json.dumps(name[1:])[1:]}'
    other = dice.choice([value[name], "x", 0, None, True])
    pair = f"{again}:{json.dumps(other)}"
    text = compact(value)
    return text[:-1] + "," + pair + "}" if dice.random() < 0.5 else "{" + pair + "," + text[1:]
