"""Every postback and App Store vector through RPC and through the queue, with the outcome it names."""

import base64
import hashlib
import json
import pathlib
import secrets

import pytest
import yaml
from conftest import VECTORS, start_system, stop_system

REASONS = {  # Apple's names (cases.json) → spec/api.md's
    "INVALID_JWT_FORMAT": {"malformed_jws"}, "INVALID_ALGORITHM": {"unexpected_algorithm"},
    "INVALID_CHAIN_LENGTH": {"chain_length"}, "INVALID_CERTIFICATE": {"malformed_certificate"},
    "INVALID_CHAIN": {"chain_invalid"}, "INVALID_SIGNATURE": {"bad_signature", "malformed_signature"},
    "INVALID_APP_IDENTIFIER": {"wrong_app"}, "INVALID_ENVIRONMENT": {"wrong_environment"},
}


def load(name):
    return json.loads((VECTORS / name).read_text())


POSTBACKS = load("attribution/postbacks.json")
TEST_KEYS = POSTBACKS["publicKeys"]["test"]


def cases(keys):
    return [case for file in ("attribution/postbacks.json", "attribution/genuine.json") for case in load(file)["cases"]
            if case["keys"] == keys]


def configured(directory: pathlib.Path, **more) -> tuple[pathlib.Path, str]:
    token = secrets.token_hex(16)
    configuration = {
        "clients": [{"name": "tests", "tokenSHA256": hashlib.sha256(token.encode()).hexdigest(), "allow": ["attribution.*"]}],
        **more,
    }
    path = directory / "configuration.yaml"
    path.write_text(yaml.safe_dump(configuration))
    (directory / "token").write_text(token)
    return path, token


@pytest.fixture(scope="module")
def test_keys_system(tmp_path_factory):
    directory = tmp_path_factory.mktemp("vectors")
    path, token = configured(
        directory,
        appleKeys={"p192": TEST_KEYS["P-192"], "p256": TEST_KEYS["P-256"],
                   "kids": {kid: TEST_KEYS["P-256"] for kid in TEST_KEYS["kids"]}},
        appStore={"rootCertificates": [str(VECTORS / "appstore/certs/root-shared.der"),
                                       str(VECTORS / "appstore/certs/apple-mock-root.der")], "strictCertificates": False,
                  "receiptTransactionIds": 12_000})
    system = start_system(directory, "--config", str(path))
    system.token = token
    yield system
    stop_system(system)


METHODS = {"skadnetwork-postback": "VerifySKAdNetworkPostback", "adattributionkit-postback": "VerifyAdAttributionKitPostback"}


def check(verdict, expected):
    for name in ("valid", "reason", "field", "version", "environment"):
        if name in expected:
            assert verdict.get(name, False if name == "valid" else None) == expected[name], (name, verdict)


def ask(system, case):
    method = METHODS[case["kind"]]
    check(system.call("Verifier", method, {"postbackText": case["body"]}), case["expect"])
    try:
        parsed = json.loads(case["body"], object_pairs_hook=no_duplicates)
    except ValueError:
        return
    # As an object: Python writes the same numbers, so the verdict must be the same.
    check(system.call("Verifier", method, {"postback": parsed}), case["expect"])


