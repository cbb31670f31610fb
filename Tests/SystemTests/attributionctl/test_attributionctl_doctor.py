"""attributionctl doctor: each way in which notifications fail to arrive has its own verdict, and so has each problem of the system."""

import contextlib
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import uuid

from .command import ctl, started

APP = "com.example.app"


def doctor(system, *options: str, environment: str = "Production", wait: int = 15) -> subprocess.CompletedProcess:
    return ctl(system, "doctor", "--bundle-id", APP, "--environment", environment, "--wait", wait, *options)


def public_key(system, name: str = "SubscriptionKey") -> str:
    return subprocess.run(["openssl", "pkey", "-in", system.data / "keys" / f"{name}.p8", "-pubout"], capture_output=True, text=True,
                          check=True).stdout


@contextlib.contextmanager
def registered(system, url="", *, sandbox="", key: str | None = None, **more):
    """Changes the app in App Store Connect, and restores it afterwards."""
    ours = system.public + "/v1/app-store/notifications"

    def register(production, sandbox, key, more):
        system.control("/control/apps", {
            "bundleId": APP, "appAppleId": 525463029, "notificationURLs": {"Production": production, "Sandbox": sandbox},
            "apiKeys": [{"issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": identifier, "publicKey": text} for identifier, text in (
                ("2X9R4HXF34", key), ("2X9R4HXF35", public_key(system, "OfferKey")))], **more})

    register(ours if url == "" else url, ours if sandbox == "" else sandbox, key or public_key(system), more)
    try:
        yield
    finally:
        register(ours, ours, public_key(system), {})


@contextlib.contextmanager
def listening(answer: bytes | None, context: ssl.SSLContext | None = None):
    """A server that gives every request this answer, or none; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections = []

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                    if context:
                        connection = context.wrap_socket(connection, server_side=True)
                    connections.append(connection)
                    if answer is not None:
                        connection.recv(65536)
                        connection.sendall(answer)
                        connection.close()
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def http_answer(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Length: 0", *headers, "", ""]).encode()


def test_doctor_reports_no_problem_if_notifications_arrive(system):
    answer = doctor(system)
    assert answer.returncode == 0 and "OK: notifications arrive" in answer.stdout, answer
    assert "SUCCESS" in answer.stdout and "on the feed" in answer.stdout


def test_each_result_of_apples_delivery_attempts_has_its_exit_code(system, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem",
                    "-days", "1", "-subj", "/CN=localhost"], check=True, capture_output=True)
    untrusted = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    untrusted.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        closed = probe.getsockname()[1]
    with (listening(http_answer("200 OK"), untrusted) as tls, listening(None) as silent, listening(http_answer("404 Not Found")) as missing,
          listening(b"220 smtp.example.com ESMTP\r\n\r\n") as mail, listening(http_answer("200 OK")) as stranger,
          listening(http_answer("301 Moved", "Location: /x")) as moved):
        # One check takes ten seconds, so it runs concurrently with the others.
        with registered(system, sandbox=f"http://127.0.0.1:{silent}/v1/app-store/notifications"):
            slow: list = []
            sandbox_doctor = threading.Thread(target=lambda: slow.append(doctor(system, environment="Sandbox")))
            sandbox_doctor.start()
            cases = [
                (f"https://127.0.0.1:{tls}/", 20, "certificate"), (f"http://127.0.0.1:{closed}/", 22, "DNS"),
                (f"http://127.0.0.1:{missing}/", 24, "path is wrong"), (f"http://127.0.0.1:{stranger}/", 31, "another system")]
            if os.environ.get("ATTRIBUTION_SOAK"):
                cases += [("https://nobody.invalid/v1", 22, "resolve"), (f"http://127.0.0.1:{moved}/", 24, "HTTP status"),
                          (f"http://127.0.0.1:{mail}/", 25, "another protocol")]
            for url, code, advice in cases:
                with registered(system, url, sandbox=f"http://127.0.0.1:{silent}/v1/app-store/notifications"):
                    answer = doctor(system, wait=3)
                assert answer.returncode == code and advice in answer.stdout, (url, answer)
            sandbox_doctor.join()
        assert slow[0].returncode == 21 and "17.0.0.0/8" in slow[0].stdout, slow


def test_problems_between_the_system_and_apple_have_their_exit_codes(system, tmp_path):
    other = tmp_path / "other.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", other], check=True, capture_output=True)
    public = subprocess.run(["openssl", "pkey", "-in", other, "-pubout"], capture_output=True, text=True, check=True).stdout
    with registered(system, key=public):
        answer = doctor(system)
    assert answer.returncode == 12 and "In-App Purchase key" in answer.stdout, answer
    with registered(system, None):
        answer = doctor(system)
    assert answer.returncode == 13 and "App Store Connect" in answer.stdout, answer
    system.control("/control/faults", {"route": "testNotification", "count": 9, "reset": True})
    try:
        answer = doctor(system)
    finally:
        system.control("/control/faults", {"clear": True})
    assert answer.returncode == 14, answer
    # The app's number in App Store Connect differs from our configuration: the notification arrives and is rejected.
    with registered(system, appAppleId=525463030):
        answer = doctor(system)
    assert answer.returncode == 30 and "appAppleId" in answer.stdout, answer


def test_problems_of_the_services_have_their_exit_codes(system, tmp_path):
    system.service("stop", "notification-recovery")
    try:
        answer = doctor(system)
    finally:
        system.service("start", "notification-recovery")
    assert answer.returncode == 10 and "notification-recovery does not answer" in answer.stdout, answer
    (tmp_path / "token").write_text("nobody")
    (tmp_path / "token").chmod(0o600)
    answer = doctor(system, "--token-file", str(tmp_path / "token"))
    assert answer.returncode == 11, answer
    # ingest is stopped: Apple finds the port closed.
    system.service("stop", "ingest")
    try:
        answer = doctor(system, "--notification-url", system.public + "/v1/app-store/notifications")
    finally:
        system.service("start", "ingest")
    assert answer.returncode == 22 and "from this machine" in answer.stdout, answer


def test_an_unreadable_feed_is_not_mistaken_for_a_missing_event(system):
    """Apple delivers it to another URL, and meanwhile doctor's subscription is deleted."""
    with listening(http_answer("200 OK")) as port, registered(system, f"http://127.0.0.1:{port}/"):
        process = started(system, "doctor", "--bundle-id", APP, "--wait", "6")
        for line in process.stdout:
            if "SUCCESS" in line:
                break
        names = [one["name"] for one in system.call("Events", "ListSubscriptions", {})["subscriptions"] if one["name"].startswith("doctor-")]
        for name in names:
            system.call("Events", "DeleteSubscription", {"name": name}, key=uuid.uuid4().hex)
        rest = process.stdout.read()
        assert process.wait(60) == 10 and "verifier cannot answer" in rest, (process.returncode, rest)


