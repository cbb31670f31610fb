"""SKAdNetwork impressions, the changes that make them invalid, and a reference verifier: Python's `cryptography` over a text that is built
from Apple's page (Combining parameters to generate a signature)."""

import base64
import json
import random
import re

from cryptography.hazmat.primitives import hashes

from SystemTests.differential import jws
from SystemTests.differential.expected_verdict import Case, ExpectedVerdict, Refused
from SystemTests.differential.impression_keys import KEYS, NETWORKS, STRANGER, UUID, N, any_key, message_of, plain, sign, signed_words, signer_of
from SystemTests.differential.postbacks import INT64, LOOKALIKES, SEPARATOR, VERSIONS
from SystemTests.differential.signatures import (
    base64_strictly,
    der,
    in_range,
    other_der,
    other_numbers,
    read_der,
    signed,
    signed_with_special_nonce,
)

from .postbacks import anycase_uuid, base64_of, pick
from .signatures import left_over

# --- SKAdNetwork ----------------------------------------------------------------------------------------------------------


def is_domain(text: str) -> bool:
    """Checks only the syntax of a domain: labels of lower-case letters, digits and inner hyphens, the last one not a number."""
    label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
    return (len(text) <= 253 and re.fullmatch(rf"({label}\.)+{label}", text, re.ASCII) is not None
            and not text.rsplit(".", 1)[1].isdigit())


def faults_of(body: dict) -> set[str]:
    at = VERSIONS.index(body["version"])
    web = at == 5 and "sourceDomain" in body
    faults = set()

    def whole(name: str, low: int, high: int, needed: bool = True) -> None:
        if name not in body:
            faults.update([name] if needed else [])
        elif not low <= int(body[name]) <= high:
            faults.add(name)

    if not re.fullmatch(r"[a-z0-9._-]{1,253}", body.get("adNetworkId", ""), re.ASCII):
        faults.add("adNetworkId")
    unknown = {"campaignId"} if at == 5 else {"sourceIdentifier", "sourceDomain"}
    unknown |= {"sourceAppId"} if at == 0 else set()
    unknown |= {"fidelityType"} if at < 3 else set()
    faults |= unknown & body.keys()
    if at == 5:
        whole("sourceIdentifier", 0, 9999)
    else:
        whole("campaignId", 1, 100)
    whole("itunesItemId", 1, INT64)
    if web:
        if "sourceAppId" in body:
            faults |= {"sourceDomain", "sourceAppId"}
        if not is_domain(body["sourceDomain"]):
            faults.add("sourceDomain")
    elif at > 0:
        whole("sourceAppId", 0, INT64)
    if at > 2:
        whole("fidelityType", 1 if web else 0, 1, needed=not web)
    if not re.fullmatch(UUID, body.get("nonce", ""), re.ASCII):
        faults.add("nonce")
    whole("timestamp", 1, INT64)
    if "signature" not in body:
        faults.add("signature")
    return faults


def expect_skadnetwork(body: dict) -> ExpectedVerdict:
    body = {name: value for name, value in body.items() if value is not None}
    if "version" not in body:
        return ExpectedVerdict.rejected("malformed")
    if body["version"] not in VERSIONS:
        return ExpectedVerdict.rejected("unsupported_version", field="version")
    faults = faults_of(body)
    if faults:
        return ExpectedVerdict(False, frozenset(["malformed"]), frozenset(faults))
    known = body["adNetworkId"] in NETWORKS
    try:
        r, s = read_der(base64_strictly(body["signature"]))
        if not in_range(r, s, "secp256r1"):
            raise Refused("range")
    except Refused:
        return ExpectedVerdict.rejected("malformed_signature", *([] if known else ["unknown_key"]))
    if not known:
        return ExpectedVerdict.rejected("unknown_key")
    key = signer_of(body["adNetworkId"], r, s, message_of(body))
    return ExpectedVerdict(True, says={"keyId": key}) if key else ExpectedVerdict.rejected("bad_signature")


