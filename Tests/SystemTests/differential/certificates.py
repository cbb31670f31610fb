"""A test authority like Apple's, and chains with one fault each."""

import base64
import dataclasses
import datetime
import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID, ObjectIdentifier

from . import jws
from .signatures import derived_key

LEAF, INTERMEDIATE = ObjectIdentifier("1.2.840.113635.100.6.11.1"), ObjectIdentifier("1.2.840.113635.100.6.2.1")
NULL = b"\x05\x00"


def day(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


def milliseconds(moment: datetime.datetime) -> int:
    return int(moment.timestamp()) * 1000


MIDDLE = day("2024-06-15")


@dataclasses.dataclass
class Certified:
    certificate: x509.Certificate
    key: object
    name: str

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def text(self) -> str:
        return base64.b64encode(self.der).decode()


def certified(label: str, issuer: Certified | None = None, *, name: str | None = None, key: ec.EllipticCurvePrivateKey | None = None,
              authority: bool = True, path_length: int | None = None, oids: Sequence[x509.ObjectIdentifier] = (),
              start: str = "2022-01-01", end: str = "2044-01-01", subject_id: bool = True, authority_id: bool = True,
              wrong_authority_id: bool = False, usage: str | set[str] | None = "default", constraints: str = "critical",
              extra: Sequence[tuple[x509.ExtensionType, bool]] = (), digest: hashes.HashAlgorithm | None = None,
              unsigned_by: ec.EllipticCurvePrivateKey | None = None) -> Certified:
    """A certificate in Apple's form, except for the given changes. The same label always gives the same bytes."""
    name = name or label
    key = key or derived_key(f"certificate {label}", ec.SECP384R1() if authority else ec.SECP256R1())
    issuer_key = unsigned_by or (issuer.key if issuer else key)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name), x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Test")])
    builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer.certificate.subject if issuer else subject)
               .public_key(key.public_key()).not_valid_before(day(start)).not_valid_after(day(end))
               .serial_number(int.from_bytes(hashlib.sha256(label.encode()).digest()[:8], "big") | 1 << 62))
    if constraints != "absent":
        builder = builder.add_extension(x509.BasicConstraints(authority, path_length if authority else None), constraints == "critical")
    if usage == "default":
        usage = {"key_cert_sign", "crl_sign"} if authority else {"digital_signature"}
    if usage is not None:
        names = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "key_cert_sign",
                 "crl_sign", "encipher_only", "decipher_only")
        builder = builder.add_extension(x509.KeyUsage(**{one: one in usage for one in names}), True)
    if subject_id:
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
    if authority_id and issuer:
        public = derived_key("nobody", ec.SECP256R1()).public_key() if wrong_authority_id else issuer.key.public_key()
        builder = builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), False)
    for oid in oids:
        builder = builder.add_extension(x509.UnrecognizedExtension(oid, NULL), False)
    for extension, critical in extra:
        builder = builder.add_extension(extension, critical)
    digest = digest or (hashes.SHA384() if issuer_key.key_size == 384 else hashes.SHA256())
    options = {"ecdsa_deterministic": True} if isinstance(issuer_key, ec.EllipticCurvePrivateKey) else {}
    return Certified(builder.sign(issuer_key, digest, **options), key, label)


@dataclasses.dataclass
class Chain:
    name: str
    x5c: list
    key: object
    # The known facts about it at the time MIDDLE.
    good: bool | None
    # The seconds at which a validity begins or ends.
    edges: tuple = ()


ROOT = certified("root", start="2014-01-01", end="2045-01-01")
OTHER_ROOT = certified("other root", start="2014-01-01", end="2045-01-01")
IMPOSTOR_ROOT = certified("root impostor", name="root", start="2014-01-01", end="2045-01-01")


def authority(label: str, issuer: Certified = ROOT, **options: Any) -> Certified:
    return certified(label, issuer, **{"oids": [INTERMEDIATE], "path_length": 0, **options})


