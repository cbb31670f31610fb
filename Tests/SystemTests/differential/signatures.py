"""Fixed keys, strict readers of DER and Base64, and signatures with every kind of fault."""

import base64
import hashlib
import random
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from .expected_verdict import Refused

ORDERS = {"secp192r1": 0xFFFFFFFFFFFFFFFFFFFFFFFF99DEF836146BC9B1B4D22831,
          "secp256r1": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551}



def derived_key(label: str, curve: ec.EllipticCurve) -> ec.EllipticCurvePrivateKey:
    """Always the same key for the same label, so that a seed repeats a run."""
    digest = hashlib.sha512(label.encode()).digest()
    return ec.derive_private_key(int.from_bytes(digest, "big") % (2 ** (curve.key_size - 1)) + 1, curve)


def signed(key: ec.EllipticCurvePrivateKey, message: bytes, digest: hashes.HashAlgorithm | None = None) -> tuple[int, int]:
    return decode_dss_signature(key.sign(message, ec.ECDSA(digest or hashes.SHA256(), deterministic_signing=True)))


def signed_with_special_nonce(dice: random.Random, key: ec.EllipticCurvePrivateKey, message: bytes) -> tuple[str, int, int]:
    """A valid signature whose point may be in a table of multiples: the base point, the key's own, their near multiples."""
    n, own = ORDERS[key.curve.name], key.private_numbers().private_value
    name, nonce = dice.choice([("one", 1), ("two", 2), ("small", dice.randint(3, 300)), ("minus-one", n - 1), ("minus-two", n - 2),
                               ("key", own), ("minus-key", n - own), ("twice-key", 2 * own % n), ("key-plus-one", own + 1),
                               ("power-of-two", 1 << dice.randrange(n.bit_length() - 1)), ("half", (n + 1) // 2)])
    r = ec.derive_private_key(nonce, key.curve).public_key().public_numbers().x % n
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big") >> max(0, 256 - n.bit_length())
    return name, r, pow(nonce, -1, n) * (digest + r * own) % n


def der_integer(value: int, *, padding: int = 0, tag: int = 2) -> bytes:
    """Minimal, unless `padding` zero bytes are requested."""
    content = bytes(padding) + value.to_bytes(value.bit_length() // 8 + 1, "big")
    return bytes([tag, len(content)]) + content


def der(r: int, s: int) -> bytes:
    content = der_integer(r) + der_integer(s)
    return bytes([0x30, len(content)]) + content if len(content) < 128 else bytes([0x30, 0x81, len(content)]) + content


def read_der(data: bytes) -> tuple[int, int]:
    """Exactly one DER SEQUENCE of two non-negative INTEGERs; anything else is refused."""
    def one(data: bytes, tag: int) -> tuple[bytes, bytes]:
        if len(data) < 2 or data[0] != tag:
            raise Refused("tag")
        length, start = data[1], 2
        if length == 0x81:
            if len(data) < 3 or data[2] < 128:
                raise Refused("length")
            length, start = data[2], 3
        elif length > 127:
            raise Refused("length")
        if len(data) < start + length:
            raise Refused("short")
        return data[start:start + length], data[start + length:]

    def integer(data: bytes) -> tuple[int, bytes]:
        content, rest = one(data, 2)
        if not content or content[0] & 0x80 or (len(content) > 1 and content[0] == 0 and not content[1] & 0x80):
            raise Refused("integer")
        return int.from_bytes(content, "big"), rest

    content, rest = one(data, 0x30)
    r, content = integer(content)
    s, content = integer(content)
    if rest or content:
        raise Refused("trailing")
    return r, s


def in_range(r: int, s: int, curve: str) -> bool:
    return 0 < r < ORDERS[curve] and 0 < s < ORDERS[curve]


def verifies(key: ec.EllipticCurvePublicKey, r: int, s: int, message: bytes) -> bool:
    try:
        key.verify(der(r, s), message, ec.ECDSA(hashes.SHA256()))
        return True
    except InvalidSignature:
        return False


def base64_strictly(text: str) -> bytes:
    """Standard alphabet, padded, without other characters, and with unused bits of zero."""
    if len(text) % 4 or not re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", text, re.ASCII):
        raise Refused("base64")
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refused("base64") from None
    if base64.b64encode(data).decode() != text:
        raise Refused("base64")
    return data


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def base64url_strictly(text: str) -> bytes:
    """URL alphabet, no padding, and with unused bits of zero."""
    if len(text) % 4 == 1 or not re.fullmatch(r"[A-Za-z0-9_-]*", text, re.ASCII):
        raise Refused("base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64url(data) != text:
        raise Refused("base64url")
    return data


def other_numbers(dice: random.Random, r: int, s: int, n: int) -> tuple[str, int, int, bool]:
    """A pair derived from a valid one: its name, the pair, and whether it is still a signature."""
    return dice.choice([
        ("s-negated", r, n - s, True),
        ("s-high", r, max(s, n - s), True),
        ("r-zero", 0, s, False), ("s-zero", r, 0, False), ("both-zero", 0, 0, False),
        ("r-n", n, s, False), ("s-n", r, n, False), ("both-n", n, n, False),
        ("r-n-minus-1", n - 1, s, False), ("s-n-minus-1", r, n - 1, False), ("r-n-plus-1", n + 1, s, False),
        ("r-one", 1, s, False), ("s-one", r, 1, False), ("both-one", 1, 1, False),
        ("r-plus-n", r + n, s, False), ("s-plus-n", r, s + n, False),
        ("r-all-ones", 2 ** n.bit_length() - 1, s, False), ("s-all-ones", r, 2 ** n.bit_length() - 1, False),
        ("swapped", s, r, False),
        ("r-bit-flipped", r ^ 1 << dice.randrange(n.bit_length()), s, False),
        ("s-bit-flipped", r, s ^ 1 << dice.randrange(n.bit_length()), False),
    ])


def other_der(dice: random.Random, r: int, s: int) -> tuple[str, bytes]:
    """Bytes that are not one DER signature."""
    a, b = der_integer(r), der_integer(s)

    def sequence(content: bytes, tag: int = 0x30) -> bytes:
        return bytes([tag, len(content)]) + content

    good = der(r, s)
    return dice.choice([
        ("trailing-zero", good + b"\0"), ("trailing-random", good + dice.randbytes(dice.randint(1, 8))), ("twice", good + good),
        ("trailing-inside", sequence(a + b + b"\0")), ("three-integers", sequence(a + b + der_integer(1))),
        ("null-inside", sequence(a + b + b"\x05\0")),
        ("one-integer", sequence(a)), ("no-integer", sequence(b"")),
        ("r-padded", sequence(der_integer(r, padding=1) + b)), ("s-padded", sequence(a + der_integer(s, padding=1))),
        ("s-padded-much", sequence(a + der_integer(s, padding=5))),
        ("r-negative", sequence(der_integer(2 ** (8 * (len(a) - 2)) - r)[:2] + b"\xff" + a[3:] + b)),
        ("s-sign-lost", sequence(a + (b"\x02" + bytes([len(b) - 2]) + bytes([b[2] | 0x80]) + b[3:]))),
        ("long-length", bytes([0x30, 0x81, len(a + b)]) + a + b),
        ("longer-length", bytes([0x30, 0x82, 0, len(a + b)]) + a + b),
        ("long-integer-length", sequence(bytes([2, 0x81, len(a) - 2]) + a[2:] + b)),
        ("indefinite", b"\x30\x80" + a + b + b"\0\0"),
        ("set", sequence(a + b, 0x31)), ("context-tag", sequence(a + b, 0xA0)), ("primitive-sequence", sequence(a + b, 0x10)),
        ("octet-strings", sequence(der_integer(r, tag=4) + der_integer(s, tag=4))),
        ("enumerated", sequence(der_integer(r, tag=10) + b)),
        ("wrapped", sequence(good)), ("in-octet-string", b"\x04" + bytes([len(good)]) + good),
        ("truncated", good[:-dice.randint(1, len(good) - 1)]), ("head-lost", good[1:]),
        ("empty", b""), ("one-byte", b"\x30"), ("length-too-great", bytes([0x30, len(a + b) + 1]) + a + b),
        ("length-too-small", bytes([0x30, len(a + b) - 1]) + a + b),
        ("empty-integer", sequence(b"\x02\0" + b)), ("random", dice.randbytes(dice.randint(1, 80))),
    ])