def good_skadnetwork(dice: random.Random, version: str) -> dict:
    at = VERSIONS.index(version)
    body = {"version": version, "adNetworkId": dice.choice(list(NETWORKS)), "itunesItemId": pick(dice, 1, INT64),
            "nonce": anycase_uuid(dice), "timestamp": pick(dice, 1, INT64)}
    if at == 5:
        body["sourceIdentifier"] = pick(dice, 0, 9999)
    else:
        body["campaignId"] = pick(dice, 1, 100)
    if at == 5 and dice.random() < 0.3:
        body["sourceDomain"] = dice.choice(["example.com", "xn--bcher-kva.de", "a-b.co.uk", "www.gov.uk", "9.example",
                                            "w" * 63 + ".example"])
    elif at:
        body["sourceAppId"] = dice.choice([0, pick(dice, 0, INT64)])
    if at > 2 and ("sourceDomain" not in body or dice.random() < 0.5):
        body["fidelityType"] = 1 if "sourceDomain" in body else dice.randint(0, 1)
    return body


def equivalent_notation(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    """Whole numbers as decimal text, the nonce in another case, additional nulls: the same impression."""
    sign(body, any_key(dice, body["adNetworkId"]))
    body["nonce"] = dice.choice([str.lower, str.upper])(body["nonce"])
    for name in [name for name in body if isinstance(body[name], int) and dice.random() < 0.5]:
        body[name] = str(body[name])
    for name in ("campaignId", "sourceIdentifier", "sourceAppId", "sourceDomain", "fidelityType"):
        if name not in body and dice.random() < 0.3:
            body[name] = None
    return "written-otherwise", body, True


def other_signer(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    network = body["adNetworkId"]
    other = next(name for name in NETWORKS if name != network)
    name, key = dice.choice([("stranger", STRANGER), ("other-network", any_key(dice, other)),
                             *([("revoked", KEYS[network]["2025-01"])] if "2025-01" in KEYS[network] else [])])
    return f"signer-{name}", sign(body, key), False


def unknown_network(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    body["adNetworkId"] = dice.choice(["example124.skadnetwork", "example123.adattributionkit", "example123", "x"])
    return "unknown-network", sign(body, KEYS["example123.skadnetwork"]["2026-07"]), False


def changed(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    """One value differs from the signed one."""
    sign(body, any_key(dice, body["adNetworkId"]))
    name = dice.choice([name for name in body if name not in ("signature", "version")])
    before = body[name]
    if isinstance(before, int):
        body[name] = dice.choice([before + 1, before - 1, before ^ 1, -before, before * 1000, 0, INT64])
        if name in ("campaignId", "sourceIdentifier", "fidelityType"):
            body[name] = max(-(1 << 31), min(body[name], (1 << 31) - 1))
        else:
            body[name] = max(-(1 << 63), min(body[name], INT64))
    elif name == "nonce":
        body[name] = dice.choice([anycase_uuid(dice), before.replace("-", ""), "{" + before + "}", before + " ", before[:-1], ""])
    else:
        body[name] = dice.choice([before + ".x", "x" + before, before.upper(), before + dice.choice(LOOKALIKES), "", before[:-1],
                                  "https://" + before, before + "/", before + ":443", "www." + before, before + "."])
    return f"changed-{name}", body, None if body[name] == before else False


def made_wrong(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    """A value that no impression of its version may have, which is signed if possible."""
    key = any_key(dice, body["adNetworkId"])
    name, value = dice.choice([
        ("campaignId", dice.choice([0, 101, -1, 7])), ("sourceIdentifier", dice.choice([-1, 10_000, 39])),
        ("sourceAppId", dice.choice([-1, 0, 5])), ("itunesItemId", dice.choice([0, -1])), ("fidelityType", dice.choice([-1, 0, 1, 2])),
        ("timestamp", dice.choice([0, -1])),
        ("sourceDomain", dice.choice(["Example.com", "example", "https://example.com", "example.com.", ".example.com", "a..b", "-a.com",
                                      "a-.com", "a_b.com", "127.0.0.1", "www.example.com", "example.com:443", "\u00fc.de", "example.com",
                                      "w" * 64 + ".com", ("w" * 63 + ".") * 4 + "com", ""])),
        ("nonce", dice.choice(["", "x", "68483ef6-0ada-40df-ab6b-8f44c8ed8d", "g8483ef6-0ada-40df-ab6b-8f44c8ed8d9e",
                               "68483ef60ada40dfab6b8f44c8ed8d9e", "68483ef6-0ada-40df-ab6b-8f44c8ed8d9e\u2063"])),
        ("adNetworkId", dice.choice(["Example123.skadnetwork", "EXAMPLE123.SKADNETWORK", "", "example123 .skadnetwork", "x" * 254,
                                     "example123.skadnetwork\u2063", "\u0435xample123.skadnetwork"]))])
    body[name] = value
    try:
        sign(body, key)
    except KeyError:
        sign(body, key, text=b"x")
    return f"made-wrong-{name}", body, None


def dropped(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    sign(body, any_key(dice, body["adNetworkId"]))
    name = dice.choice(list(body))
    value = body.pop(name)
    return f"without-{name}", body, bool(name == "fidelityType" and "sourceDomain" in body and value == 1)


def other_version(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    """Signed for its own version, or by the rules of another version."""
    sign(body, any_key(dice, body["adNetworkId"]))
    before = body["version"]
    body["version"] = dice.choice([*VERSIONS, "", "4", "4.0 ", "4.1", "5.0", "2.3", "04.0", "4.0\u0000", "\uff14.0", "2.1", "2.0"])
    return f"version-{body['version']!r}", body, None if body["version"] == before else False


def other_text(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    """Signed by the right key over a wrong text: every mistake that signers make."""
    words = [str(word) for word in signed_words(body)]
    text = SEPARATOR.join(words)
    name, other = dice.choice([
        ("trailing-separator", text + SEPARATOR), ("leading-separator", SEPARATOR + text), ("other-separator", "\u2062".join(words)),
        ("bar", "|".join(words)), ("no-separator", "".join(words)), ("newline", text + "\n"), ("bom", "\ufeff" + text),
        ("reversed", SEPARATOR.join(reversed(words))), ("shorter", SEPARATOR.join(words[:-1])),
        ("upper-nonce", text.replace(body["nonce"].lower(), body["nonce"].upper())),
        ("seconds", SEPARATOR.join([*words[:-1], str(body["timestamp"] // 1000)])),
        ("version-added", SEPARATOR.join([body["version"], *words])), ("without-first", SEPARATOR.join(words[1:])),
        ("fidelity-added", SEPARATOR.join([*words[:-1], "1", words[-1]])), ("empty-slot", SEPARATOR.join([*words[:4], "", *words[4:]]))])
    digest = dice.choice([None, None, None, hashes.SHA1(), hashes.SHA384(), hashes.SHA512()])
    if other == text and digest is None:
        digest = hashes.SHA384()
    return f"text-{name}", sign(body, any_key(dice, body["adNetworkId"]), other.encode(), digest), False


def signature_numbers(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    key = any_key(dice, body["adNetworkId"])
    if dice.random() < 0.3:
        name, r, s = signed_with_special_nonce(dice, key, message_of(body))
        still = True
    else:
        name, r, s, still = other_numbers(dice, *signed(key, message_of(body)), N)
    body["signature"] = base64_of(der(r, s))
    return f"numbers-{name}", body, still


def signature_form(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    r, s = signed(any_key(dice, body["adNetworkId"]), message_of(body))
    good = der(r, s)
    if dice.random() < 0.5:
        name, data = other_der(dice, r, s)
        body["signature"] = base64_of(data)
        return f"der-{name}", body, False
    text = base64_of(good)
    name, spelt = dice.choice([
        ("raw", base64_of(jws.raw(r, s))), ("url-alphabet", text.replace("+", "-").replace("/", "_")), ("unpadded", text.rstrip("=")),
        ("padded-more", text + "="), ("newline", text + "\n"), ("space", " " + text), ("hex", good.hex()),
        ("twice", base64_of(text.encode())), ("left-over", left_over(text)), ("empty", ""), ("nul", text + "\0"),
        ("data-url", "data:;base64," + text)])
    body["signature"] = spelt
    return f"base64-{name}", body, None if spelt == text else False


def bit_flipped(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    sign(body, any_key(dice, body["adNetworkId"]))
    data = bytearray(base64.b64decode(body["signature"]))
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    body["signature"] = base64_of(bytes(data))
    return "signature-bit", body, False


SKADNETWORK = {plain: 10, equivalent_notation: 4, other_signer: 3, unknown_network: 1, changed: 5, made_wrong: 6, dropped: 3, other_version: 3,
               other_text: 4, signature_numbers: 4, signature_form: 5, bit_flipped: 2}


def skadnetwork_impression_case(dice: random.Random, index: int) -> Case:
    mutation = dice.choices(list(SKADNETWORK), SKADNETWORK.values())[0]
    name, body, expected = mutation(dice, good_skadnetwork(dice, VERSIONS[index % len(VERSIONS)]))
    items = list(body.items())
    dice.shuffle(items)
    item = json.dumps({"skadnetworkImpression": dict(items)}, ensure_ascii=dice.random() < 0.5)
    return Case("skadnetwork-impressions", index, name, item, expect_skadnetwork(body), expected)