def test_another_rejected_notification_is_not_mistaken_for_the_test_notification(system):
    """Apple's notification does not match our configuration and was delivered to another URL; a forgery arrives here."""
    with listening(http_answer("200 OK")) as port, registered(system, f"http://127.0.0.1:{port}/", appAppleId=525463030):
        process = started(system, "doctor", "--bundle-id", APP, "--wait", "4")
        for line in process.stdout:
            if "requested a test notification" in line:
                break
        system.control("/control/notifications", {
            "bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "forge": "root", "send": True,
            "url": system.public + "/v1/app-store/notifications"})
        rest = process.stdout.read()
        assert process.wait(60) == 17 and "did not arrive" in rest, (process.returncode, rest)


def test_a_rate_limit_has_its_own_exit_code(system):
    until = int(time.time() * 1000) + 120_000
    system.control("/control/faults", {"route": "testNotification", "count": 1, "status": 429, "body": {"errorCode": 4290000},
                                       "headers": {"Retry-After": str(until)}})
    answer = doctor(system, environment="Sandbox")
    assert answer.returncode == 15, answer


def test_wrong_options_and_an_unknown_app_have_their_exit_codes(system, tmp_path):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "empty").chmod(0o600)
    for options, code in ((["--token-file", str(tmp_path / "none")], 78), (["--token-file", str(tmp_path / "empty")], 78),
                          (["--url", "verifier=foo"], 64), (["--url", "verifier=http://h:99999"], 64), (["--wait", "nan"], 64),
                          (["--notification-url", "https://h:99999"], 64), (["--notification-url", "foo"], 64), (["--environment", "Xcode"], 64)):
        wrong = doctor(system, *options)
        assert wrong.returncode == code, (options, wrong)
    unknown = ctl(system, "doctor", "--bundle-id", "com.example.nobody")
    assert unknown.returncode == 17 and "no app with this bundle id" in unknown.stdout, unknown


# --- the whole system ---------------------------------------------------------------------------------------------------------------

def findings(system, *options: str, code: int | None = None) -> dict[tuple[str, str], dict]:
    """Runs doctor; returns its findings by place and check. `code` is the expected exit code. Without it, problems that other tests have
    left, such as a disabled endpoint, are allowed."""
    done = ctl(system, "doctor", *options, "--output", "json")
    answer = json.loads(done.stdout)
    assert done.returncode == code or code is None, done
    assert answer["well"] is (done.returncode == 0), done
    return {(one["place"], one["check"]): one for one in answer["findings"]}


