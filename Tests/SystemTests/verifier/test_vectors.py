"""Every postback and App Store vector through RPC and through the queue, with the outcome that it names."""

import base64
import hashlib
import json
import os
import pathlib
import secrets
import subprocess
import time

import pytest
import yaml

from SystemTests.support.running_system import ROOT, VECTORS, start_system, stop_system, verifier_under

# The verdict's reasons for each error name of Apple's library in appstore/cases.json.
REASONS = {
    "INVALID_JWT_FORMAT": {"malformed_jws"}, "INVALID_ALGORITHM": {"unexpected_algorithm"},
    "INVALID_CHAIN_LENGTH": {"chain_length"}, "INVALID_CERTIFICATE": {"malformed_certificate"},
    "INVALID_CHAIN": {"chain_invalid"}, "INVALID_SIGNATURE": {"bad_signature", "malformed_signature"},
    "INVALID_APP_IDENTIFIER": {"wrong_app"}, "INVALID_ENVIRONMENT": {"wrong_environment"},
}


def load(name):
    return json.loads((VECTORS / name).read_text())


APPLES_P256 = ("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWdp8GPcGqmhgzEFj9Z2nSpQVddayaPe4FMzqM9wib1+aHaaIzoHoLN9zW4K8y4SPykE3YVK3sVqW6Af0lfx3gg==")
# Each file has its own test keys.
TEST_KEYS = {file: load(file)["publicKeys"]["test"] for file in ("attribution/postbacks.json", "attribution/unsigned-values.json")}
P256S = [keys["P-256"] for keys in TEST_KEYS.values()]


def cases(keys):
    return [case for file in (*TEST_KEYS, "attribution/genuine.json") for case in load(file)["cases"] if case["keys"] == keys]


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
def system_with_test_keys(tmp_path_factory):
    directory = tmp_path_factory.mktemp("vectors")
    path, token = configured(
        directory,
        appleKeys={"p192": [keys["P-192"] for keys in TEST_KEYS.values()], "p256": P256S,
                   "kids": {kid: P256S for keys in TEST_KEYS.values() for kid in keys["kids"]}},
        appStore={"rootCertificates": [str(VECTORS / "appstore/certs/root-shared.der"),
                                       str(VECTORS / "appstore/certs/apple-mock-root.der")], "strictCertificates": False,
                  "receiptTransactionIds": 12_000},
        apps=[{"bundleId": "com.example", "appAppleId": 1234, "environments": ["Sandbox"]},
              {"bundleId": "com.example.app", "appAppleId": 1234567890, "environments": ["Production", "Sandbox"]}])
    system = start_system(directory, "--config", str(path))
    system.token = token
    yield system
    stop_system(system)


@pytest.fixture(scope="module")
def system_with_apples_keys(tmp_path_factory):
    directory = tmp_path_factory.mktemp("genuine")
    # One key is named, the others are Apple's published ones.
    path, token = configured(directory, appleKeys={"p256": APPLES_P256}, appStore={"acceptsXcodeData": True})
    system = start_system(directory, "--config", str(path))
    system.token = token
    yield system
    stop_system(system)


METHODS = {"skadnetwork-postback": "VerifySKAdNetworkPostback", "adattributionkit-postback": "VerifyAdAttributionKitPostback"}


def check(verdict, expected):
    for name in ("valid", "reason", "field", "version", "environment"):
        if name in expected:
            assert verdict.get(name, False if name == "valid" else None) == expected[name], (name, verdict)
    check_values(verdict, expected)


def check_values(data: dict, expected: dict) -> None:
    """The unsigned values of a verdict or of an event, if it is valid."""
    if expected["valid"]:
        unusable = expected.get("unusable", [])
        assert data.get("unusable", []) == unusable, data
        assert not set(unusable) & data["postback"].keys() and set(unusable) <= data.get("unsigned", {}).keys(), data
        assert data["postback"].items() >= expected.get("typed", {}).items(), data
        assert not {"campaign-id", "ip"} & data.get("unsigned", {}).keys(), data


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


def test_every_postback_signed_by_the_test_keys_gets_its_verdict_by_rpc(system_with_test_keys):
    for case in cases("test"):
        try:
            ask(system_with_test_keys, case)
        except AssertionError as error:
            raise AssertionError(case["id"]) from error


def test_every_genuine_postback_gets_its_verdict_by_rpc(system):
    for case in cases("apple"):
        try:
            ask(system, case)
        except AssertionError as error:
            raise AssertionError(case["id"]) from error


