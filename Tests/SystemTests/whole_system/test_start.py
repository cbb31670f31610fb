"""The start of a service: it waits for Redis and signer until the start timeout, and does not start with wrong settings, unreadable files
or settings that would lose deliveries or admit nobody."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from SystemTests.support.bare_service import BINARIES, BareRedis, BareService
from SystemTests.support.free_ports import free_port
from SystemTests.support.signer_process import ROOT, SignerProcess, make_key

SERVICES = ["signer", "verifier", "ingest", "notification-recovery", "asa-token-broker"]


@pytest.mark.parametrize("executable", SERVICES)
def test_an_executable_prints_its_version(executable):
    answer = subprocess.run([BINARIES / executable, "--version"], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0
    source = (ROOT / "Shared/ServiceRuntime/Lifecycle/BuildInformation.swift").read_text()
    version = re.search(r'version = "([^"]+)"', source).group(1)
    assert re.fullmatch(rf"{executable} {re.escape(version)} \(commit [0-9a-z_]+, (debug|release) build\)\n", answer.stdout)


@pytest.mark.parametrize("executable", ["verifier", "ingest", "asa-token-broker"])
def test_a_service_waits_for_its_redis(tmp_path, executable):
    redis = BareRedis(tmp_path / "redis")
    with BareService(tmp_path, executable, ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0") as service:
        service.wait_for("/livez", 200)
        assert service.status("/readyz") == 503 and service.status("/startupz") == 503
        assert service.command("health").returncode == 1 and service.command("health", "--live").returncode == 0
        # There is nothing to reload yet.
        service.process.send_signal(signal.SIGHUP)
        with redis:
            service.wait_for("/readyz", 200)
            service.process.send_signal(signal.SIGHUP)
            service.wait_for_words("the configuration was reloaded")
            assert service.command("health").returncode == 0 and service.status("/startupz") == 200
            service.process.send_signal(signal.SIGTERM)
            assert service.process.wait(30) == 0, service.log()
    assert service.log().count('"waiting for redis"') == 1 and "Connection refused" in service.log()


@pytest.mark.parametrize("setting", ["deliveryGeneration: 8d", "notificationGeneration: 179d", "rpcAnswerTTL: 23h"])
def test_a_service_refuses_to_forget_deliveries_while_senders_retry(tmp_path, setting):
    name = "queues." + setting.split(":", maxsplit=1)[0]
    with BareRedis(tmp_path / "redis") as redis:
        url = f"redis://127.0.0.1:{redis.port}/0"
        with BareService(tmp_path, "verifier", f"queues: {{ {setting} }}", ATTRIBUTION_REDIS_URL=url) as service:
            assert service.process.wait(30) == 78 and f"cannot start: {name}: must be at least" in service.log()
            checked = service.command("check-configuration", service.environment["ATTRIBUTION_CONFIG"])
            assert checked.returncode == 78 and name in checked.stdout
        with BareService(tmp_path / "development", "verifier", f"queues: {{ {setting} }}", ATTRIBUTION_REDIS_URL=url,
                         ATTRIBUTION_DEVELOPMENT="1") as service:
            service.wait_for("/readyz", 200)


def test_signer_needs_no_redis_to_start(tmp_path):
    make_key(tmp_path / "a.pem")
    with BareService(tmp_path, "signer", "adNetworks: [ { id: example123.skadnetwork, keys: [ { id: a, state: active, path: a.pem } ] } ]",
                     ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{free_port()}/0") as service:
        service.wait_for("/readyz", 200, 10)


def test_a_service_exits_with_69_when_the_start_timeout_is_over(tmp_path):
    begin = time.monotonic()
    with BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{free_port()}/0",
                     ATTRIBUTION_START_TIMEOUT_MS="3000") as service:
        assert service.process.wait(30) == 69
    assert time.monotonic() - begin > 1.5
    assert "verifier: cannot start: Redis is unavailable: cannot connect to 127.0.0.1" in service.log()


def test_a_start_timeout_of_zero_does_not_wait(tmp_path):
    with BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{free_port()}/0",
                     ATTRIBUTION_START_TIMEOUT_MS="0") as service:
        assert service.process.wait(20) == 69
    assert "waiting for" not in service.log()


@pytest.mark.parametrize("variable, value", [
    *(("ATTRIBUTION_START_TIMEOUT_MS", value) for value in ("-1", "3600001", "soon")),
    *(("ATTRIBUTION_REDIS_AWAY_MS", value) for value in ("-1", "600001", "soon")),
    *(("ATTRIBUTION_DRAIN_DELAY_MS", value) for value in ("-1", "600001", "soon")),
])
def test_an_invalid_timeout_prevents_the_start_and_is_named(tmp_path, variable, value):
    with BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL="redis://127.0.0.1/0", **{variable: value}) as service:
        assert service.process.wait(20) == 78
    assert f"{variable}: must be" in service.log()


@pytest.mark.parametrize("milliseconds, tolerated", [(0, False), (600_000, True)])
def test_readiness_tolerates_a_slow_redis_for_the_configured_time(tmp_path, milliseconds, tolerated):
    with BareRedis(tmp_path / "redis") as redis, \
            BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0",
                        ATTRIBUTION_REDIS_AWAY_MS=str(milliseconds)) as service:
        service.wait_for("/readyz", 200)
        redis.process.send_signal(signal.SIGSTOP)
        try:
            # The query takes a second to time out.
            assert [service.status("/readyz") for _ in range(2)] == [200 if tolerated else 503] * 2
        finally:
            redis.process.send_signal(signal.SIGCONT)
        service.wait_for("/readyz", 200)


@pytest.mark.parametrize("variable", ["ATTRIBUTION_CA_FILE", "ATTRIBUTION_SIGNER_CA_FILE"])
def test_an_unreadable_file_of_authorities_prevents_the_start_and_is_named(tmp_path, variable):
    with BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL="redis://127.0.0.1/0", **{variable: "/no/such/file"}) as service:
        assert service.process.wait(20) == 78
    assert f"{variable}: /no/such/file cannot be read" in service.log()


def test_a_waiting_service_stops_on_a_signal(tmp_path):
    with BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{free_port()}/0") as service:
        service.wait_for("/livez", 200)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(10) == 0, service.log()


def test_notification_recovery_waits_for_signer_too(tmp_path):
    make_key(tmp_path / "a.pem")
    port = free_port()
    with BareRedis(tmp_path / "redis") as redis, \
            BareService(tmp_path, "notification-recovery", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0",
                        ATTRIBUTION_SIGNER_URL=f"http://127.0.0.1:{port}") as service:
        service.wait_for_words('"waiting for signer"')
        service.wait_for("/livez", 200)
        assert service.status("/readyz") == 503
        with SignerProcess(tmp_path, "adNetworks: [ { id: example123.skadnetwork, keys: [ { id: a, state: active, path: a.pem } ] } ]",
                           port=port):
            service.wait_for("/readyz", 200)


def test_a_waiting_service_answers_health_checks_and_no_signal_is_lost(tmp_path):
    """An idle connection keeps the port for a moment when the waiting ends."""
    port = free_port()
    make_key(tmp_path / "a.pem")
    redis = BareRedis(tmp_path / "redis")
    with BareService(tmp_path, "notification-recovery", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0",
                     ATTRIBUTION_SIGNER_URL=f"http://127.0.0.1:{port}") as service:
        service.wait_for_words('"waiting for redis"')
        service.wait_for("/livez", 200)
        with redis:
            while '"waiting for signer"' not in service.log():
                assert service.status("/livez") == 200, service.log()
                time.sleep(0.01)
            with socket.create_connection(("127.0.0.1", service.port)), \
                    SignerProcess(tmp_path, "adNetworks: [ { id: example123.skadnetwork, keys: [ { id: a, state: active, path: a.pem } ] } ]",
                                  port=port):
                service.wait_for_words('"signer is available"')
                service.process.send_signal(signal.SIGTERM)
                assert service.process.wait(10) == 0, service.log()


def test_notification_recovery_exits_without_a_signer(tmp_path):
    with BareRedis(tmp_path / "redis") as redis, \
            BareService(tmp_path, "notification-recovery", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0",
                        ATTRIBUTION_SIGNER_URL=f"http://127.0.0.1:{free_port()}", ATTRIBUTION_START_TIMEOUT_MS="3000") as service:
        assert service.process.wait(60) == 69
    assert "signer does not answer (ATTRIBUTION_SIGNER_URL says where it is)" in service.log()


def test_a_refusal_of_redis_is_reported_with_its_message(tmp_path):
    with BareRedis(tmp_path / "redis", "--requirepass", "right-password") as redis:
        for name, credentials, words in [("none", "", "NOAUTH Authentication required"), ("wrong", ":no-such-password@", "WRONGPASS")]:
            with BareService(tmp_path / name, "verifier", ATTRIBUTION_REDIS_URL=f"redis://{credentials}127.0.0.1:{redis.port}/0",
                             ATTRIBUTION_START_TIMEOUT_MS="2000") as service:
                assert service.process.wait(30) == 69
            assert f"cannot start: Redis refused a command: {words}" in service.log()
            assert "no-such-password" not in service.log()


def test_a_refused_connection_is_reported_with_the_message_of_redis(tmp_path):
    """In protected mode Redis sends the reason and closes the connection before it reads."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)

        def refuse() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connection.sendall(b"-DENIED Redis is running in protected mode because protected mode is enabled\r\n")
                connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        with BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{listener.getsockname()[1]}/0",
                         ATTRIBUTION_START_TIMEOUT_MS="2000") as service:
            assert service.process.wait(30) == 69
        listener.shutdown(socket.SHUT_RDWR)
    assert "DENIED Redis is running in protected mode" in service.log().splitlines()[-1]


