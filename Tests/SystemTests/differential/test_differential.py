"""The verifier compared with references that share no code with it: Python's `cryptography` for postbacks and impressions, Apple's own
library for the App Store. Thousands of cases are generated from a seed; every case that only one of them rejects is reported.

ATTRIBUTION_SEED repeats a run, ATTRIBUTION_CASE=group:index one case of it, ATTRIBUTION_SOAK=1 makes it long."""

import base64
import collections
import json
import os
import random
import re

import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key

from SystemTests.support.running_system import start_system, stop_system
from SystemTests.verifier.test_vectors import TEST_KEYS, configured, load

from . import (
    ad_attribution_kit_cases,
    ad_attribution_kit_impressions,
    certificates,
    impression_keys,
    postbacks,
    regression_cases,
)
from .app_store import cases as app_store_cases
from .app_store import signed_data as app_store
from .skadnetwork import cases as skadnetwork_cases
from .skadnetwork import impressions as skadnetwork_impressions

SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
ONLY = os.environ.get("ATTRIBUTION_CASE", "")
# The number of items in a batch.
AT_ONCE = 250
# The maximum number of kinds of disagreement in a failure.
SHOWN = int(os.environ.get("ATTRIBUTION_SHOWN", "12"))


@pytest.fixture(scope="module")
def verifier(tmp_path_factory):
    directory = tmp_path_factory.mktemp("differential")
    (directory / "root.der").write_bytes(certificates.ROOT.der)
    path, token = configured(directory, appleKeys=postbacks.CONFIGURATION, apps=app_store.CONFIGURATION,
                             adNetworks=impression_keys.configuration(directory),
                             appStore={"rootCertificates": [str(directory / "root.der")], "strictCertificates": True})
    system = start_system(directory, "--config", str(path))
    system.token = token
    yield system
    stop_system(system)


def objection(case, result: dict) -> str | None:
    """Why the verdict of verifier, or of the reference verifier, is wrong; None if both are right."""
    expected = case.expected_verdict
    if case.expected is not None and expected.valid != case.expected:
        return f"the reference verifier is wrong: {expected}, made to be {'verified' if case.expected else 'rejected'}"
    (tag, verdict), = result.items()
    if tag == "error":
        refused = verdict["code"] == "invalid_argument" and not expected.valid
        return None if refused else f"error {verdict}"
    if bool(verdict.get("valid")) != expected.valid:
        return "verdicts differ"
    if expected.valid:
        # An empty list is left out of an answer.
        said = {name: verdict.get(name, [] if value == [] else None) for name, value in expected.says.items()}
        wrong = {name: value for name, value in said.items() if value != expected.says[name]}
        return f"says {wrong}" if wrong or "reason" in verdict else None
    if expected.reasons and verdict["reason"] not in expected.reasons:
        return "reasons differ"
    if verdict["reason"] == "malformed" and expected.fields and verdict.get("field") not in expected.fields:
        return "fields differ"
    return None


def readable(item: str) -> str:
    """The item, with its tokens decoded and certificates replaced by their lengths."""
    def read(part: str) -> str:
        try:
            text = base64.urlsafe_b64decode(part + "===").decode(errors="replace")
        except ValueError:
            return part[:200]
        return re.sub(r'"([A-Za-z0-9+/=]{300,})"', lambda found: f'"({len(found[1])} characters)"', text)[:1500]

    tokens = [token for token in re.findall(r"[\w-]+\.[\w-]+\.[\w-]+", item) if len(token) > 200]
    return item[:6000] + "".join(f"\n  token    {' . '.join(read(part) for part in token.split('.')[:2])}" for token in tokens[:1])


def report(group: str, alike: list) -> str:
    """How to repeat the first of several similar disagreements, with both verdicts."""
    case, wrong, result = alike[0]
    return (f"ATTRIBUTION_SEED={SEED} ATTRIBUTION_CASE={group}:{case.index} ({case.name}, {len(alike)} like it): {wrong}\n"
            f"  expected {case.expected_verdict}\n  verifier {json.dumps(result)[:600]}\n  item     {readable(case.item)}")


