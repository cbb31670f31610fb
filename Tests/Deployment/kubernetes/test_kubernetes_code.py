"""Manifests and the compose file agree with the code: variables, ports, probes, grace periods."""

from __future__ import annotations

import re
from typing import Any

import pytest

from Deployment.kubernetes.support import compose, swift_source
from Deployment.kubernetes.support.manifests import container, environment, named, overlay

from .manifest_code import OTHER_FILES, SECRET_FILES, SERVICES, deployment, deployments


def port_of(url: str) -> int:
    """The port in a URL or in host:port."""
    match = re.search(r":(\d+)(/\d+)?$", url)
    assert match, url
    return int(match[1])


# --- variables -------------------------------------------------------------------------------------------------------


def test_documentation_lists_the_variables_that_the_code_reads() -> None:
    assert swift_source.documented_variables() == swift_source.variables()


@pytest.mark.parametrize("name, service", deployments())
def test_manifests_set_only_variables_that_the_code_reads(name: str, service: str) -> None:
    assert set(environment(deployment(name, service))) <= swift_source.variables()


def test_compose_sets_only_variables_that_the_code_reads() -> None:
    assert set(SERVICES) <= set(compose.with_attribution_variables())
    for service in compose.with_attribution_variables():
        for variables in compose.every_environment(service):
            unknown = {key for key in variables if key.startswith("ATTRIBUTION_")} - swift_source.variables()
            assert not unknown, f"{service} of docker-compose.yml"


def test_every_variable_that_names_a_file_is_listed_here() -> None:
    """A new variable must be added to SECRET_FILES or OTHER_FILES, so that the tests below check it."""
    files = {name for name in swift_source.variables() if re.search(r"_(FILE|KEY|CERTIFICATE|CA|CONFIG)$", name)}
    # These two are not paths of files that are read.
    assert files - {"ATTRIBUTION_AUDIT_FILE", "ATTRIBUTION_TLS_CLIENT_CERTIFICATE"} <= SECRET_FILES | OTHER_FILES


def test_variables_for_development_are_in_no_manifest() -> None:
    for name, service in deployments():
        assert not set(environment(deployment(name, service))) & {
            "ATTRIBUTION_OPEN", "ATTRIBUTION_DEVELOPMENT", "ATTRIBUTION_BENCHMARK_ECHO", "ATTRIBUTION_TIME_SCALE",
            "ATTRIBUTION_CONSENT_CONNECT_TO",
        }


# --- ports -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, service", deployments())
def test_ports_are_those_of_the_code(name: str, service: str) -> None:
    one = deployment(name, service)
    expected = {"rpc": swift_source.ports()[service]} | ({"public": swift_source.public_port()} if service == "ingest" else {})
    assert {port["name"]: port["containerPort"] for port in container(one)["ports"]} == expected
    variables = environment(one)
    assert port_of(variables["ATTRIBUTION_LISTEN"]) == expected["rpc"]
    assert ("ATTRIBUTION_PUBLIC_LISTEN" in variables) == (service == "ingest")
    if service == "ingest":
        assert port_of(variables["ATTRIBUTION_PUBLIC_LISTEN"]) == expected["public"]
        public = named(overlay(name), "Service", "ingest-public")["spec"]["ports"]
        assert [(port["port"], port["targetPort"]) for port in public] == [(expected["public"], "public")]
    rpc = named(overlay(name), "Service", service)["spec"]["ports"]
    assert [(port["port"], port["targetPort"]) for port in rpc] == [(expected["rpc"], "rpc")]


def test_callers_of_signer_have_its_url() -> None:
    for name, service in deployments():
        url = environment(deployment(name, service)).get("ATTRIBUTION_SIGNER_URL")
        assert (url is not None) == bool(swift_source.signer_methods_called(service))
        if url is not None:
            assert re.fullmatch(r"https?://signer:\d+", url) and port_of(url) == swift_source.ports()["signer"]
    for service in SERVICES:
        for variables in compose.every_environment(service):
            if swift_source.signer_methods_called(service):
                assert re.fullmatch(r"https?://(signer|balancer):\d+", variables["ATTRIBUTION_SIGNER_URL"])
                assert port_of(variables["ATTRIBUTION_SIGNER_URL"]) == swift_source.ports()["signer"]


