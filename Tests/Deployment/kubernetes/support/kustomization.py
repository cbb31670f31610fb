"""Renders a Kustomize directory without any other program. It supports what Deploy/kubernetes uses, and refuses everything else.

Where kubectl is installed, test_kubernetes.py compares the result with that of `kubectl kustomize`.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Resource = dict[str, Any]

# Kinds without a namespace.
CLUSTER_WIDE = {"Namespace"}
# The key that identifies the elements of a list in a strategic merge; all other lists are replaced as a whole.
MERGE_KEYS = {
    "containers": "name", "initContainers": "name", "env": "name", "volumeMounts": "mountPath", "volumes": "name",
    "ports": "containerPort", "topologySpreadConstraints": "topologyKey",
}
KNOWN_FIELDS = {"apiVersion", "kind", "namespace", "resources", "patches", "configMapGenerator", "secretGenerator", "images"}


class KustomizeError(Exception):
    """Thrown for input that is wrong, or that this renderer does not support."""


class _Loader(yaml.SafeLoader):
    """YAML without repeated keys: PyYAML silently uses the last of equal keys."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for key, _ in node.value:
        if key.value in seen:
            raise KustomizeError(f"the key {key.value} occurs twice, line {key.start_mark.line + 1} of {key.start_mark.name}")
        seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(path: Path) -> list[Any]:
    """All documents of a YAML file."""
    with path.open(encoding="utf-8") as file:
        return list(yaml.load_all(file, Loader=_Loader))


def render(directory: Path) -> list[Resource]:
    """The output of `kubectl kustomize DIRECTORY`."""
    resources = _build(directory.resolve())
    _rename_references(resources)
    for resource in resources:
        resource.pop("$original", None)
    return resources


def _build(directory: Path) -> list[Resource]:
    documents = load(directory / "kustomization.yaml")
    if len(documents) != 1:
        raise KustomizeError(f"{directory}: more than one document")
    kustomization = documents[0]
    _allow(kustomization, KNOWN_FIELDS, directory)
    if (kustomization["apiVersion"], kustomization["kind"]) != ("kustomize.config.k8s.io/v1beta1", "Kustomization"):
        raise KustomizeError(f"{directory}: not a Kustomization of v1beta1")
    resources: list[Resource] = []
    for name in kustomization.get("resources", []):
        path = directory / name
        resources += _build(path.resolve()) if path.is_dir() else [copy.deepcopy(one) for one in load(path)]
    for kind, field in (("ConfigMap", "configMapGenerator"), ("Secret", "secretGenerator")):
        resources += [_generated(kind, entry, directory) for entry in kustomization.get(field, [])]
    for entry in kustomization.get("patches", []):
        _apply(entry, resources, directory)
    for image in kustomization.get("images", []):
        _set_image(image, resources, directory)
    if "namespace" in kustomization:
        for resource in resources:
            if resource["kind"] not in CLUSTER_WIDE:
                resource["metadata"]["namespace"] = kustomization["namespace"]
            elif resource["kind"] == "Namespace":
                resource["metadata"]["name"] = kustomization["namespace"]
    identities = [identity(resource) for resource in resources]
    for one in identities:
        if identities.count(one) > 1:
            raise KustomizeError(f"{directory}: {one} is there twice")
    return resources


def identity(resource: Resource) -> tuple[str, str]:
    """Kind and name."""
    return resource["kind"], resource["metadata"]["name"]


def _allow(mapping: dict[str, Any], known: set[str], directory: Path) -> None:
    if unknown := set(mapping) - known:
        raise KustomizeError(f"{directory}: {', '.join(sorted(unknown))} not supported by this renderer")


def _generated(kind: str, entry: dict[str, Any], directory: Path) -> Resource:
    _allow(entry, {"name", "files"}, directory)
    data: dict[str, str] = {}
    for item in entry["files"]:
        if "=" in item:
            raise KustomizeError(f"{directory}: {item}: keys other than the file's name are not supported")
        path = directory / item
        if not path.resolve().is_relative_to(directory):
            raise KustomizeError(f"{directory}: {item} lies outside, which kubectl refuses")
        content = path.read_bytes()
        if path.name in data:
            raise KustomizeError(f"{directory}: two files of the name {path.name} in {entry['name']}")
        data[path.name] = _encoded(content) if kind == "Secret" else content.decode("utf-8")
    resource: Resource = {"apiVersion": "v1", "kind": kind, "metadata": {"name": entry["name"]}, "data": data}
    if kind == "Secret":
        resource["type"] = "Opaque"
    resource["$original"] = entry["name"]
    resource["metadata"]["name"] = f"{entry['name']}-{_suffix(resource)}"
    return resource


def _encoded(content: bytes) -> str:
    """Base64 as kubectl writes it into a Secret: longer texts in lines of 70 characters, each with a line end."""
    text = base64.b64encode(content).decode()
    return text if len(text) < 70 else "".join(text[at:at + 70] + "\n" for at in range(0, len(text), 70))