def test_the_redis_password_is_read_from_a_file_that_others_may_not_read(tmp_path):
    acl = tmp_path / "users.acl"
    acl.write_text("user default off\nuser attribution on >right-password ~* &* +@all\n")
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text("right-password\n")
    with BareRedis(tmp_path / "redis", "--aclfile", str(acl)) as redis:
        url = f"redis://attribution@127.0.0.1:{redis.port}/0"
        with BareService(tmp_path / "a", "verifier", ATTRIBUTION_REDIS_URL=url, ATTRIBUTION_REDIS_PASSWORD_FILE=str(password)) as service:
            service.wait_for("/readyz", 200)
            assert "right-password" not in service.log()
        for name, change, words in [
                ("mode", lambda: password.chmod(0o644), "others may read or change it"),
                ("absent", password.unlink, "does not exist")]:
            change()
            with BareService(tmp_path / name, "verifier", ATTRIBUTION_REDIS_URL=url, ATTRIBUTION_REDIS_PASSWORD_FILE=str(password)) as service:
                assert service.process.wait(20) == 78
            assert "ATTRIBUTION_REDIS_PASSWORD_FILE: " in service.log() and words in service.log()


def test_the_health_command_fails_without_a_listener(tmp_path):
    service = BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL="redis://127.0.0.1/0")
    answer = service.command("health")
    assert answer.returncode == 1 and "/readyz does not answer" in answer.stderr and not answer.stdout
    assert service.command("health", "--timeout", "0").returncode == 64


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to start as another user")
def test_a_key_of_root_is_accepted_if_the_group_of_the_service_may_read_it(tmp_path):
    """The mode with which Kubernetes mounts a secret with fsGroup."""
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:3]:
        parent.chmod(0o755)
    key = make_key(tmp_path / "a.pem")
    configuration = tmp_path / "configuration.yaml"
    configuration.write_text("adNetworks: [ { id: example123.skadnetwork, keys: [ { id: a, state: active, path: a.pem } ] } ]\n")
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    for file in (key, token):
        os.chown(file, 0, 10_001)
        file.chmod(0o440)
    executable = tmp_path / "signer"
    executable.write_bytes((BINARIES / "signer").read_bytes())
    executable.chmod(0o755)

    def end(groups: list[int]) -> str:
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                [executable], stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=10_001, group=10_002, extra_groups=groups,
                env={"ATTRIBUTION_CONFIG": str(configuration), "ATTRIBUTION_LISTEN": f"127.0.0.1:{free_port()}",
                     "ATTRIBUTION_SERVICE_TOKEN_FILE": str(token)})
            until = time.monotonic() + 20
            while process.poll() is None and '"listening"' not in (tmp_path / "log").read_text() and time.monotonic() < until:
                time.sleep(0.05)
            process.kill()
            process.wait()
        return (tmp_path / "log").read_text()

    assert '"listening"' in end([10_001])
    refusal = end([10_003])
    assert '"listening"' not in refusal and "cannot be read" in refusal


