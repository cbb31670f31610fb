"""attributionctl signs impressions and tokens, verifies what it is given, and sends what partners and apps send."""

import json
import subprocess
import time
import uuid

from .command import ctl, ctl_json
from .steps import APP, GENUINE, forged


def test_signed_impressions_verify_with_and_without_a_service(system, tmp_path):
    for words, kind in ((["skadnetwork", "--ad-network", "example123.skadnetwork", "--source-identifier", "5239", "--item", "525463029",
                          "--source-app", "0"], "SKAdNetwork impression"),
                        (["skadnetwork", "--ad-network", "example123.skadnetwork", "--protocol-version", "2.0", "--campaign", "39", "--item",
                          "525463029", "--source-app", "0"], "SKAdNetwork impression"),
                        (["adattributionkit", "--ad-network", "example123.adattributionkit", "--source-identifier", "5239", "--item",
                          "525463029", "--publisher", "0"], "AdAttributionKit impression")):
        signed = ctl(system, "sign", *words, "-o", "json")
        assert signed.returncode == 0, signed
        verdict = ctl_json(system, "verify", "-", stdin=signed.stdout)
        assert verdict["valid"] is True and verdict["kind"] == kind, verdict
        # The same without a service, with the public key.
        (tmp_path / "key.pem").write_text(ctl(system, "keys", "show", verdict["keyId"]).stdout)
        offline = ctl_json(None, "verify", "--offline", "--public-key", tmp_path / "key.pem", stdin=signed.stdout)
        assert offline["valid"] is True, offline
        assert ctl(None, "verify", "--offline", stdin=signed.stdout).returncode == 64
    assert ctl(system, "sign", "token", "--bundle-id", APP, "-o", "json").stdout.count(".") >= 2
    for words in (["offer", "--product", "p", "--offer", "o"], ["offer-jws", "--product", "p", "--offer", "o"],
                  ["introductory-offer", "--product", "p", "--transaction-id", "1", "--allow"]):
        assert ctl(system, "sign", words[0], "--bundle-id", APP, *words[1:]).returncode == 0, words
    refused = ctl(system, "sign", "skadnetwork", "--ad-network", "example123.skadnetwork", "--source-identifier", "10000", "--item", "1",
                  "--source-app", "0")
    assert refused.returncode == 65 and "sourceIdentifier" in refused.stderr, refused
    assert ctl(system, "sign", "token", "--bundle-id", "com.example.nobody").returncode in (3, 4, 65)


def test_a_timestamp_more_than_a_day_away_needs_an_option(system):
    timestamp = int(time.time() * 1000) + 2 * 86_400_000
    for words in (["skadnetwork", "--ad-network", "example123.skadnetwork", "--source-app", "0"],
                  ["web", "--ad-network", "example123.skadnetwork", "--domain", "example.com"],
                  ["adattributionkit", "--ad-network", "example123.adattributionkit", "--publisher", "0"]):
        words += ["--source-identifier", "39", "--item", "525463029", "--timestamp", str(timestamp)]
        refused = ctl(system, "sign", *words)
        assert refused.returncode == 65 and "timestamp" in refused.stderr, refused
        signed = ctl_json(system, "sign", *words, "--any-timestamp")
        assert int(signed.get("payload", signed)["timestamp"]) == timestamp and signed["sourceIdentifierDigits"] == 2, signed