# Inputs that cannot be queued, because their kind, or the postback that they copy, cannot be determined. Apple never sends them.
REFUSED = {f"{version}-no-{field}" for version in ("1.0", "2.0", "2.1", "2.2", "3.0", "4.0") for field in ("signature", "transaction")} | {
    "aak-no-identifier", "aak-no-jws", "aak-padding", "aak-payload-array", "aak-payload-duplicate-key", "aak-two-parts", "duplicate-key"}


def outcome(system, id: str) -> dict:
    """The outcome of a delivery, as soon as it is known."""
    until = time.monotonic() + 30
    while (state := system.call("Ingest", "GetDelivery", {"id": id}))["state"] in ("accepted", "processing") and time.monotonic() < until:
        time.sleep(0.05)
    return state


@pytest.mark.parametrize("keys, name", [("test", "system_with_test_keys"), ("apple", "system_with_apples_keys")])
def test_every_postback_gets_its_verdict_through_the_queue(keys, name, request):
    system = request.getfixturevalue(name)
    feed = system.subscribe(start="beginning")
    expected, refused = {}, set()
    for case in cases(keys):
        answer = system.post("/v1/postbacks", case["body"])
        if answer.status == 400:
            refused.add(case["id"])
            continue
        assert answer.status == 200, (case["id"], answer)
        expected.setdefault(answer.json["id"], case)
    assert refused == (REFUSED if keys == "test" else set())
    named = set()
    for id, case in expected.items():
        expect, state = case["expect"], outcome(system, id)
        event = system.call("Events", "GetEvent", {"id": state["eventId"]})["event"]
        named.add(event["id"])
        if keys == "apple" and event["data"].get("reason") == "conflicting_unsigned":
            # Apple's examples share a transaction, and another value was counted with it.
            assert expect["valid"] and state["state"] == "rejected", (case["id"], event)
            continue
        assert state["state"] == ("verified" if expect["valid"] else "rejected"), (case["id"], state)
        assert event["type"].endswith(f".{state['state']}.v1"), (case["id"], event)
        if event["data"]["deliveryId"] != id:
            # Apple's examples share a transaction: the first of them was counted.
            assert expect["valid"] and keys == "apple", (case["id"], event)
            continue
        for field in ("reason", "field", "version", "environment"):
            assert field not in expect or event["data"].get(field) == expect[field], (case["id"], field, event)
        check_values(event["data"], expect)
        if expect["valid"]:
            assert event["data"]["unsigned"].items() <= json.loads(case["body"]).items() and "ip" not in event["data"]["postback"], event
    events = [event["id"] for event in feed.wait_for(len(named), settle=1.5)]
    assert len(events) == len(set(events)) and set(events) == named, "an event twice, or one of nothing"
    feed.delete()


def test_every_notification_gets_its_verdict_through_the_queue(system_with_test_keys):
    system, seen = system_with_test_keys, {}
    for case in load("appstore/cases.json")["cases"]:
        # An environment can only differ from the caller's request; there is none here.
        if case["kind"] == "notification" and case["expect"].get("error") != "INVALID_ENVIRONMENT":
            seen.setdefault(case["file"], case)
            if case["expect"]["result"] == "valid":
                seen[case["file"]] = case
    expected = {}
    for file, case in seen.items():
        token = (VECTORS / "appstore" / file).read_text().strip()
        answer = system.post("/v1/app-store/notifications", json.dumps({"signedPayload": token}))
        if answer.status == 400:
            assert case["expect"].get("error") == "INVALID_JWT_FORMAT", (case["id"], answer)
            continue
        assert answer.status == 200, (case["id"], answer)
        expected[answer.json["id"]] = case
    assert len(expected) > 6
    named = {}
    for id, case in expected.items():
        expect, state = case["expect"], outcome(system, id)
        assert state["state"] == ("verified" if expect["result"] == "valid" else "rejected"), (case["id"], state)
        event = system.call("Events", "GetEvent", {"id": state["eventId"]})["event"]
        named.setdefault(event["id"], (event["data"]["deliveryId"], []))[1].append(id)
        assert expect["result"] == "valid" or event["data"]["reason"] in REASONS[expect["error"]], (case["id"], event)
    # Two pairs of the cases share a number: all were verified, and one of each pair was counted.
    assert all(counted in ids for counted, ids in named.values())
    assert sorted(len(ids) for _, ids in named.values() if len(ids) > 1) == [2, 2]


