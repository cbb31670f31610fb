"""Changes to the certificates and the form of signed data of the App Store."""

import base64
import random

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from SystemTests.differential import jws_mutations
from SystemTests.differential.certificates import OTHER_ROOT, chains
from SystemTests.differential.expected_verdict import Changed
from SystemTests.differential.skadnetwork.signatures import left_over

from .subject import Subject


def plain(_dice: random.Random, subject: Subject) -> Changed:
    return "plain", subject.token(), True


def jws_mutation(dice: random.Random, subject: Subject) -> Changed:
    return dice.choice(jws_mutations.MUTATIONS)(dice, subject.maker())


def chain(dice: random.Random, subject: Subject) -> Changed:
    other = dice.choice(list(chains().values()))
    subject.use(other)
    return f"chain-{other.name}", subject.token(), other.good


def chain_at_an_edge(dice: random.Random, subject: Subject) -> Changed:
    other = dice.choice([one for one in chains().values() if one.edges])
    subject.use(other)
    moment = dice.choice(other.edges) * 1000 + dice.choice([0, 1, -1, 999, 1000, -1000, -999, -1001, 86_400_000, -86_400_000, 3_600_000,
                                                            -3_600_000])
    subject.date(moment)
    return f"edge-{other.name}", subject.token(), None


def list_of_certificates(dice: random.Random, subject: Subject) -> Changed:
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


def spelt_certificate(dice: random.Random, subject: Subject) -> Changed:
    """Changes the encoding of one entry's Base64 or DER."""
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
            Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()),
        ("nul", good + "\0"), ("not-ascii", "\uff2d" + good[1:]), ("nested-base64", base64.b64encode(good.encode()).decode())])
    subject.header["x5c"][at] = value
    return f"x5c-{at}-{name}", subject.token(), True if value == good else None if at == 2 else False


def certificate_bits(dice: random.Random, subject: Subject) -> Changed:
    at = dice.randrange(2)
    data = bytearray(base64.b64decode(subject.header["x5c"][at]))
    for _ in range(dice.choice([1, 1, 1, 2, 5])):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    subject.header["x5c"][at] = base64.b64encode(bytes(data)).decode()
    return f"certificate-{at}-bits", subject.token(), None


def certificate_bytes(dice: random.Random, subject: Subject) -> Changed:
    at = dice.randrange(2)
    data = bytearray(base64.b64decode(subject.header["x5c"][at]))
    start = dice.randrange(len(data))
    data[start:start + dice.randint(0, 4)] = dice.randbytes(dice.randint(0, 4))
    subject.header["x5c"][at] = base64.b64encode(bytes(data)).decode()
    return f"certificate-{at}-bytes", subject.token(), None
