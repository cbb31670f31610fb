"""AdAttributionKit impressions, the changes that make them invalid, and a reference verifier (Apple's page Generating JWS impressions)."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

from SystemTests.differential.skadnetwork.fields import WRONG_KINDS
from SystemTests.differential.skadnetwork.postbacks import anycase_uuid, pick

from . import jws, jws_mutations
from .expected_verdict import Case, Changed, ExpectedVerdict, Refused
from .impression_keys import KEYS, NETWORKS, STRANGER, UUID, any_key, signer_of
from .postbacks import INT64
from .signatures import (
    in_range,
)

# --- AdAttributionKit -----------------------------------------------------------------------------------------------------


def expect_ad_attribution_kit(token: str) -> ExpectedVerdict:
    try:
        parsed = jws.parse(token)
    except Refused:
        return ExpectedVerdict.rejected("malformed_jws")
    if "crit" in parsed.header:
        return ExpectedVerdict.rejected("malformed_jws", "unexpected_algorithm")
    algorithm, network = parsed.header.get("alg"), parsed.header.get("kid")
    if algorithm != "ES256":
        return ExpectedVerdict.rejected("unexpected_algorithm", *([] if isinstance(algorithm, str) else ["malformed_jws"]))
    if set(parsed.header) - {"alg", "kid"}:
        # Apple defines no other members for impressions.
        return ExpectedVerdict.rejected("malformed_jws")
    if not isinstance(network, str) or network not in NETWORKS:
        return ExpectedVerdict.rejected("unknown_key", *([] if isinstance(network, str) else ["malformed_jws"]))
    r, s = int.from_bytes(parsed.signature[:32], "big"), int.from_bytes(parsed.signature[32:], "big")
    if len(parsed.signature) != 64 or not in_range(r, s, "secp256r1"):
        return ExpectedVerdict.rejected("malformed_signature")
    try:
        claims = parsed.payload()
    except Refused:
        return ExpectedVerdict.rejected("malformed_jws")
    key = signer_of(network, r, s, parsed.signing_input)
    if not key:
        return ExpectedVerdict.rejected("bad_signature")
    faults = set()

    def needs(name: str, good: Callable[[Any], object]) -> None:
        if not good(claims.get(name)):
            faults.add(name)

    def whole(low: int, high: int) -> Callable[[Any], bool]:
        # A device expects numbers here, not text.
        return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    needs("impression-identifier", lambda value: isinstance(value, str) and re.fullmatch(UUID, value, re.ASCII))
    needs("publisher-item-identifier", whole(0, INT64))
    needs("impression-type", lambda value: value == "app-impression")
    needs("ad-network-identifier", lambda value: value == network)
    needs("source-identifier", whole(0, 9999))
    needs("timestamp", whole(1, INT64))
    needs("advertised-item-identifier", whole(1, INT64))
    if "eligible-for-re-engagement" in claims:
        needs("eligible-for-re-engagement", lambda value: isinstance(value, bool))
    if faults:
        return ExpectedVerdict(False, frozenset(["malformed"]), frozenset(faults))
    return ExpectedVerdict(True, says={"keyId": key})


def maker(dice: random.Random) -> jws.Maker:
    network = dice.choice(list(NETWORKS))
    claims = {"impression-identifier": anycase_uuid(dice), "publisher-item-identifier": dice.choice([0, pick(dice, 0, INT64)]),
              "impression-type": "app-impression", "ad-network-identifier": network, "source-identifier": pick(dice, 0, 9999),
              "timestamp": pick(dice, 1, INT64), "advertised-item-identifier": pick(dice, 1, INT64)}
    if dice.random() < 0.3:
        claims["eligible-for-re-engagement"] = dice.random() < 0.7
    other = next(name for name in NETWORKS if name != network)
    others = [STRANGER, *KEYS[other].values()]
    if "2025-01" in KEYS[network]:
        others.append(KEYS[network]["2025-01"])
    return jws.Maker({"alg": "ES256", "kid": network}, claims, any_key(dice, network), others)


def aak_plain(_dice: random.Random, made: jws.Maker) -> Changed:
    return "plain", made.made(), True


def kid_changed(dice: random.Random, made: jws.Maker) -> Changed:
    other = next(name for name in NETWORKS if name != made.header["kid"])
    kid = dice.choice([other, made.header["kid"].upper(), made.header["kid"] + " ", "../" + made.header["kid"], "", None, 5, [], "absent",
                       made.header["kid"] + "\u0000", "apple-cas-identifier/0"])
    if kid == "absent":
        del made.header["kid"]
    else:
        made.header["kid"] = kid
    return f"kid-{str(kid)[:40]!r}", made.made(), False


def header_extra(dice: random.Random, made: jws.Maker) -> Changed:
    """Adds a member to the header's alg and kid, and signs with the right key or another one."""
    if dice.random() < 0.3:
        made.key = dice.choice(made.other_keys)
    name, value = dice.choice([("typ", "JWT"), ("cty", "json"), ("jku", "https://example.com/keys"), ("x5c", []), ("zip", "DEF"), ("b64", True),
                               ("Alg", "ES256"), ("Kid", made.header["kid"]), ("kid ", None), ("", 1)])
    made.header[name] = value
    return f"header-extra-{name}", made.made(), False


