"""The Apple simulator, checked with independent code: Python's `cryptography` and Apple's own App Store Server Library for Python."""

import base64
import http.client
import http.server
import json
import socket
import threading
import time

import pytest
import yaml
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from SystemTests.support.simulator_process import APP_ID, BUNDLE, ISSUER, KEY_ID, Simulator


@pytest.fixture(scope="module")
def developer():
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def simulator(tmp_path_factory, developer):
    running = Simulator(tmp_path_factory.mktemp("simulator") / "state")
    public = developer.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    running.control("apps", {"bundleId": BUNDLE, "appAppleId": APP_ID, "apiKeys": [
        {"issuerId": ISSUER, "keyId": KEY_ID, "publicKey": public.decode()}]})
    yield running
    running.stop()


def device_keys(simulator) -> dict:
    return yaml.safe_load((simulator.state / "apple-keys.yaml").read_text())["appleKeys"]


def public_key(text: str):
    return serialization.load_der_public_key(base64.b64decode(text))


ORDERS = {
    "1.0": "ad-network-id campaign-id app-id transaction-id",
    "2.0": "version ad-network-id campaign-id app-id transaction-id redownload source-app-id",
    "2.1": "version ad-network-id campaign-id app-id transaction-id redownload source-app-id",
    "2.2": "version ad-network-id campaign-id app-id transaction-id redownload source-app-id fidelity-type",
    "3.0": "version ad-network-id campaign-id app-id transaction-id redownload source-app-id fidelity-type did-win",
    "4.0": "version ad-network-id source-identifier app-id transaction-id redownload source-app-id source-domain fidelity-type "
           "did-win postback-sequence-index",
}


@pytest.mark.parametrize("version", ORDERS)
def test_postbacks_of_every_version_verify_and_corrupted_ones_do_not(simulator, version):
    keys = device_keys(simulator)
    key = public_key(keys["p192"] if version in ("1.0", "2.0") else keys["p256"])
    text = lambda value: str(value).lower() if isinstance(value, bool) else str(value)  # noqa: E731
    for corrupt in (False, True):
        made = simulator.control("skadnetwork/postbacks", {"version": version, "count": 25, "corrupt": corrupt, "send": False})
        for entry in made["postbacks"]:
            body = json.loads(entry["body"])
            signed = "\u2063".join(text(body[name]) for name in ORDERS[version].split() if name in body).encode()
            signature = base64.b64decode(body["attribution-signature"], validate=True)
            if corrupt:
                with pytest.raises(InvalidSignature):
                    key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
            else:
                key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))


def test_adattributionkit_postbacks_verify_under_the_key_their_kid_names(simulator):
    decode = lambda part: base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))  # noqa: E731
    for environment in ("production", "development", "settings"):
        body = json.loads(simulator.control("adattributionkit/postbacks", {"environment": environment, "send": False})["body"])
        header, payload, signature = body["jws-string"].split(".")
        kid = json.loads(decode(header))["kid"]
        raw = decode(signature)
        assert len(raw) == 64
        der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        public_key(device_keys(simulator)["kids"][kid]).verify(der, f"{header}.{payload}".encode(), ec.ECDSA(hashes.SHA256()))


def verifier(simulator, environment: Environment, bundle: str = BUNDLE) -> SignedDataVerifier:
    root = x509.load_pem_x509_certificate((simulator.state / "app-store-root.pem").read_bytes())
    return SignedDataVerifier([root.public_bytes(serialization.Encoding.DER)], False, environment, bundle, APP_ID)


STORY = ["buy", "renew", "grace", "recover", "fail", "recover", "cancel", "resume", "downgrade", "upgrade", "price-increase", "price-accepted",
         "cancel", "expire", "resubscribe", "consumption-request", "refund", "refund-reversed", "extend", "revoke"]


@pytest.mark.parametrize("environment", [Environment.PRODUCTION, Environment.SANDBOX])
def test_apples_library_accepts_every_notification_of_a_subscriptions_history(simulator, environment):
    story = simulator.control("notifications/story", {"bundleId": BUNDLE, "environment": environment.value, "steps": STORY, "periodDays": 7})
    checks = verifier(simulator, environment)
    assert len(story["notifications"]) == len(STORY)
    for sent in story["notifications"]:
        decoded = checks.verify_and_decode_notification(sent["signedPayload"])
        assert decoded.notificationUUID == sent["notificationUUID"] and decoded.rawNotificationType == sent["notificationType"]
        assert decoded.notificationType is not None and (decoded.rawSubtype is None or decoded.subtype is not None)
        transaction = checks.verify_and_decode_signed_transaction(decoded.data.signedTransactionInfo)
        renewal = checks.verify_and_decode_renewal_info(decoded.data.signedRenewalInfo)
        assert transaction.originalTransactionId == renewal.originalTransactionId == story["originalTransactionId"]


