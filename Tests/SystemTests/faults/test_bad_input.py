"""Invalid input and a broken environment cause a clear error that names the cause, never a crash or a loss."""

import gzip
import json
import os
import pathlib
import subprocess
import time
import uuid

import pytest

from SystemTests.support.running_system import BUILD, ROOT

VALID = {"version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029,
         "sourceAppId": 1234567891, "fidelityType": 1}


def sign(system, **changes):
    message = {**VALID, "timestamp": int(time.time() * 1000), **changes}
    return system.rpc("Signer", "SignSKAdNetworkImpression", {k: v for k, v in message.items() if v is not ...})


def fields(answer):
    return [violation["field"] for detail in answer.json.get("details", []) for violation in
            detail.get("debug", {}).get("fieldViolations", [])]


@pytest.mark.parametrize("changes,field", [
    ({"fidelityTyp": 1}, "fidelityTyp"), ({"fidelityType": 2}, "fidelityType"), ({"fidelityType": "x"}, "fidelityType"),
    ({"version": "5.0"}, "version"), ({"version": 4}, "version"), ({"sourceIdentifier": 10000}, "sourceIdentifier"),
    ({"sourceIdentifier": -1}, "sourceIdentifier"), ({"campaignId": 5}, "campaignId"), ({"adNetworkId": "Example123.skadnetwork"}, "adNetworkId"),
    ({"itunesItemId": 0}, "itunesItemId"), ({"itunesItemId": ...}, "itunesItemId"), ({"nonce": "not-a-uuid"}, "nonce"),
    ({"timestamp": 1700000000}, "timestamp"), ({"version": "2.0"}, None), ({"sourceAppId": -5}, "sourceAppId"),
])
def test_an_impression_with_a_wrong_field_is_refused_by_the_fields_name(system, changes, field):
    answer = sign(system, **changes)
    assert answer.status == 400 and answer.json["code"] == "invalid_argument", answer
    assert fields(answer) if field is None else field in fields(answer), answer


def test_an_impression_of_an_unknown_ad_network_is_not_found(system):
    answer = sign(system, adNetworkId="unknown99.skadnetwork")
    assert answer.status == 404 and answer.json["code"] == "not_found", answer


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"a":1}{}', b'{"version":"4.0","version":"4.0"}', b"\xff\xfe",
                                  b"\xef\xbb\xbf{}", b"[" * 100_000, b'{"version":' + b"[" * 40 + b"]" * 40 + b"}"],
                         ids=lambda body: f"{len(body)} bytes")
def test_malformed_json_is_an_invalid_argument(system, body):
    answer = system.rpc("Signer", "SignSKAdNetworkImpression", body)
    assert answer.status == 400 and answer.json["code"] == "invalid_argument", answer


def test_unknown_methods_wrong_http_methods_and_wrong_content_types_get_the_status_of_http(system):
    url = system.url("Signer")
    token = {"Authorization": f"Bearer {system.token}", "Content-Type": "application/json"}
    path = "/attribution.signer.v1.SignerService/"
    unknown = system.request("POST", url + path + "NoSuchMethod", b"{}", token)
    assert unknown.status == 404 and unknown.json["code"] == "unimplemented", unknown
    assert "attribution.signer.v1.SignerService" in unknown.json["message"], unknown
    put = system.request("PUT", url + path + "ListSigningKeys", b"{}", token)
    assert put.status == 405 and "POST" in put.headers["Allow"]
    text = system.request("POST", url + path + "ListSigningKeys", b"{}", {**token, "Content-Type": "text/plain"})
    assert text.status == 415 and text.headers["Accept-Post"] == "application/json"
    assert system.request("GET", url + path + "SignSKAdNetworkImpression?encoding=json&message=%7B%7D", None, token).status == 405
    listed = system.request("GET", url + path + "ListSigningKeys?encoding=json&message=%7B%7D", None, token)
    assert listed.status == 200 and len(listed.json["keys"]) >= 2


def test_callers_without_permission_are_refused(system):
    for token in (None, "wrong"):
        answer = system.rpc("Signer", "ListSigningKeys", {}, token=token)
        assert answer.status == 401 and answer.json["code"] == "unauthenticated" and answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_body_is_accepted_up_to_the_limit_and_refused_one_byte_above(system):
    head, tail = b'{"adNetworkId":"example123.skadnetwork"', b"}"
    limit = 4 * 1024 * 1024
    exact = head + b" " * (limit - len(head) - len(tail)) + tail
    assert system.rpc("Signer", "ListSigningKeys", exact).status == 200
    for body, headers in ((exact + b" ", {}), (gzip.compress(exact + b" "), {"Content-Encoding": "gzip"})):
        answer = system.rpc("Signer", "ListSigningKeys", body, headers=headers)
        assert answer.status == 429 and answer.json["code"] == "resource_exhausted", answer


@pytest.mark.parametrize("path,body,status", [
    ("/v1/postbacks", b"{", 400), ("/v1/postbacks", b"{}", 400), ("/v1/postbacks", b"[1]", 400), ("/v1/postbacks", b"", 400),
    ("/v1/app-store/notifications", b"{}", 400), ("/v1/app-store/notifications", b'{"signedPayload":5}', 400),
    ("/v1/sessions", b'{"attStatus":3,"bundleId":"com.example.app","installId":5}', 400),
    ("/v1/adservices/tokens", b'{"token":"","bundleId":"com.example.app"}', 400),
    ("/v1/nothing", b"{}", 404),
])
def test_public_routes_refuse_what_they_cannot_store(system, path, body, status):
    answer = system.post(path, body)
    assert answer.status == status, answer
    if status == 400:
        assert answer.json["code"] == "invalid_argument"