def assert_same_verdicts(verifier, group: str, make, count: int, at_once: int = AT_ONCE) -> None:
    """Fails with a report if verifier's verdict on one of `count` generated cases, or that of the reference verifier, is wrong."""
    indices = [int(ONLY.split(":")[1])] if ONLY.startswith(group + ":") else [] if ONLY else range(count)
    counts, rules, objections = collections.Counter(), collections.Counter(), {}
    for start in range(0, len(indices), at_once):
        made = [make(random.Random(f"{SEED}:{group}:{index}"), index) for index in indices[start:start + at_once]]
        body = '{"items":[' + ",".join(case.item for case in made) + "]}"
        answer = verifier.rpc("Verifier", "VerifyBatch", body.encode())
        assert answer.status == 200, (SEED, group, start, answer)
        results = answer.json["results"]
        assert len(results) == len(made), (SEED, group, start)
        for case, result in zip(made, results, strict=True):
            counts["verified" if case.expected_verdict.valid else "rejected"] += 1
            if case.expected_verdict.rule:
                rules[case.expected_verdict.rule] += 1
            wrong = objection(case, result)
            if wrong:
                objections.setdefault((wrong[:40], case.name), []).append((case, wrong, result))
    print(f"seed {SEED}, {group}: {dict(counts)}, overruled {dict(rules)}")
    if objections:
        shown = "\n\n".join(report(group, alike) for alike in list(objections.values())[:SHOWN])
        pytest.fail(f"seed {SEED}: {sum(map(len, objections.values()))} disagreements of {len(objections)} kinds\n\n{shown}", pytrace=False)
    assert ONLY or min(counts["verified"], counts["rejected"]) > len(indices) // 10, (SEED, counts)


class PublicKeyOnly:
    """Stands in for a private key whose public key alone is known."""

    def __init__(self, text: str):
        self.key = load_der_public_key(base64.b64decode(text))

    def public_key(self):
        return self.key


def test_the_reference_verifier_of_postbacks_agrees_with_the_vectors(monkeypatch):
    references = {"skadnetwork-postback": postbacks.expect_skadnetwork, "adattributionkit-postback": postbacks.expect_ad_attribution_kit}
    for file, keys in TEST_KEYS.items():
        small, large = PublicKeyOnly(keys["P-192"]), PublicKeyOnly(keys["P-256"])
        monkeypatch.setattr(postbacks, "signing_key", lambda version, small=small, large=large: small if version in ("1.0", "2.0") else large)
        monkeypatch.setattr(postbacks, "KID_KEYS", dict.fromkeys(keys["kids"], large))
        for case in (one for one in load(file)["cases"] if one["keys"] == "test"):
            expected, expect = references[case["kind"]](case["body"]), case["expect"]
            assert expected.valid == expect["valid"], case["id"]
            if expected.valid:
                assert expected.says["unusable"] == expect.get("unusable", []), (case["id"], expected)
            else:
                assert expect["reason"] in expected.reasons, (case["id"], expected)
                assert not expected.fields or expect.get("field") in (None, *expected.fields), (case["id"], expected)


def test_skadnetwork_postbacks_get_the_verdict_of_the_reference_verifier(verifier):
    assert_same_verdicts(verifier, "skadnetwork", skadnetwork_cases.skadnetwork_case, 20_000 if SOAK else 600)


def test_adattributionkit_postbacks_get_the_verdict_of_the_reference_verifier(verifier):
    assert_same_verdicts(verifier, "adattributionkit", ad_attribution_kit_cases.ad_attribution_kit_case, 15_000 if SOAK else 450)


def test_skadnetwork_impressions_get_the_verdict_of_the_reference_verifier(verifier):
    assert_same_verdicts(verifier, "skadnetwork-impressions", skadnetwork_impressions.skadnetwork_impression_case, 20_000 if SOAK else 1500)


def test_adattributionkit_impressions_get_the_verdict_of_the_reference_verifier(verifier):
    assert_same_verdicts(verifier, "adattributionkit-impressions", ad_attribution_kit_impressions.ad_attribution_kit_impression_case,
                         15_000 if SOAK else 1500)


def test_chains_get_the_same_verdict_before_and_after_their_path_is_cached(verifier):
    """One at a time, in order: the limits of a chain's validity, its middle, its limits again."""
    made = app_store_cases.edge_cases()
    assert_same_verdicts(verifier, "chains", lambda _dice, index: made[index], len(made), at_once=1)


def test_inputs_whose_verdicts_once_differed_get_the_verdict_of_the_reference_verifier(verifier):
    made = regression_cases.cases()
    assert_same_verdicts(verifier, "regressions", lambda _dice, index: made[index], len(made))


def test_a_notification_that_carries_an_app_transaction_shows_it_decoded(verifier):
    date = certificates.milliseconds(certificates.MIDDLE)
    inner = {"bundleId": "com.example.app", "receiptType": "Sandbox", "receiptCreationDate": date, "appTransactionId": "7"}
    token = app_store.signed_token(
        {"notificationUUID": "1", "notificationType": "RESCIND_CONSENT", "signedDate": date,
         "appData": {"bundleId": "com.example.app", "environment": "Sandbox",
                     "signedAppTransactionInfo": app_store.signed_token(inner, certificates.chains()["plain"])}},
        certificates.chains()["plain"])
    verdict = verifier.call("Verifier", "VerifyAppStoreSignedData", {"signedData": token, "kind": "notification"})
    assert verdict["valid"] is True and verdict["appTransactionInfo"] == inner


def test_app_store_data_gets_the_verdict_of_apples_library(verifier):
    assert_same_verdicts(verifier, "appstore", app_store_cases.made_case, 15_000 if SOAK else 500)
