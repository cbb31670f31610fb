"""The signer's keys from an operator's view: refusals, rotation, tokens, the record, the commands."""

import base64
import datetime
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

import pytest

from SystemTests.support.signer_process import BINARY, SignerProcess, make_key

from .signer_keys import IMPRESSION, NETWORK, configuration, key, signed_text, verifies


def public_keys(signer: SignerProcess) -> dict[str, dict]:
    return {entry["keyId"]: entry for entry in signer.rpc("ListSigningKeys", {"adNetworkId": NETWORK})[1]["keys"]}


# --- refusals -------------------------------------------------------------------------------------------------------


def test_a_key_that_others_may_read_is_refused_by_name(tmp_path):
    make_key(tmp_path / "a.pem").chmod(0o640)
    code, words = SignerProcess(tmp_path, configuration(key("a"))).end_of_start()
    assert code == 78
    assert "adNetworks[0].keys[0]" in words and "a.pem" in words and "0640" in words and "0400" in words


@pytest.mark.parametrize("curve, word", [("secp384r1", "P-256"), ("prime192v1", "P-192")])
def test_a_key_of_another_curve_is_refused(tmp_path, curve, word):
    make_key(tmp_path / "a.pem", curve)
    code, words = SignerProcess(tmp_path, configuration(key("a"))).end_of_start()
    assert code == 78 and "a.pem" in words and word in words


def test_a_public_key_in_place_of_a_private_one_is_refused(tmp_path):
    made = make_key(tmp_path / "b.pem")
    subprocess.run(["openssl", "ec", "-in", made, "-pubout", "-out", tmp_path / "a.pem"], check=True, capture_output=True)
    (tmp_path / "a.pem").chmod(0o600)
    code, words = SignerProcess(tmp_path, configuration(key("a"))).end_of_start()
    assert code == 78 and "a.pem" in words and "public key" in words


def test_two_active_keys_of_a_network_are_refused(tmp_path):
    for name in "ab":
        make_key(tmp_path / f"{name}.pem")
    code, words = SignerProcess(tmp_path, configuration(key("a"), key("b"))).end_of_start()
    assert code == 78 and "adNetworks[0].keys[1].state" in words


def test_no_refusal_and_no_log_contains_key_bytes(tmp_path):
    made = make_key(tmp_path / "a.pem")
    secret = "".join(made.read_text().splitlines()[1:-1])
    # Damaged in the middle, so that a part is read before it is refused.
    made.write_text(made.read_text().replace(secret[40:44], "AAAA", 1))
    code, words = SignerProcess(tmp_path, configuration(key("a"))).end_of_start()
    assert code == 78
    for start in range(0, len(secret) - 16, 8):
        assert secret[start:start + 16] not in words


# --- formats and states -----------------------------------------------------------------------------------------------


def test_signer_signs_with_a_key_of_every_file_format(tmp_path):
    made = make_key(tmp_path / "sec1.pem")
    (tmp_path / "passphrase").write_text("correct horse\n")
    (tmp_path / "passphrase").chmod(0o400)
    subprocess.run(["openssl", "pkcs8", "-topk8", "-nocrypt", "-in", made, "-out", tmp_path / "pkcs8.pem"], check=True)
    subprocess.run(["openssl", "pkcs8", "-topk8", "-v2", "aes256", "-passout", "pass:correct horse", "-in", made,
                    "-out", tmp_path / "locked.pem"], check=True, capture_output=True)
    shutil.copy(tmp_path / "pkcs8.pem", tmp_path / "AuthKey.p8")
    for path in tmp_path.glob("*"):
        path.chmod(0o400)
    networks = [("n1.skadnetwork", "path: sec1.pem"), ("n2.skadnetwork", "path: pkcs8.pem"), ("n3.skadnetwork", "path: AuthKey.p8"),
                ("n4.skadnetwork", "path: locked.pem, passphraseFile: passphrase")]
    text = "adNetworks:\n" + "".join(f"  - {{ id: {name}, keys: [ {{ id: k, {where} }} ] }}\n" for name, where in networks)
    with SignerProcess(tmp_path, text) as signer:
        pem = subprocess.run(["openssl", "ec", "-in", made, "-pubout"], check=True, capture_output=True, text=True).stdout
        for name, _ in networks:
            status, answer = signer.rpc("SignSKAdNetworkImpression", {**IMPRESSION, "adNetworkId": name})
            assert status == 200, answer
            assert verifies(answer, pem)
        assert {entry["publicKey"] for entry in signer.rpc("ListSigningKeys", {})[1]["keys"]} == {pem}