def test_public_routes_limit_size_and_type_and_serve_no_rpc(system):
    large = b'{"signedPayload":"' + b"a" * (256 * 1024) + b'"}'
    assert system.post("/v1/app-store/notifications", large).status == 413
    assert system.post("/v1/postbacks", b"{}", content_type="application/xml").status == 415
    got = system.request("GET", system.public + "/v1/postbacks")
    assert got.status == 405 and "POST" in got.headers["Allow"]
    assert system.request("POST", system.public + "/attribution.ingest.v1.IngestService/GetDelivery", b"{}",
                          {"Content-Type": "application/json"}).status == 404
    assert system.request("GET", system.public + "/metrics").status == 404


def run(service, tmp_path, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ATTRIBUTION_")}
    clean.update({"ATTRIBUTION_LISTEN": "127.0.0.1:0", "ATTRIBUTION_PUBLIC_LISTEN": "127.0.0.1:0"}, **{k: str(v) for k, v in environment.items()})
    binary = ROOT / ".build" / BUILD
    return subprocess.run([pathlib.Path(binary) / service], env=clean, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)


def configuration(tmp_path, key_mode=None):
    key = tmp_path / "network.pem"
    text = (
        'clients:\n  - { name: a, tokenSHA256: "'
        + "0" * 64
        + '", allow: ["*"] }\nadNetworks:\n  - id: example123.skadnetwork\n    keys:\n      - { id: k, path: network.pem, state: active }\n'
    )
    path = tmp_path / "configuration.yaml"
    path.write_text(text)
    if key_mode is not None:
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key], check=True)
        key.chmod(key_mode)
    return path


def test_a_service_without_its_configuration_does_not_start_and_names_the_file(tmp_path):
    for environment in ({}, {"ATTRIBUTION_CONFIG": tmp_path / "absent.yaml"}):
        ended = run("signer", tmp_path, **environment)
        assert ended.returncode > 0 and ("ATTRIBUTION_CONFIG" in ended.stderr or "absent.yaml" in ended.stderr), ended.stderr


def test_a_service_with_a_wrong_configuration_does_not_start_and_names_the_key(tmp_path):
    path = tmp_path / "configuration.yaml"
    path.write_text("adNetworks:\n  - id: 5\n    keys: nope\n")
    ended = run("signer", tmp_path, ATTRIBUTION_CONFIG=path)
    assert ended.returncode > 0 and "adNetworks[0]" in ended.stderr, ended.stderr


def test_signer_does_not_start_with_a_key_file_that_is_absent_or_readable_by_others_and_names_it(tmp_path):
    ended = run("signer", tmp_path, ATTRIBUTION_CONFIG=configuration(tmp_path))
    assert ended.returncode > 0 and "network.pem" in ended.stderr, ended.stderr
    for mode in (0o644, 0o640, 0o604):
        ended = run("signer", tmp_path, ATTRIBUTION_CONFIG=configuration(tmp_path, mode))
        assert ended.returncode > 0 and "network.pem" in ended.stderr and "mode" in ended.stderr, ended.stderr


def test_a_service_without_redis_exits_with_69_and_names_redis(tmp_path):
    for service in ("ingest", "verifier", "notification-recovery", "asa-token-broker"):
        ended = run(service, tmp_path, ATTRIBUTION_CONFIG=configuration(tmp_path, 0o600), ATTRIBUTION_REDIS_URL="redis://127.0.0.1:1/0",
                    ATTRIBUTION_START_TIMEOUT_MS="0")
        assert ended.returncode == 69 and "edis" in ended.stderr, (service, ended.stderr)


def test_a_caller_may_repeat_a_keyed_call_and_not_reuse_its_key(system):
    key = uuid.uuid4().hex
    message = {"bundleId": "com.example.app", "environment": "Sandbox"}
    missing = system.rpc("Recovery", "RequestTestNotification", message)
    assert missing.status == 400 and "IDEMPOTENCY_KEY_REQUIRED" in json.dumps(missing.json), missing
    first = system.rpc("Recovery", "RequestTestNotification", message, key=key)
    assert first.status == 200, first
    again = system.rpc("Recovery", "RequestTestNotification", message, key=key)
    assert again.body == first.body and again.headers["Idempotency-Replayed"] == "true"
    quoted = system.rpc("Recovery", "RequestTestNotification", message, key=f'"{key}"')
    assert quoted.body == first.body and quoted.headers["Idempotency-Replayed"] == "true"
    for bad in ("a" * 256, "a b", '""'):
        refused = system.rpc("Recovery", "RequestTestNotification", message, key=bad)
        assert refused.status == 400 and "IDEMPOTENCY_KEY_INVALID" in json.dumps(refused.json), refused
    reused = system.rpc("Recovery", "RequestTestNotification", {**message, "environment": "Production"}, key=key)
    assert reused.status == 400 and "IDEMPOTENCY_KEY_REUSED" in json.dumps(reused.json), reused