def test_every_service_and_its_dependencies_are_checked(system):
    found = findings(system)
    for service in ("signer", "verifier", "ingest", "notification-recovery", "asa-token-broker"):
        for check in ("ready", "version", "clock"):
            assert found[service, check]["state"] == "ok", found
    for setting in ("appendonly", "appendfsync", "maxmemory-policy", "no-appendfsync-on-rewrite"):
        assert found["redis", f"redis-settings: {setting}"]["state"] == "ok"
    for server in ("App Store Server API, production", "App Store Server API, sandbox"):
        assert found["notification-recovery", f"apple: {server}"]["state"] == "ok"
        assert found["notification-recovery", f"clock: {server}"]["state"] == "ok"
    assert found["asa-token-broker", "apple: AdServices"]["state"] == "ok" and found["ingest", "public port"]["state"] == "ok"
    # Warnings in development also have advice.
    assert "maxmemory" in found["signer", "redis-memory"]["advice"]
    local = findings(system, "--local-only")
    assert ("asa-token-broker", "apple: AdServices") not in local and ("redis", "redis") in local


def test_problems_of_the_system_are_shown_with_advice(system, tmp_path):
    system.service("stop", "asa-token-broker")
    try:
        found = findings(system, "--problems", code=10)
        assert found["asa-token-broker", "ready"]["state"] == "failed" and "running" in found["asa-token-broker", "ready"]["advice"]
        answer = ctl(system, "doctor")
        assert answer.returncode == 10 and "NOT OK" in answer.stdout and "asa-token-broker, ready:" in answer.stdout, answer
    finally:
        system.service("start", "asa-token-broker")
    (tmp_path / "token").write_text("nobody")
    (tmp_path / "token").chmod(0o600)
    found = findings(system, "--token-file", str(tmp_path / "token"), code=11)
    assert found["signer", "token"]["state"] == "failed" and found["signer", "ready"]["state"] == "ok"
    # Redis' current settings are checked.
    command = ["redis-cli", "-p", str(system.port_base + 18), "--no-auth-warning", "-a", (system.data / "redis-password").read_text().strip()]
    subprocess.run([*command, "CONFIG", "SET", "appendfsync", "everysec"], check=True, capture_output=True)
    try:
        found = findings(system, code=1)
        wrong = found["signer", "redis-settings: appendfsync"]
        assert wrong["state"] == "failed" and wrong["found"] == "everysec" and "always" in wrong["advice"], wrong
    finally:
        subprocess.run([*command, "CONFIG", "SET", "appendfsync", "always"], check=True, capture_output=True)
    # Another service at an address, and no process at the public port.
    found = findings(system, "--url", f"verifier={system.url('Signer')}", "--url", "public=http://127.0.0.1:1", code=10)
    assert found["verifier", "ready"]["found"] == "signer answers at this address" and found["ingest", "public port"]["state"] == "failed"
    # Apple is unreachable: the simulator is stopped.
    system.service("stop", "simulator")
    try:
        found = findings(system, code=1)
        away = found["asa-token-broker", "apple: AdServices"]
        assert away["state"] == "failed" and "could not connect" in away["found"] and away["advice"], away
    finally:
        system.service("start", "simulator")


def test_a_client_without_the_diagnostics_permission_gets_advice(system, tmp_path):
    """A token with other permissions is not reported as unknown."""
    configuration = system.data / "configuration.yaml"
    before = configuration.read_text()
    (tmp_path / "token").write_text("reads-events-alone-0123456789")
    (tmp_path / "token").chmod(0o600)
    digest = subprocess.run(["sha256sum"], input="reads-events-alone-0123456789", text=True, capture_output=True, check=True).stdout.split()[0]
    reader = f'  - {{ name: reader, tokenSHA256: "{digest}", allow: ["attribution.events.v1.EventsService/*"] }}\n'
    configuration.write_text(before.replace("\nclients:\n", "\nclients:\n" + reader))
    try:
        os.kill(system.pid("verifier"), 1)
        until = time.monotonic() + 20
        while ctl(system, "subscriptions", "--token-file", str(tmp_path / "token")).returncode != 0:
            assert time.monotonic() < until
        answer = ctl(system, "doctor", "--token-file", str(tmp_path / "token"), "-o", "json")
        found = {(one["place"], one["check"]): one for one in json.loads(answer.stdout)["findings"]}
        assert answer.returncode == 11 and "DiagnosticsService" in found["verifier", "token"]["advice"], answer
    finally:
        configuration.write_text(before)
        os.kill(system.pid("verifier"), 1)