def leaf(label: str, issuer: Certified, **options: Any) -> Certified:
    return certified(label, issuer, **{"authority": False, "oids": [LEAF], **options})


def key(label: str, curve: ec.EllipticCurve) -> ec.EllipticCurvePrivateKey:
    return derived_key(f"certificate {label}", curve)


class Collection(dict):
    def put(self, name: str, end: Certified, *above: Certified, good: bool | None, edges: Sequence[str] = ()) -> None:
        self[name] = Chain(name, [one.text for one in (end, *above)], end.key, good, tuple(int(day(edge).timestamp()) for edge in edges))


@functools.cache
def chains() -> dict[str, Chain]:
    made = Collection()
    plain = authority("intermediate")
    for add in (good_chains, short_chains, markers, critical_extensions, intermediates, leaves, other_issuers, other_lengths, reissued):
        add(made, plain)
    return made


def good_chains(made: Collection, plain: Certified) -> None:
    made.put("plain", leaf("leaf", plain), plain, ROOT, good=True)
    made.put("plain-two", leaf("leaf two", plain), plain, ROOT, good=True)
    second = authority("intermediate two")
    made.put("second-intermediate", leaf("leaf three", second), second, ROOT, good=True)
    made.put("leaf-of-another-intermediate", leaf("leaf of second", second), plain, ROOT, good=False)


def short_chains(made: Collection, plain: Certified) -> None:
    made.put("short-leaf", leaf("leaf short", plain, start="2024-03-01", end="2024-09-01"), plain, ROOT, good=True,
             edges=("2024-03-01", "2024-09-01"))
    short = authority("intermediate short", start="2024-02-01", end="2024-10-01")
    made.put("short-intermediate", leaf("leaf under short", short), short, ROOT, good=True, edges=("2024-02-01", "2024-10-01"))
    made.put("both-short", leaf("leaf short under short", short, start="2024-03-01", end="2024-12-01"), short, ROOT, good=True,
             edges=("2024-02-01", "2024-03-01", "2024-10-01", "2024-12-01"))
    made.put("expired-leaf", leaf("leaf expired", plain, start="2023-01-01", end="2024-06-14"), plain, ROOT, good=False,
             edges=("2023-01-01", "2024-06-14"))
    made.put("future-leaf", leaf("leaf future", plain, start="2024-06-16"), plain, ROOT, good=False, edges=("2024-06-16",))
    old = authority("intermediate expired", start="2020-01-01", end="2024-01-01")
    made.put("expired-intermediate", leaf("leaf under expired", old), old, ROOT, good=False, edges=("2024-01-01",))


def markers(made: Collection, plain: Certified) -> None:
    """Apple's extensions, which must be present; their values do not matter."""
    made.put("leaf-without-marker", leaf("leaf unmarked", plain, oids=[]), plain, ROOT, good=False)
    made.put("leaf-with-other-marker", leaf("leaf mismarked", plain, oids=[INTERMEDIATE]), plain, ROOT, good=False)
    made.put("leaf-with-both-markers", leaf("leaf both", plain, oids=[LEAF, INTERMEDIATE]), plain, ROOT, good=True)
    near = ObjectIdentifier("1.2.840.113635.100.6.11.10")
    made.put("leaf-marker-near", leaf("leaf near", plain, oids=[near]), plain, ROOT, good=False)
    other_value = x509.UnrecognizedExtension(LEAF, b"\x0c\x01x")
    made.put("leaf-marker-other-value", leaf("leaf value", plain, oids=[], extra=[(other_value, False)]), plain, ROOT, good=True)
    bare = authority("intermediate unmarked", oids=[])
    made.put("intermediate-without-marker", leaf("leaf under unmarked", bare), bare, ROOT, good=False)
    made.put("no-markers", leaf("leaf bare", bare, oids=[]), bare, ROOT, good=False)
    swapped = authority("intermediate mismarked", oids=[LEAF])
    made.put("markers-swapped", leaf("leaf swapped", swapped, oids=[INTERMEDIATE]), swapped, ROOT, good=False)


