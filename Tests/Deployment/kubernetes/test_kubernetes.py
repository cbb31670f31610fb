"""Deploy/kubernetes renders, is valid, and is consistent."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from Deployment.kubernetes.support import kustomization, manifests, swift_source
from Deployment.kubernetes.support.manifests import OVERLAYS, container, environment, named, of_kind, overlay, quantity

from .objects import PROVIDED

# The oldest Kubernetes version that README.md of Deploy/kubernetes names, and the newest whose schema is available.
OLDEST = "1.27"
VERSIONS = [
    one for one in kubernetes_validate.utils.all_versions()
    if [int(part) for part in one.split(".")[:2]] >= [int(part) for part in OLDEST.split(".")]
]
# The definitions are large, and would otherwise be read for each object.
kubernetes_validate.utils.schema_contents = functools.cache(kubernetes_validate.utils.schema_contents)


def sorted_lists(value: Any, key: str = "") -> Any:
    """Sorts lists that Kubernetes treats as sets."""
    if isinstance(value, dict):
        return {name: sorted_lists(one, name) for name, one in value.items()}
    if isinstance(value, list):
        parts = [sorted_lists(one) for one in value]
        merge_key = kustomization.MERGE_KEYS.get(key)
        return sorted(parts, key=lambda one: str(one[merge_key])) if merge_key and all(merge_key in one for one in parts) else parts
    return value


def kubectl_version() -> tuple[int, int]:
    """The version of kubectl on this machine; (0, 0) if there is none."""
    program = shutil.which("kubectl")
    if program is None:
        return 0, 0
    answer = subprocess.run([program, "version", "--client", "-o", "json"], capture_output=True, text=True, check=False)
    if answer.returncode:
        return 0, 0
    client = json.loads(answer.stdout)["clientVersion"]
    return int(client["major"]), int(re.match(r"\d+", client["minor"])[0])  # type: ignore[index]


@pytest.mark.parametrize("name", [f"overlays/{one}" for one in OVERLAYS] + ["base", "scaling", "certificates"])
def test_kubectl_renders_the_same_without_a_warning(name: str) -> None:
    if kubectl_version() < (1, 27):
        pytest.skip("no kubectl of 1.27 or later on this machine")
    directory = manifests.tree() / name
    answer = subprocess.run(["kubectl", "kustomize", directory], capture_output=True, text=True, check=True)
    assert answer.stderr == ""
    theirs = {kustomization.identity(one): sorted_lists(one) for one in yaml.safe_load_all(answer.stdout)}
    ours = {kustomization.identity(one): sorted_lists(one) for one in kustomization.render(directory)}
    assert ours == theirs


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", OVERLAYS)
def test_every_object_is_valid_by_the_strict_schema_of_each_kubernetes_version(name: str, version: str) -> None:
    for resource in overlay(name):
        kubernetes_validate.validate(resource, version, strict=True)


def test_the_oldest_tested_kubernetes_version_is_the_documented_one() -> None:
    assert f"Kubernetes {OLDEST} or later" in (manifests.tree() / "README.md").read_text(encoding="utf-8")
    assert VERSIONS[0].startswith(OLDEST)


@pytest.mark.parametrize("name", OVERLAYS)
def test_each_service_has_all_its_objects(name: str) -> None:
    kinds = Counter(one["kind"] for one in overlay(name))
    redis = 1 if name == "development" else 0
    scaled = 5 if name == "production" else 0
    expected = {
        "Namespace": 1, "ServiceAccount": 5 + redis, "Service": 6 + redis, "Deployment": 5, "PodDisruptionBudget": 5,
        "NetworkPolicy": 9 + redis, "ConfigMap": 1 + redis, "HorizontalPodAutoscaler": scaled, "StatefulSet": redis, "Secret": 4 * redis,
    }
    assert kinds == {kind: count for kind, count in expected.items() if count}
    namespace = of_kind(overlay(name), "Namespace")[0]["metadata"]["name"]
    assert {one["metadata"].get("namespace") for one in overlay(name)} == {None, namespace}


@pytest.mark.parametrize("name", OVERLAYS)
def test_selectors_match_the_intended_pods(name: str) -> None:
    resources = overlay(name)
    pods = {one["metadata"]["name"]: kustomization.pod_template(one) for one in of_kind(resources, "Deployment", "StatefulSet")}
    labels = {pod: template["metadata"]["labels"] for pod, template in pods.items() if template}

    def selected(selector: dict[str, str]) -> set[str]:
        return {pod for pod, own in labels.items() if selector.items() <= own.items()}

    for one in of_kind(resources, "Deployment", "StatefulSet", "PodDisruptionBudget"):
        assert selected(one["spec"]["selector"]["matchLabels"]) == {one["metadata"]["name"]}
    for one in of_kind(resources, "Deployment"):
        constraints = one["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert {constraint["topologyKey"] for constraint in constraints} == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
        for constraint in constraints:
            assert selected(constraint["labelSelector"]["matchLabels"]) == {one["metadata"]["name"]}
    for one in of_kind(resources, "Service"):
        hit = selected(one["spec"]["selector"])
        assert hit == {one["metadata"]["name"].removesuffix("-public")}
        kind = "StatefulSet" if hit == {"redis"} else "Deployment"
        ports = {port["name"] for port in container(named(resources, kind, hit.pop()))["ports"]}
        assert all(port["targetPort"] in ports for port in one["spec"]["ports"])
    for one in of_kind(resources, "HorizontalPodAutoscaler"):
        target = one["spec"]["scaleTargetRef"]
        assert (target["apiVersion"], target["kind"], target["name"]) == ("apps/v1", "Deployment", one["metadata"]["name"])
        deployment = named(resources, "Deployment", target["name"])
        assert "replicas" not in deployment["spec"], "apply would reset what the autoscaler set"


@pytest.mark.parametrize("name", OVERLAYS)
def test_objects_that_pods_refer_to_exist_or_are_documented(name: str) -> None:
    resources = overlay(name)
    present = {kustomization.identity(one) for one in resources}
    required = {(kind, mapping[key]) for one in resources for kind, mapping, key in kustomization.references(one)}
    assert required - present == set(PROVIDED[name])
    unused = {one for one in present if one[0] in ("ConfigMap", "Secret", "ServiceAccount")} - required
    assert not unused
    readme = (manifests.tree() / "README.md").read_text(encoding="utf-8")
    for (_, object_name), keys in PROVIDED[name].items():
        generic = re.sub(r"^(" + "|".join(swift_source.services()) + ")-tls$", "NAME-tls", object_name)
        assert f"`{generic}`" in readme
        for key in keys:
            assert key in readme
    for one in of_kind(resources, "Deployment"):
        for volume in one["spec"]["template"]["spec"]["volumes"]:
            for source in volume.get("projected", {}).get("sources", []):
                kind, content = ("Secret", source["secret"]) if "secret" in source else ("ConfigMap", source["configMap"])
                if (kind, content["name"]) in PROVIDED[name]:
                    assert {item["key"] for item in content["items"]} <= PROVIDED[name][kind, content["name"]]


@pytest.mark.parametrize("name", OVERLAYS)
def test_pods_run_as_a_user_without_privileges_on_a_read_only_file_system(name: str) -> None:
    for one in of_kind(overlay(name), "Deployment", "StatefulSet"):
        spec = one["spec"]["template"]["spec"]
        assert spec["automountServiceAccountToken"] is False and spec["enableServiceLinks"] is False
        assert spec["serviceAccountName"] == one["metadata"]["name"]
        assert not set(spec) & {"hostNetwork", "hostPID", "hostIPC", "initContainers", "ephemeralContainers"}
        user = spec["securityContext"]["runAsUser"]
        assert user > 0
        assert {key: value for key, value in spec["securityContext"].items() if key != "fsGroupChangePolicy"} == {
            "runAsNonRoot": True, "runAsUser": user, "runAsGroup": user, "fsGroup": user, "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert container(one)["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }
        assert all("hostPath" not in volume for volume in spec["volumes"])
        limits, requests = container(one)["resources"]["limits"], container(one)["resources"]["requests"]
        assert set(limits) == set(requests) == {"cpu", "memory"}
        assert all(quantity(requests[key]) <= quantity(limits[key]) for key in limits)
    for one in of_kind(overlay(name), "ServiceAccount"):
        assert one["automountServiceAccountToken"] is False
    assert of_kind(overlay(name), "Namespace")[0]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_rollout_removes_no_instance_before_another_is_ready(name: str) -> None:
    for one in of_kind(overlay(name), "Deployment"):
        assert one["spec"]["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    for one in of_kind(overlay(name), "PodDisruptionBudget"):
        assert one["spec"]["maxUnavailable"] == 1 and "minAvailable" not in one["spec"]
    for one in of_kind(overlay(name), "HorizontalPodAutoscaler"):
        assert 2 <= one["spec"]["minReplicas"] < one["spec"]["maxReplicas"], "a budget of one needs a second instance"
        assert one["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] >= 300


def test_no_variable_and_no_configmap_contains_a_secret() -> None:
    for name in OVERLAYS:
        for one in of_kind(overlay(name), "Deployment"):
            for variable, value in environment(one).items():
                assert not re.search(r"://[^/@]*:[^/@]*@", value), f"{variable} holds a password"
        for one in of_kind(overlay(name), "ConfigMap"):
            assert "PRIVATE KEY" not in json.dumps(one)


def test_only_signer_gets_private_keys() -> None:
    for name in OVERLAYS:
        for one in of_kind(overlay(name), "Deployment", "StatefulSet"):
            secrets = {mapping[key] for kind, mapping, key in kustomization.references(one) if kind == "Secret"}
            has_keys = any(secret.startswith("signer-keys") for secret in secrets)
            assert has_keys == (one["metadata"]["name"] == "signer")


def test_each_deployment_uses_the_image_of_its_service_in_the_current_version() -> None:
    for name, prefix in (("development", ""), ("production", "registry.example.com/")):
        for one in of_kind(overlay(name), "Deployment"):
            assert container(one)["image"] == f"{prefix}apple-attribution/{one['metadata']['name']}:{swift_source.version()}"


def test_the_renderer_refuses_unknown_kustomize_features(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: x\n", encoding="utf-8")
    with pytest.raises(kustomization.KustomizeError, match="namePrefix"):
        kustomization.render(tmp_path)
