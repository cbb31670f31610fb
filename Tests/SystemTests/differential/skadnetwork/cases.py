"""SKAdNetwork postbacks of every version, and the changes that make them invalid."""

import random

from SystemTests.differential.expected_verdict import Case
from SystemTests.differential.postbacks import (
    VERSIONS,
    expect_skadnetwork,
    item,
)

from .fields import (
    added,
    both_sources,
    both_values,
    bounds,
    changed,
    dropped,
    lenient,
    lookalike,
    not_json,
    number_spelling,
    other_text,
    other_version,
    plain,
    repeated,
    separator,
    similar_names,
    similar_values,
    surrogates,
    unsigned_added,
    unsigned_wrong,
    wrong_kind,
)
from .postbacks import good_skadnetwork
from .signatures import other_signer, signature_base64, signature_bit, signature_der, signature_numbers, signature_raw

SKADNETWORK = {plain: 8, lenient: 4, unsigned_added: 2, similar_names: 1, similar_values: 1, lookalike: 3, separator: 1, changed: 5,
               dropped: 3, added: 3, wrong_kind: 4, number_spelling: 3, repeated: 2, not_json: 2, surrogates: 1, bounds: 1,
               signature_numbers: 4,
               signature_der: 5, signature_raw: 1, signature_bit: 2, signature_base64: 3, other_signer: 2, other_text: 4,
               unsigned_wrong: 2, both_values: 1,
               both_sources: 1, other_version: 1}


def skadnetwork_case(dice: random.Random, index: int) -> Case:
    mutation = dice.choices(list(SKADNETWORK), SKADNETWORK.values())[0]
    name, text, expected = mutation(dice, good_skadnetwork(dice, VERSIONS[index % len(VERSIONS)]))
    return Case("skadnetwork", index, name, item(dice, "skadnetworkPostback", text), expect_skadnetwork(text), expected)