def test_the_kind_of_input_is_recognised_and_verified(system, tmp_path):
    for more in ([], ["--offline"]):
        right = ctl_json(system, "verify", GENUINE, *more)
        assert right["valid"] is True and right["kind"] == "SKAdNetwork postback" and right["unsigned"] == {"conversion-value": 63}
        assert right["unusable"] == [], right
        # A value outside of the signature that cannot be used.
        forwarded = json.dumps({**json.loads(GENUINE.read_text()), "conversion-value": 64, "country-code": "USA"})
        verdict = ctl_json(system, "verify", *more, stdin=forwarded)
        assert verdict["valid"] is True and verdict["unusable"] == ["conversion-value", "country-code"], verdict
        assert verdict["unsigned"] == {"conversion-value": 64, "country-code": "USA"} and "conversion-value" not in verdict["content"]
        assert "cannot be used: conversion-value" in ctl(system, "verify", *more, stdin=forwarded).stdout
        wrong = ctl_json(system, "verify", *more, code=1, stdin=json.dumps(forged()))
        assert wrong["valid"] is False and wrong["reason"].startswith("bad_signature")
        assert ctl(system, "verify", *more, stdin="what is this?").returncode == 65
        assert ctl(system, "verify", "/nonexistent", *more).returncode == 66
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join(json.dumps(one) for one in (json.loads(GENUINE.read_text()), forged())) + "\n")
    assert [one["valid"] for one in ctl_json(system, "verify", many, code=1)] == [True, False]
    # An unreadable line does not prevent the verification of the others.
    many.write_text("\n\n".join([json.dumps(json.loads(GENUINE.read_text())), "{broken", "a receipt?", json.dumps(forged())]) + "\n")
    for more in ([], ["--offline"]):
        verdicts = ctl_json(system, "verify", many, *more, code=1)
        assert [(one["line"], one["kind"], one["valid"]) for one in verdicts] == [
            (1, "SKAdNetwork postback", True), (3, "unreadable", False), (5, "unreadable", False), (7, "SKAdNetwork postback", False)], verdicts
    notification = system.control(
        "/control/notifications", {"bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "send": False}
    )
    verdict = ctl_json(system, "verify", stdin=json.dumps({"signedPayload": notification["signedPayload"]}))
    assert verdict["valid"] is True and verdict["kind"] == "App Store notification" and verdict["content"]["notificationType"] == "DID_RENEW"
    # The simulator is not Apple: its data does not verify under the built-in root.
    foreign = ctl_json(None, "verify", "--offline", code=1, stdin=notification["signedPayload"])
    assert foreign["reason"] == "chain_invalid", foreign
    other = ctl_json(system, "verify", "--bundle-id", "com.example.other", code=1, stdin=notification["signedPayload"])
    assert other["reason"] == "wrong_app", other
    nameless = system.control("/control/notifications", {
        "bundleId": APP, "environment": "Sandbox", "notificationType": "TEST", "send": False, "data": {"bundleId": None}})["signedPayload"]
    unnamed = ctl_json(system, "verify", "--bundle-id", APP, code=1, stdin=nameless)
    assert unnamed["reason"] == "app_not_named", unnamed
    assert ctl_json(system, "verify", "--bundle-id", APP, "--trusted-source", stdin=nameless)["known"] is True
    assert ctl(system, "verify", "--trusted-source", stdin=nameless).returncode == 64
    receipt = ctl_json(system, "verify", stdin='{"status":0,"receipt":{"in_app":[{"original_transaction_id":"77"}]}}')
    assert "valid" not in receipt and receipt["content"]["originalTransactionIds"] == ["77"], receipt


def test_keys_are_listed_by_state(system):
    keys = ctl_json(system, "keys", "list", "--state", "active")["keys"]
    assert {key["keyId"] for key in keys} >= {"dev-1", "dev-2"}
    assert ctl_json(system, "keys", "list", "--state", "revoked").get("keys", []) == []
    pem = ctl(system, "keys", "show", "dev-1").stdout
    assert subprocess.run(["openssl", "pkey", "-pubin", "-noout"], input=pem, text=True, capture_output=True, check=False).returncode == 0
    assert ctl(system, "keys", "show", "dev-9").returncode == 3


def test_sessions_tokens_and_notifications_are_sent(system, tmp_path):
    dry = ctl_json(system, "send", "session", "--bundle-id", APP, "--install-id", "ctl-1", "--att-status", "3", "--dry-run")
    assert dry["body"]["attStatus"] == 3 and dry["url"].endswith("/v1/sessions")
    assert ctl(system, "send", "session", "--bundle-id", APP, "--install-id", f"ctl-{uuid.uuid4().hex}", "--att-status", "3").returncode == 0
    refused = ctl(system, "send", "session", "--bundle-id", APP, "--install-id", "ctl-1", "--att-status", "9x")
    assert refused.returncode == 64, refused
    (tmp_path / "token").write_text("\n")
    assert ctl(system, "send", "token", tmp_path / "token", "--bundle-id", APP).returncode == 65
    made = system.control("/control/notifications", {"bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "send": False})
    sent = ctl(system, "send", "notification", "-", "--wait", stdin=made["signedPayload"])
    assert sent.returncode == 0 and "verified" in sent.stdout, sent
    planned = ctl(system, "send", "notification", "--bundle-id", APP, "--dry-run")
    assert planned.returncode == 0 and "would be asked" in planned.stdout
    nobody = ctl(system, "send", "postback", "--url", "public=http://127.0.0.1:1")
    assert nobody.returncode == 69 and "does not answer" in nobody.stderr, nobody