def test_only_the_active_key_signs_and_a_revoked_one_is_not_even_read(tmp_path):
    for name in ("pending", "active", "retiring"):
        make_key(tmp_path / f"{name}.pem")
    text = configuration(key("pending", "pending"), key("active"), key("retiring", "retiring"), key("gone", "revoked"))
    with SignerProcess(tmp_path, text) as signer:
        status, answer = signer.rpc("SignSKAdNetworkImpression", IMPRESSION)
        assert (status, answer["keyId"]) == (200, "active")
        keys = public_keys(signer)
        assert {name: entry["state"] for name, entry in keys.items()} == {
            "pending": "pending", "active": "active", "retiring": "retiring", "gone": "revoked"}
        assert verifies(answer, keys["active"]["publicKey"])
        assert not verifies(answer, keys["retiring"]["publicKey"])


def test_the_age_of_a_key_is_a_metric(tmp_path):
    now = time.time()
    for name in "ab":
        os.utime(make_key(tmp_path / f"{name}.pem"), (now, now - 5000))

    def ages() -> dict[str, float]:
        name = re.compile(r'\{owner="example123.skadnetwork",key_id="(\w+)",state="(\w+)"\}')
        return {" ".join(name.fullmatch(labels).groups()): age for labels, age in signer.metric("attribution_key_age_seconds").items()}

    with SignerProcess(tmp_path, configuration(key("a"), key("b", "pending", created="2026-01-15"), key("gone", "revoked"))) as signer:
        found = ages()
        assert set(found) == {"a active", "b pending"}
        assert 5000 <= found["a active"] < 5300
        created = datetime.datetime(2026, 1, 15, tzinfo=datetime.UTC).timestamp()
        assert abs(found["b pending"] - (time.time() - created)) < 300
        signer.reload(configuration(key("a", "retiring"), key("b")))
        assert set(ages()) == {"a retiring", "b active"}


def test_a_network_without_an_active_key_is_reported(tmp_path):
    make_key(tmp_path / "a.pem")
    with SignerProcess(tmp_path, configuration(key("a", "pending"))) as signer:
        status, answer = signer.rpc("SignSKAdNetworkImpression", IMPRESSION)
        assert status == 400 and answer["code"] == "failed_precondition"


# --- rotation -------------------------------------------------------------------------------------------------------


def test_rotation_drops_no_request_and_a_retired_key_never_signs_again(tmp_path):
    for name in "ab":
        make_key(tmp_path / f"{name}.pem")
    before, after = configuration(key("a"), key("b", "pending")), configuration(key("a", "retiring"), key("b"))
    with SignerProcess(tmp_path, before) as signer:
        pems = {name: entry["publicKey"] for name, entry in public_keys(signer).items()}
        answers: list[dict] = []
        faults: list[str] = []
        stop = threading.Event()

        def load() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", signer.port, timeout=20)
            while not stop.is_set():
                try:
                    status, answer = signer.rpc("SignSKAdNetworkImpression", IMPRESSION, connection)
                    answers.append(answer) if status == 200 else faults.append(str(answer))
                except Exception as error:  # noqa: BLE001 any failed request is what the test looks for
                    faults.append(repr(error))
                    return

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for turn in range(6):
            active = "b" if turn % 2 == 0 else "a"
            signer.reload(after if active == "b" else before)
            # From here on, every caller gets a signature of the new key.
            for _ in range(20):
                status, answer = signer.rpc("SignSKAdNetworkImpression", IMPRESSION)
                assert (status, answer["keyId"]) == (200, active)
                assert verifies(answer, pems[active])
        stop.set()
        for thread in threads:
            thread.join()
        assert faults == []
        assert {answer["keyId"] for answer in answers} == {"a", "b"}
        for answer in answers[::5]:
            assert verifies(answer, pems[answer["keyId"]])


