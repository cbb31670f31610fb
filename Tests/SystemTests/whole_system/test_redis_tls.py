"""Redis over TLS with certificates on both sides, and new certificates while services run."""

import pathlib
import shutil
import subprocess
import time

import pytest

from SystemTests.support.authority import Authority
from SystemTests.support.bare_service import BareRedis, BareService
from SystemTests.support.free_ports import free_port


class Files:
    """The files of one service and its Redis; `issue` replaces all of them by those of another authority."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.ca, self.server, self.server_key = folder / "ca.pem", folder / "server.pem", folder / "server.key"
        self.client, self.client_key = folder / "client.pem", folder / "client.key"
        self.issue("first")

    def issue(self, name: str) -> None:
        authority = Authority(self.folder, name)
        authority.issue("redis", "DNS:localhost,IP:127.0.0.1", self.server, self.server_key)
        authority.issue("service", "DNS:service", self.client, self.client_key)
        shutil.copy(authority.certificate, self.ca)

    def redis(self, port: int, folder: pathlib.Path, *settings: str) -> BareRedis:
        return BareRedis(folder, "--tls-port", str(port), "--tls-cert-file", str(self.server), "--tls-key-file", str(self.server_key),
                         "--tls-ca-cert-file", str(self.ca), "--tls-auth-clients", "yes", *settings, port=0)

    def variables(self, port: int, host: str = "127.0.0.1") -> dict[str, str]:
        return {"ATTRIBUTION_REDIS_URL": f"rediss://{host}:{port}/0", "ATTRIBUTION_REDIS_CA_FILE": str(self.ca),
                "ATTRIBUTION_REDIS_CERTIFICATE": str(self.client), "ATTRIBUTION_REDIS_KEY": str(self.client_key),
                "ATTRIBUTION_START_TIMEOUT_MS": "5000"}

    def ask(self, port: int, *words: str) -> str:
        return subprocess.run(
            ["redis-cli", "-p", str(port), "--tls", "--cacert", str(self.ca), "--cert", str(self.client), "--key", str(self.client_key), *words],
            capture_output=True, text=True, check=True, timeout=30).stdout.strip()


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_service_reaches_its_redis_by_name_and_by_address(tmp_path, files, host):
    port = free_port()
    with files.redis(port, tmp_path / "redis"), BareService(tmp_path, "verifier", **files.variables(port, host)) as service:
        service.wait_for("/readyz", 200)


@pytest.mark.parametrize("case", ["another authority's server", "no certificate shown", "another name"])
def test_an_unauthenticated_connection_is_refused(tmp_path, files, case):
    port, variables = free_port(), files.variables(free_port())
    variables["ATTRIBUTION_REDIS_URL"] = f"rediss://127.0.0.1:{port}/0"
    if case == "another authority's server":
        variables["ATTRIBUTION_REDIS_CA_FILE"] = str(Authority(tmp_path, "stranger").certificate)
    elif case == "no certificate shown":
        del variables["ATTRIBUTION_REDIS_CERTIFICATE"], variables["ATTRIBUTION_REDIS_KEY"]
    else:
        Authority(tmp_path, "other").issue("redis", "DNS:redis.example", files.server, files.server_key)
        shutil.copy(tmp_path / "other.pem", files.ca)
        Authority(tmp_path, "other-client").issue("service", "DNS:service", files.client, files.client_key)
        # Redis trusts this client's authority; only the name is wrong.
        files.ca.write_text(files.ca.read_text() + (tmp_path / "other-client.pem").read_text())
    with files.redis(port, tmp_path / "redis"), BareService(tmp_path, "verifier", **variables) as service:
        assert service.process.wait(40) == 69, service.log()
    assert "cannot start: Redis is unavailable" in service.log()


def test_new_certificates_are_used_without_a_restart(tmp_path, files):
    """All connections are cut after every file was replaced, and Redis only trusts the new authority."""
    port = free_port()
    # Without retries, so that 200 shows that Redis answers now.
    with BareService(tmp_path, "verifier", **files.variables(port), ATTRIBUTION_REDIS_AWAY_MS="0") as service:
        with files.redis(port, tmp_path / "redis"):
            service.wait_for("/readyz", 200)
        files.issue("second")
        with files.redis(port, tmp_path / "redis"):
            service.wait_for("/readyz", 200)
            assert files.ask(port, "PING") == "PONG"
            files.ask(port, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            time.sleep(0.2)
            service.wait_for("/readyz", 200)
        assert service.process.poll() is None


@pytest.mark.parametrize("change, words", [
    ({"ATTRIBUTION_REDIS_CA_FILE": "/no/such/file"}, "/no/such/file cannot be read, or contains no certificate in PEM format"),
    ({"ATTRIBUTION_REDIS_KEY": ""}, "ATTRIBUTION_REDIS_CERTIFICATE: and ATTRIBUTION_REDIS_KEY belong together"),
    ({"ATTRIBUTION_REDIS_URL": "redis://127.0.0.1/0"}, "must begin with rediss://, because files for TLS are given"),
])
def test_a_wrong_setting_of_redis_tls_prevents_the_start_and_is_named(tmp_path, files, change, words):
    with BareService(tmp_path, "verifier", **{**files.variables(1), **change}) as service:
        assert service.process.wait(20) == 78
    assert words in service.log()


def test_a_client_key_that_others_may_read_prevents_the_start_and_is_named(tmp_path, files):
    files.client_key.chmod(0o644)
    with BareService(tmp_path, "verifier", **files.variables(1)) as service:
        assert service.process.wait(20) == 78
    assert f"{files.client_key} has mode 0644" in service.log()
