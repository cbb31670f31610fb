"""Manifests and the compose file agree with the code: files and users, memory, metrics, Redis."""

from __future__ import annotations

import posixpath
import re

import pytest
import yaml

from Deployment.kubernetes.support import compose, kustomization, manifests, swift_source
from Deployment.kubernetes.support.manifests import OVERLAYS, container, environment, named, of_kind, overlay, quantity

from .manifest_code import OTHER_FILES, SECRET_FILES, SERVICES, deployment, deployments

# The memory that a service may need in addition to request bodies: more than it uses under load by Tests/Benchmarks/results.
OWN_MEMORY = 128 << 20


def listeners(service: str) -> int:
    """The number of listeners: ingest has a public one too."""
    return 2 if service == "ingest" else 1


# --- files and users -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, service", deployments())
def test_pods_run_as_the_user_of_the_image(name: str, service: str) -> None:
    user, group = swift_source.image_user()
    context = deployment(name, service)["spec"]["template"]["spec"]["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"]) == (user, group)


@pytest.mark.parametrize("service", SERVICES)
def test_compose_runs_the_services_as_the_user_of_the_image(service: str) -> None:
    user, group = swift_source.image_user()
    assert compose.service(service).get("user", f"{user}:{group}") in (f"{user}:{group}", str(user))


@pytest.mark.parametrize("name, service", deployments())
def test_secret_files_have_modes_that_the_code_accepts(name: str, service: str) -> None:
    one = deployment(name, service)
    context = one["spec"]["template"]["spec"]["securityContext"]
    files = manifests.files(one, overlay(name))
    variables = environment(one)
    rule = swift_source.file_rule()
    paths = {variables[key] for key in SECRET_FILES & set(variables)}
    paths |= {path for path in files if path.startswith("/etc/attribution/keys/")}
    assert len(paths) >= 2
    for path in paths:
        kind, _, mode = files[path]
        assert kind == "Secret"
        # As the kubelet does: root owns the files; with fsGroup, that group owns them too and can read.
        group, mode = (context["fsGroup"], mode | 0o440) if "fsGroup" in context else (0, mode)
        groups = {context["runAsGroup"], context.get("fsGroup", context["runAsGroup"])}
        assert rule.takes(mode, 0, group, context["runAsUser"], groups), f"{path} has mode {mode:o}"
        # The mode in the manifest is the mode on the disk.
        assert mode == files[path][2]


def test_the_code_refuses_secret_files_with_other_modes_owners_or_groups() -> None:
    """Without fsGroup, with a wider mode or with another group, so that the test above can fail."""
    rule = swift_source.file_rule()
    user, group = swift_source.image_user()
    assert rule.takes(0o440, 0, group, user, {group})
    assert not rule.takes(0o400, 0, 0, user, {group}), "only root can read it"
    assert not rule.takes(0o444, 0, group, user, {group})
    assert not rule.takes(0o460, 0, group, user, {group})
    assert not rule.takes(0o440, 0, 7, user, {group})
    assert not rule.takes(0o440, user, group, user, {group})
    assert rule.takes(0o400, user, group, user, {group})


@pytest.mark.parametrize("name, service", deployments())
def test_variables_name_files_that_are_mounted(name: str, service: str) -> None:
    one = deployment(name, service)
    files = manifests.files(one, overlay(name))
    variables = environment(one)
    named_files = {variables[key] for key in (SECRET_FILES | OTHER_FILES) & set(variables)}
    assert named_files <= set(files)
    # Nothing is mounted that no variable names, except keys, which the configuration names.
    assert {path for path in files if not path.startswith("/etc/attribution/keys/")} == named_files
    for key in OTHER_FILES & set(variables):
        assert files[variables[key]][2] & 0o440


@pytest.mark.parametrize("service", SERVICES)
def test_compose_mounts_the_files_that_its_variables_name(service: str) -> None:
    for variables in compose.every_environment(service):
        for key in (SECRET_FILES | OTHER_FILES) & set(variables):
            path = variables[key]
            # The directory itself is mounted, because its parent may be another volume, without the file.
            assert {path, posixpath.dirname(path)} & set(compose.mounts(service)), f"{key} of {service}: {path}"
    has_keys = "/etc/attribution/keys" in compose.mounts(service)
    assert has_keys == (service == "signer"), "signer alone has the private keys"


def test_files_that_setup_creates_belong_to_the_user_of_the_image() -> None:
    user, group = swift_source.image_user()
    match = swift_source.one(r"^SERVICE=(\d+):(\d+)", "Deploy/setup", re.MULTILINE)
    assert (int(match[1]), int(match[2])) == (user, group)


# --- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OVERLAYS)
def test_request_bodies_fit_into_the_memory_of_a_pod(name: str) -> None:
    """Each listener holds up to limits.bodyMemory, and refuses more. A pod with too little memory is killed before it refuses."""
    text = next(one for one in of_kind(overlay(name), "ConfigMap") if "configuration.yaml" in one["data"])["data"]["configuration.yaml"]
    bound = yaml.safe_load(text).get("limits", {}).get("bodyMemory", swift_source.body_memory())
    for service in SERVICES:
        limit = quantity(container(deployment(name, service))["resources"]["limits"]["memory"])
        assert limit >= listeners(service) * bound + OWN_MEMORY, service