def test_apples_library_reads_commitments_and_advanced_commerce_by_the_same_names(simulator):
    story = simulator.control("notifications/story", {
        "bundleId": BUNDLE, "environment": "Production", "steps": ["buy", "renew", "price-increase", "refund"], "commitmentPeriods": 12,
        "skus": ["one", "two"]})
    checks = verifier(simulator, Environment.PRODUCTION)
    bought, renewed, raised, refunded = (checks.verify_and_decode_notification(sent["signedPayload"]).data for sent in story["notifications"])
    first, second, last = (checks.verify_and_decode_signed_transaction(data.signedTransactionInfo) for data in (bought, renewed, refunded))
    assert [one.commitmentInfo.billingPeriodNumber for one in (first, second)] == [1, 2]
    assert (first.commitmentInfo.totalBillingPeriods, first.rawBillingPlanType) == (12, "MONTHLY")
    assert first.commitmentInfo.commitmentExpiresDate > first.expiresDate and first.commitmentInfo.commitmentPrice == 12 * first.price
    info = first.advancedCommerceInfo
    assert [item.SKU for item in info.items] == ["one", "two"] and info.items[0].offer.rawReason == "ACQUISITION"
    assert (info.taxRate, info.rawPeriod, info.descriptors.displayName) == ("0.0859", "P1M", "Bundle")
    assert (last.rawRevocationType, last.revocationPercentage) == ("REFUND_FULL", 100_000)
    renewal = checks.verify_and_decode_renewal_info(raised.signedRenewalInfo)
    assert renewal.commitmentInfo.commitmentRenewalPrice > 0 and renewal.rawRenewalBillingPlanType == "MONTHLY"
    assert renewal.advancedCommerceInfo.items[1].priceIncreaseInfo.rawStatus == "PENDING"
    assert renewal.advancedCommerceInfo.consistencyToken


def test_apples_library_accepts_notifications_of_every_other_type_and_no_forgery(simulator):
    checks = verifier(simulator, Environment.PRODUCTION)
    kinds = [("TEST", None), ("ONE_TIME_CHARGE", None), ("RENEWAL_EXTENSION", "SUMMARY"), ("RENEWAL_EXTENSION", "FAILURE"),
             ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"), ("OFFER_REDEEMED", "UPGRADE"), ("EXPIRED", "PRODUCT_NOT_FOR_SALE"),
             ("METADATA_UPDATE", None), ("SOMETHING_NEW", "UNHEARD_OF")]
    for kind, subtype in kinds:
        made = simulator.control("notifications", {"bundleId": BUNDLE, "notificationType": kind, **({"subtype": subtype} if subtype else {})})
        assert checks.verify_and_decode_notification(made["signedPayload"]).rawNotificationType == kind
    for forge in ("signature", "root", "marks", "algorithm"):
        made = simulator.control("notifications", {"bundleId": BUNDLE, "notificationType": "TEST", "forge": forge})
        with pytest.raises(VerificationException):
            checks.verify_and_decode_notification(made["signedPayload"])
    with pytest.raises(VerificationException):
        verifier(simulator, Environment.PRODUCTION, "com.example.other").verify_and_decode_notification(
            simulator.control("notifications", {"bundleId": BUNDLE, "notificationType": "TEST"})["signedPayload"])


@pytest.fixture
def client(simulator, developer, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(simulator.state / "tls-ca.pem"))
    pem = developer.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def make(environment: Environment = Environment.PRODUCTION, key_id: str = KEY_ID) -> AppStoreServerAPIClient:
        made = AppStoreServerAPIClient(pem, key_id, ISSUER, BUNDLE, environment)
        made._base_url = simulator.facts["appStoreProduction" if environment is Environment.PRODUCTION else "appStoreSandbox"]
        return made

    return make


def test_apples_client_reads_history_statuses_and_transactions(simulator, client):
    api = client(Environment.SANDBOX)
    made = simulator.control("notifications", {"bundleId": BUNDLE, "environment": "Sandbox", "notificationType": "DID_RENEW",
                                               "subtype": "BILLING_RECOVERY", "count": 45})["notifications"]
    request = NotificationHistoryRequest(
        startDate=int(time.time() * 1000) - 3600_000, endDate=int(time.time() * 1000) + 60_000, notificationType=NotificationTypeV2.DID_RENEW)
    assert api.get_notification_history(None, request).notificationHistory == []
    request.notificationType = None
    seen, token = [], None
    while True:
        page = api.get_notification_history(token, request)
        assert len(page.notificationHistory) <= 20
        seen += [item.signedPayload for item in page.notificationHistory]
        token = page.paginationToken
        if not page.hasMore:
            break
    assert len(seen) == len(set(seen)) and {entry["signedPayload"] for entry in made} <= set(seen)

    transaction_id = made[0]["transactionId"]
    statuses = api.get_all_subscription_statuses(transaction_id)
    assert statuses.data[0].lastTransactions[0].rawStatus == 1
    info = api.get_transaction_info(transaction_id)
    decoded = verifier(simulator, Environment.SANDBOX).verify_and_decode_signed_transaction(info.signedTransactionInfo)
    assert decoded.transactionId == transaction_id
    history = api.get_transaction_history(transaction_id, None, TransactionHistoryRequest())
    assert len(history.signedTransactions) == 2 and not history.hasMore and history.revision
    app = api.get_app_transaction_info(transaction_id)
    assert verifier(simulator, Environment.SANDBOX).verify_and_decode_app_transaction(app.signedAppTransactionInfo).bundleId == BUNDLE
    with pytest.raises(APIException) as wrong:
        client(Environment.PRODUCTION).get_transaction_info(transaction_id)
    assert wrong.value.http_status_code == 404 and wrong.value.raw_api_error == 4040010
    with pytest.raises(APIException) as unknown:
        client(key_id="OTHERKEY00").get_transaction_info(transaction_id)
    assert unknown.value.http_status_code == 401