def test_a_service_that_nobody_could_call_does_not_start(tmp_path):
    service = BareService(tmp_path, "signer")
    del service.environment["ATTRIBUTION_SERVICE_TOKEN_FILE"]
    with service:
        assert service.process.wait(20) == 78
    assert "nobody could call" in service.log()


def test_a_service_without_credentials_listens_only_on_loopback(tmp_path):
    with BareService(tmp_path, "signer", ATTRIBUTION_OPEN="1", ATTRIBUTION_LISTEN=f"0.0.0.0:{free_port()}") as service:
        assert service.process.wait(20) == 78
    assert "ATTRIBUTION_OPEN" in service.log() and "loopback" in service.log()


def test_a_service_on_loopback_is_not_called_by_a_page_whose_name_resolves_to_it(tmp_path):
    with BareService(tmp_path, "signer", ATTRIBUTION_OPEN="1", ATTRIBUTION_HOSTS="ads.example.com") as service:
        service.wait_for("/readyz", 200)
        answers = {}
        for host in (f"127.0.0.1:{service.port}", "localhost", "ads.example.com", "evil.example", f"evil.example:{service.port}"):
            connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
            connection.request("POST", "/attribution.signer.v1.SignerService/ListSigningKeys", "{}",
                               {"Host": host, "Content-Type": "application/json"})
            answer = connection.getresponse()
            answers[host.split(":")[0]] = answer.status, json.loads(answer.read()).get("code")
            connection.close()
    refused = (421, "permission_denied")
    assert answers == {"127.0.0.1": (200, None), "localhost": (200, None), "ads.example.com": (200, None), "evil.example": refused}