def test_a_certificate_that_is_not_a_root_is_refused_at_start(system_with_apples_keys, tmp_path):
    # If it were ignored, every notification would be rejected.
    header = (VECTORS / "appstore/apple/testNotification").read_text().split(".")[0]
    intermediate = tmp_path / "intermediate.der"
    intermediate.write_bytes(base64.b64decode(json.loads(base64.urlsafe_b64decode(header + "=="))["x5c"][1]))
    path, _ = configured(tmp_path, appStore={"rootCertificates": [str(intermediate)]})
    run = verifier_under(system_with_apples_keys, path)
    assert run.returncode == 78 and "appStore.rootCertificates[0]" in run.stderr and "is not self-signed" in run.stderr, run.stderr
    # Notification-recovery verifies Apple's answers with the same roots.
    executable = ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug") / "notification-recovery"
    checked = subprocess.run([executable, "check-configuration", path], capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 78 and "is not self-signed" in checked.stdout + checked.stderr, checked


def test_a_root_that_is_not_apples_is_reported_at_start(system_with_test_keys, system_with_apples_keys):
    def warnings(system) -> list[str]:
        log = (system.data / f"run-{system.port_base}" / "verifier.log").read_text()
        return [line for line in log.splitlines() if "a root certificate that is not Apple's is trusted" in line]

    assert len(warnings(system_with_test_keys)) == 2 and "appStore.rootCertificates[0]" in warnings(system_with_test_keys)[0]
    assert warnings(system_with_apples_keys) == []


def test_app_store_signed_data_gets_its_verdict_by_rpc(system_with_test_keys, tmp_path_factory):
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
        verdict = system_with_test_keys.call("Verifier", "VerifyAppStoreSignedData", message)
        expect = case["expect"]
        seen += 1
        if expect["result"] == "valid":
            assert verdict.get("valid") is True, (case["id"], verdict)
            for name, value in expect.get("claims", {}).items():
                assert verdict["payload"][name] == value, case["id"]
        elif expect["result"] == "error":
            assert not verdict.get("valid") and verdict["reason"] in REASONS[expect["error"]], (case["id"], verdict)
    assert seen > 15


def test_xcode_data_is_accepted_only_if_configured(system_with_test_keys, system_with_apples_keys):
    seen = 0
    for case in load("appstore/cases.json")["cases"]:
        if case.get("inputs", {}).get("environment") not in ("Xcode", "LocalTesting") or case["kind"] not in ("transaction", "renewalInfo"):
            continue
        seen += 1
        message = {"signedData": (VECTORS / "appstore" / case["file"]).read_text().strip(), "kind": case["kind"],
                   "environment": case["inputs"]["environment"], "bundleId": case["inputs"]["bundleId"]}
        assert case["expect"]["result"] == "valid"
        assert system_with_apples_keys.call("Verifier", "VerifyAppStoreSignedData", message).get("valid") is True, case["id"]
        assert not system_with_test_keys.call("Verifier", "VerifyAppStoreSignedData", message).get("valid"), case["id"]
        # If an environment of Apple's is requested, the data must be Apple's.
        assert not system_with_apples_keys.call("Verifier", "VerifyAppStoreSignedData", {**message, "environment": "Production"}).get("valid")
    assert seen == 2


def test_a_receipt_gives_its_transaction_ids(system_with_test_keys):
    receipt = (VECTORS / "appstore/apple/xcode-app-receipt-with-transaction").read_text().strip()
    answer = system_with_test_keys.call("Verifier", "ExtractTransactionIds", {"appReceipt": receipt})
    assert answer["transactionIds"] == ["0"]
    legacy = (VECTORS / "appstore/apple/legacyTransaction").read_text().strip()
    answer = system_with_test_keys.call("Verifier", "ExtractTransactionIds", {"transactionReceipt": legacy})
    assert answer["transactionIds"] == ["33993399"]
    base64.b64decode(legacy, validate=True)


def test_thousands_of_transaction_ids_are_returned_once_each_in_order(system_with_test_keys):
    originals = [str(1_000_000 + number % 3000) for number in range(6000)]
    answer = system_with_test_keys.call("Verifier", "ExtractTransactionIds", {"verifyReceiptResponse": {"latest_receipt_info": [
        {"original_transaction_id": original, "transaction_id": f"{original}{number}"} for number, original in enumerate(originals)]}})
    assert answer["originalTransactionIds"] == list(dict.fromkeys(originals))
    assert answer["transactionIds"] == [f"{original}{number}" for number, original in enumerate(originals)]
    # The maximum number that the configuration allows.
    assert len(answer["found"]) == 12_000 and not answer.get("truncated")
    answer = system_with_test_keys.call("Verifier", "ExtractTransactionIds", {"verifyReceiptResponse": {
        "latest_receipt_info": [{"original_transaction_id": original, "transaction_id": f"{original}0"} for original in originals],
        "pending_renewal_info": [{"original_transaction_id": "1"}]}})
    assert len(answer["found"]) == 12_000 and answer["truncated"] is True and "1" not in answer["originalTransactionIds"]
