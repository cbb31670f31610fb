"""A signing call that is repeated with its Idempotency-Key."""

import json
import random
import uuid

from .signed_impressions import KINDS


def test_a_large_batch_is_signed_again_and_a_small_one_replayed(system):
    chance = random.Random(3)
    items = [{"skadnetwork": KINDS["skadnetwork"][0](chance)} for _ in range(400)]
    for count, is_replayed in ((1, True), (400, False)):
        key, message = uuid.uuid4().hex, {"items": items[:count]}
        first = system.rpc("Signer", "SignImpressions", message, key=key)
        again = system.rpc("Signer", "SignImpressions", message, key=key)
        assert first.status == again.status == 200
        assert (len(first.body) > 64 * 1024) == (count == 400)
        assert (again.headers.get("Idempotency-Replayed") == "true") == is_replayed
        # Signatures are random: the same bytes come only from the store.
        assert (first.json == again.json) == is_replayed
        reused = system.rpc("Signer", "SignImpressions", {"items": items[:count] + items[:1]}, key=key)
        assert reused.status == 400 and "IDEMPOTENCY_KEY_REUSED" in json.dumps(reused.json)
