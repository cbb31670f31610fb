"""Signed data of the App Store, and the changes that make it invalid."""

import json
import random

from SystemTests.differential.certificates import MIDDLE, chains, milliseconds
from SystemTests.differential.expected_verdict import Case

from .chains import certificate_bits, certificate_bytes, chain, chain_at_an_edge, jws_mutation, list_of_certificates, plain, spelt_certificate
from .payloads import (
    app_changed,
    bundle_changed,
    claim_changed,
    dates,
    environment_changed,
    field_dropped,
    field_of_another_kind,
    header_extra,
    header_odd,
    jwt_claims,
    nested,
    not_configured,
    objects,
    odd_payload,
    other_kind,
    requested_differently,
    sizes,
)
from .reference_verifier import expected_verdict
from .signed_data import KINDS, PAYLOADS, identity, transaction, without_none
from .subject import Subject

MUTATIONS = {plain: 8, jws_mutation: 16, chain: 14, chain_at_an_edge: 8, list_of_certificates: 4, spelt_certificate: 5, certificate_bits: 5,
             certificate_bytes: 3,
             claim_changed: 4, field_dropped: 3, field_of_another_kind: 3, bundle_changed: 4, app_changed: 3, environment_changed: 4,
             requested_differently: 3, not_configured: 3, dates: 5,
             jwt_claims: 1,
             odd_payload: 3,
             header_extra: 2, header_odd: 1, objects: 2, nested: 8, sizes: 1, other_kind: 2}


def made_case(dice: random.Random, index: int) -> Case:
    mutation = dice.choices(list(MUTATIONS), MUTATIONS.values())[0]
    kind = "notification" if mutation in (nested, objects) and dice.random() < 0.9 else KINDS[index % len(KINDS)]
    names = identity(dice)
    base = chains()[dice.choice(["plain", "plain-two", "second-intermediate", "short-leaf", "short-intermediate", "both-short"])]
    requested = without_none({"bundleId": names[0], "appAppleId": names[1], "environment": names[2]})
    match dice.randrange(4):
        case 0:
            requested = {}
        case 1:
            requested = {name: value for name, value in requested.items() if dice.random() < 0.5}
    subject = Subject(kind, PAYLOADS[kind](dice, *names), base, {"alg": "ES256", "x5c": list(base.x5c)}, requested, names)
    name, token, expected = mutation(dice, subject)
    item = {"signedData": token, "kind": subject.kind, **subject.requested}
    return Case("appstore", index, f"{name}-{kind}", json.dumps({"appStoreSignedData": item}),
                expected_verdict(token, subject.kind, subject.requested), expected)


def edge_cases() -> list[Case]:
    """Every chain in the middle of its validity, and around each moment at which a certificate begins or expires, before the path may have
    been cached and after: the cache must not affect the result."""
    dice = random.Random(0)
    moments = []
    for each in chains().values():
        # From the last to the first, so that nothing is cached before a moment within the validity.
        edges = [edge * 1000 + offset for edge in reversed(each.edges) for offset in (1000, 999, 1, 0, -1, -1000)]
        moments += [(each, moment) for moment in (*edges, milliseconds(MIDDLE), *edges)]
    made = []
    for index, (each, moment) in enumerate(moments):
        payload = transaction(dice, "com.example.app", 525463029, "Sandbox") | {"signedDate": moment}
        token = Subject("transaction", payload, each, {"alg": "ES256", "x5c": list(each.x5c)}, {}, ()).token()
        item = json.dumps({"appStoreSignedData": {"signedData": token, "kind": "transaction"}})
        made.append(Case("chains", index, f"{each.name}-at-{moment}", item, expected_verdict(token, "transaction", {}),
                         each.good if moment == milliseconds(MIDDLE) else None))
    return made