def no_duplicates(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate")
    return dict(pairs)


def test_every_postback_signed_by_the_test_keys_gets_its_verdict_by_rpc(test_keys_system):
    for case in cases("test"):
        try:
            ask(test_keys_system, case)
        except AssertionError as error:
            raise AssertionError(case["id"]) from error


def test_every_genuine_postback_gets_its_verdict_by_rpc(system):
    for case in cases("apple"):
        try:
            ask(system, case)
        except AssertionError as error:
            raise AssertionError(case["id"]) from error


def test_every_postback_gets_its_verdict_through_the_queue(test_keys_system):
    system = test_keys_system
    feed = system.subscribe(start="beginning")
    expected = {}
    for case in cases("test"):
        answer = system.post("/v1/postbacks", case["body"])
        if answer.status == 400:
            # Not to be told apart or keyed at all: nothing was stored, and Apple never sends it.
            assert not case["expect"]["valid"], case["id"]
            continue
        assert answer.status == 200, (case["id"], answer)
        expected[answer.json["id"]] = case
    events = feed.wait_for(len(expected), seconds=60, settle=1.5)
    rejected = {event["data"]["deliveryId"]: event for event in events if event["type"].endswith(".rejected.v1")}
    for id, case in expected.items():
        state = system.call("Ingest", "GetDelivery", {"id": id})
        if case["expect"]["valid"]:
            assert state["state"] == "verified", (case["id"], state)
        else:
            assert state["state"] == "rejected", (case["id"], state)
            assert rejected[id]["data"]["reason"] == case["expect"]["reason"], (case["id"], rejected[id])
    verified = [event["id"] for event in events if event["type"].endswith(".verified.v1")]
    assert len(verified) == len(set(verified)), "an event twice"
    feed.delete()


def test_app_store_signed_data_gets_its_verdict_by_rpc(test_keys_system, tmp_path_factory):
    seen = 0
    for case in load("appstore/cases.json")["cases"]:
        inputs = case["inputs"]
        if case["kind"] not in ("notification", "transaction", "renewalInfo", "appTransaction", "realtimeRequest"):
            continue
        roots = [pathlib.Path(root).name for root in inputs.get("roots", [])]
        if not roots or not set(roots) <= {"root-shared.der", "apple-mock-root.der"} or inputs["environment"] in ("Xcode", "LocalTesting"):
            continue
        message = {"signedData": (VECTORS / "appstore" / case["file"]).read_text().strip(), "kind": case["kind"],
                   "environment": inputs["environment"], "bundleId": inputs["bundleId"]}
        if inputs.get("appAppleId"):
            message["appAppleId"] = inputs["appAppleId"]
        verdict = test_keys_system.call("Verifier", "VerifyAppStoreSignedData", message)
        expect = case["expect"]
        seen += 1
        if expect["result"] == "valid":
            assert verdict.get("valid") is True, (case["id"], verdict)
            for name, value in expect.get("claims", {}).items():
                assert verdict["payload"][name] == value, case["id"]
        elif expect["result"] == "error":
            assert not verdict.get("valid") and verdict["reason"] in REASONS[expect["error"]], (case["id"], verdict)
    assert seen > 15


def test_a_receipt_gives_its_transaction_ids(test_keys_system):
    receipt = (VECTORS / "appstore/apple/xcode-app-receipt-with-transaction").read_text().strip()
    answer = test_keys_system.call("Verifier", "ExtractTransactionIds", {"appReceipt": receipt})
    assert answer["transactionIds"] == ["0"]
    legacy = (VECTORS / "appstore/apple/legacyTransaction").read_text().strip()
    answer = test_keys_system.call("Verifier", "ExtractTransactionIds", {"transactionReceipt": legacy})
    assert answer["transactionIds"] == ["33993399"]
    base64.b64decode(legacy, validate=True)


def test_thousands_of_transaction_ids_are_each_named_once_in_their_order(test_keys_system):
    originals = [str(1_000_000 + number % 3000) for number in range(6000)]
    answer = test_keys_system.call("Verifier", "ExtractTransactionIds", {"verifyReceiptResponse": {"latest_receipt_info": [
        {"original_transaction_id": original, "transaction_id": f"{original}{number}"} for number, original in enumerate(originals)]}})
    assert answer["originalTransactionIds"] == list(dict.fromkeys(originals))
    assert answer["transactionIds"] == [f"{original}{number}" for number, original in enumerate(originals)]
    # As many as the configuration allows.
    assert len(answer["found"]) == 12_000 and not answer.get("truncated")
    answer = test_keys_system.call("Verifier", "ExtractTransactionIds", {"verifyReceiptResponse": {
        "latest_receipt_info": [{"original_transaction_id": original, "transaction_id": f"{original}0"} for original in originals],
        "pending_renewal_info": [{"original_transaction_id": "1"}]}})
    assert len(answer["found"]) == 12_000 and answer["truncated"] is True and "1" not in answer["originalTransactionIds"]