@pytest.mark.parametrize("service", SERVICES)
def test_request_bodies_fit_into_the_memory_of_a_container(service: str) -> None:
    """The same for docker-compose.yml and the configuration that Deploy/setup writes."""
    match = re.search(r"bodyMemory: (\d+)", swift_source.text("Deploy/setup"))
    bound = int(match[1]) if match else swift_source.body_memory()
    assert compose.memory(service) >= listeners(service) * bound + OWN_MEMORY


# --- metrics ---------------------------------------------------------------------------------------------------------


def adapter_rules() -> dict[str, tuple[str, str, str]]:
    """Name of a metric that autoscalers may request → its series, its query, whether it is a rule or an external rule."""
    rules = kustomization.load(manifests.tree() / "metrics/prometheus-adapter.yaml")[0]
    assert set(rules) == {"rules", "externalRules"}
    found = {}
    for kind, entries in rules.items():
        for entry in entries:
            assert set(entry) == {"seriesQuery", "resources", "name", "metricsQuery"} and set(entry["name"]) == {"as"}
            series = re.fullmatch(r"([a-z_]+)\{.*\}", entry["seriesQuery"])
            assert series and entry["name"]["as"] not in found
            found[entry["name"]["as"]] = (series[1], entry["metricsQuery"], kind)
    return found


def test_the_prometheus_adapter_uses_metrics_that_the_code_has() -> None:
    for series, query, _ in adapter_rules().values():
        assert {series, *re.findall(r"(?:attribution|process)_[a-z_]+", query)} <= swift_source.metrics()
        assert series.endswith("_total") == ("rate(" in query), f"{series}: a counter is read by its rate, a gauge is not"


def test_autoscalers_use_metrics_that_their_service_has() -> None:
    used = set()
    for one in of_kind(overlay("production"), "HorizontalPodAutoscaler"):
        service = one["metadata"]["name"]
        metrics = one["spec"]["metrics"]
        assert metrics[-1]["type"] == "Resource" and metrics[-1]["resource"]["name"] == "cpu", "the fallback"
        assert len(metrics) > 1
        for metric in metrics[:-1]:
            kind = metric["type"]
            content = metric[kind.lower()]
            name = content["metric"]["name"]
            series, _, rule = adapter_rules()[name]
            used.add(name)
            assert rule == {"Pods": "rules", "External": "externalRules"}[kind]
            assert service in swift_source.metric_sources(series) or series.startswith("attribution_queue_")
            assert content["target"]["type"] == "AverageValue"
            # Every instance reports the same queue: as a metric of pods, more pods would look like more work.
            assert series.startswith("attribution_queue_") == (kind == "External")
            if kind == "External":
                assert set(content["metric"]["selector"]["matchLabels"]) == {"queue"}
                assert content["metric"]["selector"]["matchLabels"]["queue"] in swift_source.queues()
    assert used == set(adapter_rules())


def test_prometheus_selects_the_pods_of_every_service() -> None:
    job = kustomization.load(manifests.tree() / "metrics/prometheus-scrape.yaml")[0][0]
    namespace = of_kind(overlay("production"), "Namespace")[0]["metadata"]["name"]
    assert job["kubernetes_sd_configs"] == [{"role": "pod", "namespaces": {"names": [namespace]}}]
    keep = {tuple(rule["source_labels"]): rule["regex"] for rule in job["relabel_configs"] if rule.get("action") == "keep"}
    assert keep == {
        ("__meta_kubernetes_pod_label_app_kubernetes_io_part_of",): "apple-attribution",
        ("__meta_kubernetes_pod_container_port_name",): "rpc",
    }
    for service in SERVICES:
        template = kustomization.pod_template(deployment("production", service))
        assert template and template["metadata"]["labels"]["app.kubernetes.io/part-of"] == "apple-attribution"


# --- Redis of the development overlay --------------------------------------------------------------------------------


def test_the_services_accept_the_redis_of_the_overlay() -> None:
    text = next(one for one in of_kind(overlay("development"), "ConfigMap") if "redis.conf" in one["data"])["data"]["redis.conf"]
    settings = dict(line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    guard = swift_source.text("Shared/AttributionQueue/Store/RedisSafetyCheck.swift")
    for name, value in re.findall(r'\("([a-z-]+)", \["(\w+)"\]', guard):
        assert settings[name] == value
    assert settings["appendfsync"] == "always"
    redis = named(overlay("development"), "StatefulSet", "redis")
    paths = set(manifests.files(redis, overlay("development")))
    assert {settings["aclfile"], container(redis)["command"][1]} <= paths
    limit = quantity(container(redis)["resources"]["limits"]["memory"])
    assert quantity(settings["maxmemory"].replace("mb", "Mi")) * 2 <= limit, "a rewrite of the file may copy all of it"


def test_redis_users_are_the_same_in_compose_and_kubernetes() -> None:
    def lines(path: str) -> list[str]:
        return [re.sub(r"#\$\([^ ]* .*?\)\)?(?= )", "#…", line) for line in re.findall(r"^user .*$", swift_source.text(path), re.MULTILINE)]

    here, compose_users = lines("Deploy/kubernetes/make-development"), lines("Deploy/setup")
    assert here == [line for line in compose_users if not line.startswith("user operator ")]