def test_a_reload_of_a_wrong_configuration_changes_nothing(tmp_path):
    make_key(tmp_path / "a.pem")
    with SignerProcess(tmp_path, configuration(key("a"))) as signer:
        signer.reload(configuration(key("missing")))
        assert signer.metric("attribution_configuration_reloads_total") == {'{outcome="refused"}': 1}
        assert "missing.pem" in signer.log()
        status, answer = signer.rpc("SignSKAdNetworkImpression", IMPRESSION)
        assert (status, answer["keyId"]) == (200, "a")


def test_cached_tokens_are_dropped_with_their_key(tmp_path):
    make_key(tmp_path / "a.pem")
    app = ('apps: [ {{ bundleId: com.example.app, appAppleId: 1, appStoreServer: {{ issuerId: i, keyId: {0}, privateKey: {1}.pem }} }} ]')
    with SignerProcess(tmp_path, configuration(key("a"), more=app.format("K1", "a"))) as signer:
        first = signer.rpc("CreateAppStoreServerToken", {"bundleId": "com.example.app"})[1]["token"]
        assert signer.rpc("CreateAppStoreServerToken", {"bundleId": "com.example.app"})[1]["token"] == first
        make_key(tmp_path / "b.pem")
        signer.reload(configuration(key("a"), more=app.format("K2", "b")))
        second = signer.rpc("CreateAppStoreServerToken", {"bundleId": "com.example.app"})[1]["token"]
        header = json.loads(base64.urlsafe_b64decode(second.split(".")[0] + "=="))
        assert second != first and header["kid"] == "K2"


# --- a PKCS#11 token ------------------------------------------------------------------------------------------------


def test_a_key_in_a_pkcs11_token_signs(tmp_path):
    module = next((path for path in ("/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
                                     "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so") if pathlib.Path(path).exists()), None)
    assert module, "the package softhsm2 is not installed"
    (tmp_path / "tokens").mkdir()
    (tmp_path / "softhsm2.conf").write_text(f"directories.tokendir = {tmp_path}/tokens\nobjectstore.backend = file\nlog.level = ERROR\n")
    environment = {**os.environ, "SOFTHSM2_CONF": str(tmp_path / "softhsm2.conf")}
    made = make_key(tmp_path / "a.pem")
    subprocess.run(["openssl", "pkcs8", "-topk8", "-nocrypt", "-in", made, "-out", tmp_path / "a.p8"], check=True)
    for command in (["--init-token", "--free", "--label", "ads", "--so-pin", "0000", "--pin", "1234"],
                    ["--import", str(tmp_path / "a.p8"), "--token", "ads", "--label", "ad-key", "--id", "01", "--pin", "1234"]):
        subprocess.run(["softhsm2-util", *command], check=True, capture_output=True, env=environment)
    (tmp_path / "pin").write_text("1234\n")
    (tmp_path / "pin").chmod(0o400)
    uri = "pkcs11:token=ads;object=ad-key"
    text = configuration(key("token", uri=uri, pinFile="pin"), more=f"pkcs11: {{ module: {module} }}\n")
    pem = subprocess.run(["openssl", "ec", "-in", made, "-pubout"], check=True, capture_output=True, text=True).stdout
    printed = subprocess.run([BINARY, "pubkey", uri, "--module", module, "--pin-file", tmp_path / "pin"], capture_output=True,
                             text=True, env=environment, check=True).stdout
    assert printed == pem
    with SignerProcess(tmp_path, text, SOFTHSM2_CONF=environment["SOFTHSM2_CONF"]) as signer:
        answers = signer.rpc("SignImpressions", {"items": [{"skadnetwork": IMPRESSION}] * 200})[1]["results"]
        assert len(answers) == 200
        for answer in answers:
            assert verifies(answer["skadnetwork"], pem)
    (tmp_path / "pin").chmod(0o600)
    (tmp_path / "pin").write_text("9999\n")
    code, words = SignerProcess(tmp_path, text, SOFTHSM2_CONF=environment["SOFTHSM2_CONF"]).end_of_start()
    assert code == 78 and "PIN" in words and "9999" not in words