def claim_changed(dice: random.Random, made: jws.Maker) -> Changed:
    def change(claims: dict) -> str:
        name = dice.choice(list(claims))
        before = claims[name]
        claims[name] = not before if isinstance(before, bool) else before - 1 if isinstance(before, int) else before + "x"
        return name
    return jws_mutations.changed_after(dice, made, change)


def claim_dropped(dice: random.Random, made: jws.Maker) -> Changed:
    name = dice.choice(list(made.payload))
    del made.payload[name]
    return f"without-{name}", made.made(), name == "eligible-for-re-engagement"


def claim_wrong(dice: random.Random, made: jws.Maker) -> Changed:
    name = dice.choice(list(made.payload))
    made.payload[name] = dice.choice([*WRONG_KINDS, None, -1, 0, 1, 9999, 10_000, INT64, INT64 + 1, "5", "", True, 1.0, 5e3])
    return f"claim-{name}-{made.payload[name]!r}", made.made(), None


def number_spelling(dice: random.Random, made: jws.Maker) -> Changed:
    """A number in a notation that JSON allows or does not allow."""
    name = dice.choice(["publisher-item-identifier", "source-identifier", "timestamp", "advertised-item-identifier"])
    spelt = dice.choice(["5.0", "5e0", "0.5e1", "-0", "05", "+5", "5.", "5E+0", "0x5", "5.5", "9223372036854775808", "1" + "0" * 400])
    made.payload_text = jws.compact(made.payload | {name: "HERE"}).replace('"HERE"', spelt)
    return f"number-{name}-{spelt[:30]}", made.made(), None


def claim_added(dice: random.Random, made: jws.Maker) -> Changed:
    made.payload |= {"new-claim": dice.choice([1, "x", None, [1], {"a": {}}]), "Impression-Type": "x"}
    return "claim-added", made.made(), True


def jws_mutation(dice: random.Random, made: jws.Maker) -> Changed:
    return dice.choice(jws_mutations.MUTATIONS)(dice, made)


AAK = {aak_plain: 8, jws_mutation: 20, kid_changed: 3, header_extra: 2, claim_changed: 3, claim_dropped: 3, claim_wrong: 4, number_spelling: 2,
       claim_added: 1}


def ad_attribution_kit_impression_case(dice: random.Random, index: int) -> Case:
    mutation = dice.choices(list(AAK), AAK.values())[0]
    name, token, expected = mutation(dice, maker(dice))
    item = json.dumps({"adAttributionKitImpression": {"jws": token}}, ensure_ascii=dice.random() < 0.5)
    return Case("adattributionkit-impressions", index, name, item, expect_ad_attribution_kit(token), expected)