def _suffix(resource: Resource) -> str:
    """Kustomize's hash of the content. Like Kustomize, it replaces the letters and digits that could spell words. The name is not
    hashed."""
    content: dict[str, Any] = {"kind": resource["kind"], "name": "", "data": resource["data"]}
    if resource["kind"] == "Secret":
        content["type"] = resource["type"]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return "".join({"0": "g", "1": "h", "3": "k", "a": "m", "e": "t"}.get(c, c) for c in hashlib.sha256(text.encode()).hexdigest()[:10])


def _apply(entry: dict[str, Any], resources: list[Resource], directory: Path) -> None:
    _allow(entry, {"path", "target"}, directory)
    patches = load(directory / entry["path"])
    if len(patches) != 1:
        raise KustomizeError(f"{entry['path']}: one patch a file")
    patch = patches[0]
    target = entry.get("target")
    if target is not None:
        _allow(target, {"kind"}, directory)
        hit = [resource for resource in resources if resource["kind"] == target["kind"]]
    else:
        hit = [one for one in resources if identity(one) == identity(patch) and one["apiVersion"] == patch["apiVersion"]]
    if not hit:
        raise KustomizeError(f"{directory}: {entry['path']} applies to nothing")
    content = {key: value for key, value in patch.items() if key not in ("apiVersion", "kind", "metadata")}
    if set(patch["metadata"]) != {"name"}:
        raise KustomizeError(f"{entry['path']}: patches of metadata are not supported")
    for resource in hit:
        _merge(resource, copy.deepcopy(content), entry["path"])


def _merge(base: dict[str, Any], patch: dict[str, Any], location: str) -> None:
    if directives := [key for key in patch if key.startswith("$")]:
        raise KustomizeError(f"{location}: {directives[0]} not supported here")
    for key, value in patch.items():
        where = f"{location}: {key}"
        if value is None:
            base.pop(key, None)
        elif isinstance(value, dict):
            if not isinstance(base.get(key), dict):
                base[key] = {}
            _merge(base[key], value, where)
        elif isinstance(value, list) and key in MERGE_KEYS and isinstance(base.get(key), list):
            _merge_list(base[key], value, MERGE_KEYS[key], where)
        else:
            base[key] = value


def _merge_list(base: list[Any], patch: list[Any], key: str, location: str) -> None:
    for element in patch:
        if not isinstance(element, dict) or key not in element:
            raise KustomizeError(f"{location}: an element without {key}")
        found = next((one for one in base if one.get(key) == element[key]), None)
        directive = element.pop("$patch", None)
        if directive == "delete":
            if found is None:
                raise KustomizeError(f"{location}: {element[key]} is not there to be deleted")
            base.remove(found)
        elif directive is not None:
            raise KustomizeError(f"{location}: $patch: {directive} not supported")
        elif found is None:
            new: dict[str, Any] = {}
            _merge(new, element, location)
            base.append(new)
        else:
            _merge(found, element, location)


def pod_template(resource: Resource) -> dict[str, Any] | None:
    """The template of a resource's pods."""
    return resource["spec"]["template"] if resource["kind"] in ("Deployment", "StatefulSet") else None


def _set_image(image: dict[str, Any], resources: list[Resource], directory: Path) -> None:
    _allow(image, {"name", "newName", "newTag", "digest"}, directory)
    for resource in resources:
        for container in (pod_template(resource) or {"spec": {}})["spec"].get("containers", []):
            match = re.fullmatch(r"(?P<name>.+?)(?P<rest>:[^/:@]+)?", container["image"])
            assert match is not None
            if match["name"] != image["name"]:
                continue
            rest = f"@{image['digest']}" if "digest" in image else f":{image['newTag']}" if "newTag" in image else match["rest"] or ""
            container["image"] = image.get("newName", image["name"]) + rest


def references(resource: Resource) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each member with which a resource's pods name a ConfigMap, a Secret or a ServiceAccount: its kind, its mapping, its key in the
    mapping."""
    template = pod_template(resource)
    if template is None:
        return
    spec = template["spec"]
    if "serviceAccountName" in spec:
        yield "ServiceAccount", spec, "serviceAccountName"
    for volume in spec.get("volumes", []):
        sources = [volume, *volume.get("projected", {}).get("sources", [])]
        for source in sources:
            if "configMap" in source:
                yield "ConfigMap", source["configMap"], "name"
            if "secret" in source:
                yield "Secret", source["secret"], "secretName" if source is volume else "name"
    for container in spec.get("containers", []) + spec.get("initContainers", []):
        for _item in container.get("envFrom", []):
            raise KustomizeError(f"envFrom of {container['name']}: not supported")
        for variable in container.get("env", []):
            for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
                if field in variable.get("valueFrom", {}):
                    yield kind, variable["valueFrom"][field], "name"


def _rename_references(resources: list[Resource]) -> None:
    names = {(one["kind"], one["$original"]): one["metadata"]["name"] for one in resources if "$original" in one}
    for resource in resources:
        for kind, mapping, key in references(resource):
            mapping[key] = names.get((kind, mapping[key]), mapping[key])