# --- the record -----------------------------------------------------------------------------------------------------


def test_every_signature_is_counted_and_recorded_by_its_digest(tmp_path):
    make_key(tmp_path / "a.pem")
    audit = tmp_path / "audit.jsonl"
    with SignerProcess(tmp_path, configuration(key("a")), ATTRIBUTION_AUDIT_FILE=str(audit)) as signer:
        items = [{"skadnetwork": IMPRESSION}] * 40 + [{"skadnetwork": {**IMPRESSION, "campaignId": 101}}]
        results = signer.rpc("SignImpressions", {"items": items})[1]["results"]
        records = [json.loads(line) for line in audit.read_text().splitlines()]
        assert len(records) == 40
        assert {record["sha256"] for record in records} == {
            hashlib.sha256(signed_text(result["skadnetwork"])).hexdigest() for result in results[:40]}
        for record in records:
            assert set(record) == {"time", "caller", "requestId", "method", "owner", "keyId", "sha256"}
            assert (record["caller"], record["method"], record["owner"], record["keyId"]) == (
                "tests", "SignSKAdNetworkImpression", NETWORK, "a")
        assert audit.stat().st_mode & 0o777 == 0o600
        assert signer.metric("attribution_signatures_total")[
            f'{{method="SignSKAdNetworkImpression",owner="{NETWORK}",key_id="a"}}'] == 40
        # A rotated record: the file is renamed, and SIGHUP begins a new one.
        audit.rename(tmp_path / "audit.1")
        signer.reload(configuration(key("a")))
        signer.rpc("SignSKAdNetworkImpression", IMPRESSION)
        assert len(audit.read_text().splitlines()) == 1
        assert len((tmp_path / "audit.1").read_text().splitlines()) == 40


def test_a_signature_that_cannot_be_recorded_is_not_returned(tmp_path):
    make_key(tmp_path / "a.pem")
    with SignerProcess(tmp_path, configuration(key("a")), ATTRIBUTION_AUDIT_FILE="/dev/full") as signer:
        status, answer = signer.rpc("SignSKAdNetworkImpression", IMPRESSION)
        assert status == 503 and answer["code"] == "unavailable" and "signature" not in answer
        assert signer.metric("attribution_audit_failures_total") == {"": 1}


def test_no_core_file_can_be_written(tmp_path):
    make_key(tmp_path / "a.pem")
    with SignerProcess(tmp_path, configuration(key("a"))) as signer:
        limits = pathlib.Path(f"/proc/{signer.process.pid}/limits").read_text()
        line = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
        assert line.split()[4:6] == ["0", "0"]


# --- without Redis --------------------------------------------------------------------------------------------------


def test_the_signer_signs_while_redis_is_unreachable(tmp_path):
    make_key(tmp_path / "a.pem")
    with SignerProcess(tmp_path, configuration(key("a")), ATTRIBUTION_REDIS_URL="redis://127.0.0.1:1/0") as signer:
        assert signer.get("/readyz")[0] == 200
        assert signer.rpc("SignSKAdNetworkImpression", IMPRESSION)[0] == 200
        status, answer = signer.rpc("SignSKAdNetworkWebImpression", {
            "version": "4.0", "adNetworkId": NETWORK, "sourceIdentifier": 1, "itunesItemId": 1, "deferred": True})
        assert status == 503 and answer["code"] == "unavailable"