def critical_extensions(made: Collection, plain: Certified) -> None:
    unknown = x509.UnrecognizedExtension(ObjectIdentifier("1.2.3.4.5.6.7"), NULL)
    made.put("leaf-unknown", leaf("leaf unknown", plain, extra=[(unknown, False)]), plain, ROOT, good=True)
    made.put("leaf-critical-unknown", leaf("leaf critical", plain, extra=[(unknown, True)]), plain, ROOT, good=False)
    critical = authority("intermediate critical", extra=[(unknown, True)])
    made.put("intermediate-critical-unknown", leaf("leaf under critical", critical), critical, ROOT, good=False)
    marker = x509.UnrecognizedExtension(LEAF, NULL)
    made.put("leaf-marker-critical", leaf("leaf critically marked", plain, oids=[], extra=[(marker, True)]), plain, ROOT, good=None)
    marked = authority("intermediate critically marked", oids=[], extra=[(x509.UnrecognizedExtension(INTERMEDIATE, NULL), True)])
    made.put("intermediate-marker-critical", leaf("leaf under critically marked", marked), marked, ROOT, good=None)


def intermediates(made: Collection, _plain: Certified) -> None:
    domains = (x509.NameConstraints([x509.DNSName("example.com")], None), True)
    elsewhere = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Elsewhere")])
    nobody = (x509.NameConstraints([x509.DirectoryName(elsewhere)], None), True)
    for name, good, options in (
        ("no-authority", False, {"authority": False}), ("no-constraints", False, {"constraints": "absent"}),
        ("constraints-not-critical", False, {"constraints": "plain"}), ("no-key-usage", False, {"usage": None}),
        ("no-cert-sign", False, {"usage": {"crl_sign", "digital_signature"}}), ("no-subject-id", False, {"subject_id": False}),
        ("no-authority-id", False, {"authority_id": False}), ("wrong-authority-id", False, {"wrong_authority_id": True}),
        ("path-length-absent", True, {"path_length": None}), ("path-length-two", True, {"path_length": 2}),
        ("self-signed", False, {"unsigned_by": key("i-self-signed", ec.SECP384R1())}),
        ("p256", None, {"key": key("i-p256", ec.SECP256R1())}),
        ("sha256", True, {"digest": hashes.SHA256()}), ("sha512", True, {"digest": hashes.SHA512()}), ("rsa", None, {"key": jws.rsa_key()}),
        ("names-of-domains", True, {"extra": [domains]}), ("names-of-nobody", False, {"extra": [nobody]}),
        ("names-not-issued", False, {"extra": [domains], "unsigned_by": key("i-names-not-issued", ec.SECP384R1())}),
    ):
        above = authority(f"i-{name}", **options)
        made.put(f"intermediate-{name}", leaf(f"leaf under {name}", above), above, ROOT, good=good)


def leaves(made: Collection, plain: Certified) -> None:
    purposes = x509.oid.ExtendedKeyUsageOID
    for name, good, options in (
        ("authority", None, {"authority": True, "key": key("l-authority", ec.SECP256R1())}),
        ("no-constraints", None, {"constraints": "absent"}), ("constraints-not-critical", None, {"constraints": "plain"}),
        ("no-key-usage", None, {"usage": None}), ("usage-agreement", None, {"usage": {"key_agreement"}}),
        ("usage-cert-sign", None, {"usage": {"key_cert_sign"}}), ("no-subject-id", None, {"subject_id": False}),
        ("no-authority-id", None, {"authority_id": False}), ("wrong-authority-id", False, {"wrong_authority_id": True}),
        ("sha256", True, {"digest": hashes.SHA256()}), ("p384", False, {"key": key("l-p384", ec.SECP384R1())}),
        ("secp256k1", False, {"key": key("l-k1", ec.SECP256K1())}), ("rsa", False, {"key": jws.rsa_key()}),
        ("server-auth", True, {"extra": [(x509.ExtendedKeyUsage([purposes.SERVER_AUTH]), False)]}),
        ("critical-usage", None, {"extra": [(x509.ExtendedKeyUsage([purposes.CODE_SIGNING]), True)]}),
        ("name-long", True, {"name": "x" * 64}),
    ):
        made.put(f"leaf-{name}", leaf(f"l-{name}", plain, **options), plain, ROOT, good=good)