@pytest.mark.parametrize("service", SERVICES)
def test_ports_of_compose_are_those_of_the_code(service: str) -> None:
    known = {swift_source.ports()[service]} | ({swift_source.public_port()} if service == "ingest" else set())
    for variables in compose.every_environment(service):
        if "ATTRIBUTION_LISTEN" in variables:
            assert port_of(variables["ATTRIBUTION_LISTEN"]) == swift_source.ports()[service]
        if service == "ingest" and "ATTRIBUTION_PUBLIC_LISTEN" in variables:
            assert port_of(variables["ATTRIBUTION_PUBLIC_LISTEN"]) == swift_source.public_port()
    assert {int(str(port)) for port in compose.service(service).get("expose", [])} <= known


def test_services_connect_to_the_port_on_which_redis_listens() -> None:
    redis = named(overlay("development"), "StatefulSet", "redis")
    for service in SERVICES:
        url = environment(deployment("development", service))["ATTRIBUTION_REDIS_URL"]
        assert url == f"redis://attribution@redis:{container(redis)['ports'][0]['containerPort']}/0"


# --- probes ----------------------------------------------------------------------------------------------------------


def probed_path(probe: dict[str, Any], service: str) -> str:
    """The path of AdministrativePaths.swift that a probe requests."""
    if "httpGet" in probe:
        assert probe["httpGet"]["port"] == "rpc" and set(probe["httpGet"]) == {"path", "port"}
        return probe["httpGet"]["path"]
    program, *arguments = probe["exec"]["command"]
    assert program == f"/usr/local/bin/{service}"
    return swift_source.health_commands()[" ".join(arguments)]


@pytest.mark.parametrize("name, service", deployments())
def test_probes_use_paths_that_the_service_serves(name: str, service: str) -> None:
    one = container(deployment(name, service))
    # The command `health` cannot request /startupz, so the probe waits until the service is ready, which comes later.
    assert probed_path(one["startupProbe"], service) == ("/startupz" if name == "development" else "/readyz")
    assert probed_path(one["livenessProbe"], service) == "/livez"
    assert probed_path(one["readinessProbe"], service) == "/readyz"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert probed_path(one[probe], service) in swift_source.health_paths()
        assert one[probe]["timeoutSeconds"] > swift_source.health_timeout()


@pytest.mark.parametrize("name, service", deployments())
def test_the_startup_probe_waits_longer_than_the_service(name: str, service: str) -> None:
    one = deployment(name, service)
    probe = container(one)["startupProbe"]
    wait = int(environment(one).get("ATTRIBUTION_START_TIMEOUT_MS", swift_source.default_start_timeout())) / 1000
    waits = (service in swift_source.needs_queues()) + (service in swift_source.needs_signer())
    assert probe["periodSeconds"] * probe["failureThreshold"] >= waits * wait + 30
    assert one["spec"]["progressDeadlineSeconds"] > probe["periodSeconds"] * probe["failureThreshold"]


@pytest.mark.parametrize("service", SERVICES)
def test_compose_health_checks_call_the_executable(service: str) -> None:
    """A service of the compose file uses the health check of the image, or has the same command as its own check."""
    check = compose.service(service).get("healthcheck")
    if check is not None:
        assert check["test"] == ["CMD", f"/usr/local/bin/{service}", "health"]
        assert compose.seconds(check["timeout"]) > swift_source.health_timeout()
    assert "HEALTHCHECK" in swift_source.text("Deploy/Dockerfile")
    assert f'CMD ["/usr/local/bin/{service}", "health"]' in swift_source.text("Deploy/Dockerfile")
    assert f'ENTRYPOINT ["/usr/local/bin/{service}"]' in swift_source.text("Deploy/Dockerfile")


# --- end -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, service", deployments())
def test_a_pod_has_time_to_drain(name: str, service: str) -> None:
    one = deployment(name, service)
    spec = one["spec"]["template"]["spec"]
    drain = int(environment(one).get("ATTRIBUTION_DRAIN_DELAY_MS", swift_source.default_drain_delay())) / 1000
    hook = container(one).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    # Five seconds more, so that the service ends before the kubelet kills it.
    assert spec["terminationGracePeriodSeconds"] >= hook + drain + swift_source.shutdown_seconds() + 5
    # Components that only watch readiness must see it fail twice before listening ends.
    readiness = container(one)["readinessProbe"]
    assert hook + drain > readiness["periodSeconds"] * readiness["failureThreshold"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_container_of_compose_has_time_to_drain(service: str) -> None:
    for variables in compose.every_environment(service):
        drain = int(variables.get("ATTRIBUTION_DRAIN_DELAY_MS", swift_source.default_drain_delay())) / 1000
        assert compose.seconds(compose.service(service)["stop_grace_period"]) >= drain + swift_source.shutdown_seconds() + 5
    assert compose.service(service).get("stop_signal", "SIGTERM") == "SIGTERM"