def test_configured_rate_limits_and_faults_are_returned_to_apples_client(simulator, client):
    api = client()
    simulator.control("rate-limits", {"endpoint": "transactionInfo", "perHour": 0})
    with pytest.raises(APIException) as limited:
        api.get_transaction_info("1")
    assert limited.value.http_status_code == 429 and limited.value.raw_api_error == 4290000
    simulator.control("rate-limits", {"endpoint": "transactionInfo"})
    simulator.control("faults", {"route": "transactionInfo", "count": 1, "status": 500, "body": {"errorCode": 5000001, "errorMessage": "later"}})
    with pytest.raises(APIException) as failed:
        api.get_transaction_info("1")
    assert failed.value.raw_api_error == 5000001
    for damage in ("reset", "cut"):
        simulator.control("faults", {"route": "transactionInfo", "count": 1, damage: True})
        with pytest.raises(Exception) as broken:  # noqa: PT011 of whatever library does the client's HTTP
            api.get_transaction_info("1")
        assert not isinstance(broken.value, APIException)
    with pytest.raises(APIException) as found:
        api.get_transaction_info("1")
    assert found.value.raw_api_error == 4040010


def test_a_device_retries_until_200_and_the_app_store_until_success(simulator):
    """A server that refuses twice; the simulator's waits are in scaled time."""
    bodies = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200 if len([path for path, _ in bodies if path == self.path]) > 2 else 503)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    simulator.control("time-scale", {"scale": 1_000_000})
    try:
        postback = simulator.control("skadnetwork/postbacks", {"url": url + "/postbacks"})
        notification = simulator.control("notifications", {"bundleId": BUNDLE, "notificationType": "REFUND", "url": url + "/notifications"})
        until = time.monotonic() + 10
        while len(bodies) < 6 and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.5)
        assert [body.decode() for path, body in bodies if path == "/postbacks"] == [postback["body"]] * 3
        sent = [json.loads(body)["signedPayload"] for path, body in bodies if path == "/notifications"]
        assert sent == [notification["signedPayload"]] * 3
        attempts = simulator.control("notifications?notificationUUID=" + notification["notificationUUID"])["notifications"][0]["sendAttempts"]
        assert [attempt["sendAttemptResult"] for attempt in attempts] == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"] * 2 + ["SUCCESS"]
        deliveries = simulator.control("deliveries?identifier=" + postback["transactionId"])["deliveries"]
        assert [attempt["status"] for attempt in deliveries[0]["attempts"]] == [503, 503, 200] and deliveries[0]["delivered"]
    finally:
        simulator.control("time-scale", {"scale": 1})
        server.shutdown()


@pytest.mark.parametrize("host", ["consent.adjust.com", "analytics.eu.adjust.com", "consent.adjust.net.in", "analytics.adjust.cn"])
def test_the_simulator_presents_a_certificate_for_each_session_host_and_records_its_requests(simulator, host):
    with (socket.create_connection(("127.0.0.1", simulator.facts["port"])) as plain,
          simulator.context.wrap_socket(plain, server_hostname=host) as secure):
        body = json.dumps({"host": host}).encode()
        secure.sendall(b"POST /session HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (host.encode(), len(body)) + body)
        assert secure.recv(4096).startswith(b"HTTP/1.1 200")
    entry = simulator.control("sessions?host=" + host)["sessions"][-1]
    assert entry["body"] == {"host": host} and entry["path"] == "/session"


def test_a_restarted_simulator_has_the_same_keys_and_repeats_the_sequence_of_its_seed(tmp_path):
    first = Simulator(tmp_path / "state", "--seed", "7")
    keys, root = device_keys(first), (first.state / "app-store-root.pem").read_text()
    made = first.control("skadnetwork/postbacks", {"send": False})["transactionId"]
    first.stop()
    second = Simulator(tmp_path / "state", "--seed", "7")
    try:
        assert device_keys(second) == keys and (second.state / "app-store-root.pem").read_text() == root
        assert second.control("skadnetwork/postbacks", {"send": False})["transactionId"] == made
    finally:
        second.stop()
