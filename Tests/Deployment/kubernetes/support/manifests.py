"""The rendered overlays, and functions to find objects in them."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from . import kustomization
from .swift_source import ROOT

Resource = dict[str, Any]
OVERLAYS = ("development", "production")


@cache
def tree() -> Path:
    """A copy of Deploy/kubernetes with the files that make-development creates, which are not in the repository."""
    copy = Path(tempfile.mkdtemp(prefix="kubernetes-"))
    atexit.register(shutil.rmtree, copy)
    deploy = copy / "Deploy"
    shutil.copytree(ROOT / "Deploy/kubernetes", deploy / "kubernetes", ignore=shutil.ignore_patterns("made"))
    shutil.copy(ROOT / "Deploy/development.sh", deploy)
    subprocess.run([deploy / "kubernetes/make-development"], check=True, capture_output=True)
    return deploy / "kubernetes"


@cache
def overlay(name: str) -> list[Resource]:
    """The objects that `kubectl apply -k` would send."""
    return kustomization.render(tree() / "overlays" / name)


def of_kind(resources: list[Resource], *kinds: str) -> list[Resource]:
    """The objects of these kinds."""
    return [one for one in resources if one["kind"] in kinds]


def named(resources: list[Resource], kind: str, name: str) -> Resource:
    """The object of this kind and name."""
    found = [one for one in resources if kustomization.identity(one) == (kind, name)]
    assert len(found) == 1, f"{len(found)} of {kind} {name}"
    return found[0]


def container(deployment: Resource) -> dict[str, Any]:
    """The only container of a pod."""
    containers = deployment["spec"]["template"]["spec"]["containers"]
    assert len(containers) == 1
    return containers[0]


def environment(deployment: Resource) -> dict[str, str]:
    """The variables of a pod's container."""
    variables = container(deployment)["env"]
    names = [one["name"] for one in variables]
    assert len(set(names)) == len(names)
    return {one["name"]: one["value"] for one in variables}


def quantity(text: str | int) -> float:
    """A number with one of Kubernetes' suffixes."""
    factors = {"m": 1e-3, "k": 1e3, "M": 1e6, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
    for suffix, factor in factors.items():
        if str(text).endswith(suffix):
            return float(str(text).removesuffix(suffix)) * factor
    return float(text)


def files(resource: Resource, resources: list[Resource]) -> dict[str, tuple[str, str, int]]:
    """Path in the container → kind of its volume, object that it comes from, mode.

    For Secrets that are not in the overlay, only the keys that a volume names are known.
    """
    spec = resource["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    found: dict[str, tuple[str, str, int]] = {}
    for mount in container(resource)["volumeMounts"]:
        volume = volumes.pop(mount["name"], None)
        if volume is None:
            assert mount["name"] in [claim["metadata"]["name"] for claim in resource["spec"].get("volumeClaimTemplates", [])]
            continue
        whole = volume.get("projected") or volume.get("secret") or volume["configMap"]
        mode = whole.get("defaultMode", 0o644)
        for source in volume["projected"]["sources"] if "projected" in volume else [volume]:
            kind = "Secret" if "secret" in source else "ConfigMap"
            content = source.get("secret") or source["configMap"]
            name = content.get("secretName") or content["name"]
            present = [one for one in resources if kustomization.identity(one) == (kind, name)]
            keys = {key: key for key in present[0]["data"]} if present else {}
            if "items" in content:
                for item in content["items"]:
                    assert not present or item["key"] in keys, f"{kind} {name} has no {item['key']}"
                keys = {item["key"]: item["path"] for item in content["items"]}
            for path in keys.values():
                mounted = f"{mount['mountPath']}/{path}"
                assert mounted not in found, f"{mounted} is there twice"
                found[mounted] = (kind, name, mode)
    assert not volumes, f"{resource['metadata']['name']} has volumes that it does not mount: {list(volumes)}"
    return found
