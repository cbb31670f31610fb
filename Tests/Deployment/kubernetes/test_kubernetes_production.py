"""The production overlay: TLS inside, and the methods that callers may call."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from Deployment.kubernetes.support import manifests, swift_source
from Deployment.kubernetes.support.manifests import OVERLAYS, container, environment, named, of_kind, overlay

from .objects import PROVIDED, certificates


def production_configuration() -> dict[str, Any]:
    """The configuration of the production overlay."""
    return yaml.safe_load(of_kind(overlay("production"), "ConfigMap")[0]["data"]["configuration.yaml"])


def test_certificates_have_the_names_that_the_configuration_and_the_callers_know() -> None:
    found = certificates()
    clients = {client["name"]: client for client in production_configuration()["clients"]}
    namespace = of_kind(overlay("production"), "Namespace")[0]["metadata"]["name"]
    for name in swift_source.services():
        spec = found[f"{name}-tls"]
        assert spec["uris"] == [f"spiffe://attribution.internal/{name}"]
        assert {name, f"{name}.{namespace}.svc"} <= set(spec["dnsNames"])
        assert {"server auth", "client auth"} <= set(spec["usages"])
        # The code checks that each Secret's file has a key without a passphrase; cert-manager writes such keys.
        assert spec["privateKey"]["algorithm"] == "ECDSA"
    assert clients["ad-server"]["certificateName"] == found["ad-server-tls"]["uris"][0]
    known = {client["certificateName"] for client in clients.values()}
    assert found["prometheus-tls"]["uris"][0] not in known, "scraping needs no right to call"
    tls_secrets = {name for kind, name in PROVIDED["production"] if kind == "Secret" and name.endswith("-tls")}
    assert tls_secrets <= set(found)


def test_production_requires_certificates_everywhere() -> None:
    resources = overlay("production")
    for one in of_kind(resources, "Deployment"):
        variables = environment(one)
        files = manifests.files(one, resources)
        assert variables["ATTRIBUTION_TLS_CLIENT_CERTIFICATE"] == "required"
        assert variables["ATTRIBUTION_REDIS_URL"].startswith("rediss://")
        assert "ATTRIBUTION_SERVICE_TOKEN_FILE" not in variables
        secrets = {files[variables[f"ATTRIBUTION_TLS_{part}"]][1] for part in ("CERTIFICATE", "KEY", "CLIENT_CA")}
        assert secrets == {f"{one['metadata']['name']}-tls"}
        # Callers of signer trust the authority of its certificate.
        if "ATTRIBUTION_SIGNER_URL" in variables:
            host = re.fullmatch(r"https://([a-z.-]+):(\d+)", variables["ATTRIBUTION_SIGNER_URL"])
            assert host and host[1] in certificates()["signer-tls"]["dnsNames"] and int(host[2]) == swift_source.ports()["signer"]
            assert files[variables["ATTRIBUTION_SIGNER_CA_FILE"]][1] == f"{one['metadata']['name']}-tls"
        assert ("ATTRIBUTION_NOTIFICATION_RECOVERY_URL" in variables) == bool(swift_source.recovery_methods_called(one["metadata"]["name"]))
        assert ("ATTRIBUTION_VERIFIER_URL" in variables) == bool(swift_source.verifier_methods_called(one["metadata"]["name"]))
        if "ATTRIBUTION_VERIFIER_URL" in variables:
            host = re.fullmatch(r"https://([a-z.-]+):(\d+)", variables["ATTRIBUTION_VERIFIER_URL"])
            assert host and host[1] in certificates()["verifier-tls"]["dnsNames"] and int(host[2]) == swift_source.ports()["verifier"]
        if "ATTRIBUTION_NOTIFICATION_RECOVERY_URL" in variables:
            host = re.fullmatch(r"https://([a-z.-]+):(\d+)", variables["ATTRIBUTION_NOTIFICATION_RECOVERY_URL"])
            assert host and host[1] in certificates()["notification-recovery-tls"]["dnsNames"]
            assert int(host[2]) == swift_source.ports()["notification-recovery"]
        # The internal authority must not be trusted for Apple's hosts: outgoing requests use the image's own trust anchors.
        assert "ATTRIBUTION_CA_FILE" not in variables
        # A kubelet has no certificate, so no probe can use the network.
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert "exec" in container(one)[probe] and "httpGet" not in container(one)[probe]


def test_callers_may_call_exactly_the_methods_that_they_need() -> None:
    clients = {client["name"]: client for client in production_configuration()["clients"]}
    for name in swift_source.services():
        called = swift_source.signer_methods_called(name)
        if not called:
            assert name not in clients
            continue
        assert set(clients[name]["allow"]) == called | swift_source.recovery_methods_called(name) | swift_source.verifier_methods_called(name)
        assert clients[name]["certificateName"] == f"spiffe://attribution.internal/{name}"
    for client in clients.values():
        assert "tokenSHA256" not in client
        for pattern in client["allow"]:
            whole = pattern.removesuffix("*")
            assert any(method == pattern or (whole != pattern and method.startswith(whole)) for method in swift_source.contract()), pattern
            assert "*" not in pattern or pattern.endswith("Service/*"), f"{pattern} is wider than a service"


def test_key_files_of_the_configuration_are_in_signers_secret() -> None:
    for name in OVERLAYS:
        configuration = yaml.safe_load(
            next(one for one in of_kind(overlay(name), "ConfigMap") if "configuration.yaml" in one["data"])["data"]["configuration.yaml"])
        text = json.dumps(configuration)
        paths = set(re.findall(r'"(keys/[^"]+)"', text))
        signer = named(overlay(name), "Deployment", "signer")
        mounted = {mount["name"]: mount["mountPath"] for mount in container(signer)["volumeMounts"]}
        assert mounted["keys"] == "/etc/attribution/keys"
        secret = next(v for v in signer["spec"]["template"]["spec"]["volumes"] if v["name"] == "keys")["secret"]["secretName"]
        keys = PROVIDED[name].get(("Secret", secret)) or set(named(overlay(name), "Secret", secret)["data"])
        assert paths == {f"keys/{key}" for key in keys}