def other_issuers(made: Collection, plain: Certified) -> None:
    """Signed by another key, under the right names."""
    for name, root in (("other-root", OTHER_ROOT), ("impostor-root", IMPOSTOR_ROOT)):
        above = authority(f"intermediate of {name}", root, name="intermediate")
        made.put(name, leaf(f"leaf of {name}", above), above, root, good=False)
        made.put(f"{name}-hidden", leaf(f"leaf of {name}", above), above, ROOT, good=False)
    forged = authority("intermediate forged", unsigned_by=OTHER_ROOT.key)
    made.put("intermediate-forged", leaf("leaf of forged", forged), forged, ROOT, good=False)
    made.put("leaf-forged", leaf("leaf forged", plain, unsigned_by=OTHER_ROOT.key), plain, ROOT, good=False)
    namesake = authority("intermediate namesake", name="intermediate")
    made.put("leaf-of-a-namesake", leaf("leaf of namesake", namesake), plain, ROOT, good=False)
    made.put("leaf-self-signed", certified("leaf alone", authority=False, oids=[LEAF]), plain, ROOT, good=False)
    made.put("intermediate-as-leaf", plain, plain, ROOT, good=False)
    made.put("root-three-times", ROOT, ROOT, ROOT, good=False)


def other_lengths(made: Collection, plain: Certified) -> None:
    """Paths that lead to the root, but not in two steps."""
    made.put("leaf-under-root", leaf("leaf under root", ROOT), ROOT, ROOT, good=False)
    made.put("leaf-under-root-beside-intermediate", leaf("leaf under root 2", ROOT), plain, ROOT, good=False)
    both = leaf("leaf under root 3", ROOT, oids=[LEAF, INTERMEDIATE])
    made.put("leaf-under-root-both-markers", both, plain, ROOT, good=False)
    upper = authority("upper", path_length=1)
    lower = authority("lower", upper)
    far = leaf("leaf far", lower)
    made.put("four", far, lower, upper, ROOT, good=False)
    made.put("four-without-upper", far, lower, ROOT, good=False)
    made.put("four-without-root", far, lower, upper, good=False)
    made.put("four-without-lower", far, upper, ROOT, good=False)
    too_long = authority("too long", plain)
    made.put("path-length-exceeded", leaf("leaf too far", too_long), too_long, plain, ROOT, good=False)
    signing = leaf("leaf that signs", plain, authority=True, key=key("signing leaf", ec.SECP256R1()),
                   usage={"key_cert_sign", "digital_signature"})
    made.put("leaf-under-leaf", leaf("leaf below", signing), signing, ROOT, good=False)


def reissued(made: Collection, plain: Certified) -> None:
    """The intermediate's name and key in another certificate: a cache of authorities must compare certificates."""
    for name, good, issuer, options in (
        ("reissued", True, ROOT, {}), ("reissued-expired", False, ROOT, {"end": "2024-01-01"}),
        ("reissued-unmarked", False, ROOT, {"oids": []}), ("reissued-no-authority", False, ROOT, {"authority": False}),
        ("reissued-by-another", False, OTHER_ROOT, {}), ("reissued-by-impostor", False, IMPOSTOR_ROOT, {}),
        ("reissued-forged", False, ROOT, {"unsigned_by": OTHER_ROOT.key}), ("reissued-no-cert-sign", False, ROOT, {"usage": {"crl_sign"}}),
    ):
        again = authority(name, issuer, name="intermediate", key=plain.key, **options)
        made.put(name, leaf("leaf", plain), again, ROOT, good=good)
