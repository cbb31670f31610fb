"""The NetworkPolicies allow exactly the connections that the services need."""

from __future__ import annotations

import re
from functools import cache

import pytest

from Deployment.kubernetes.support import kustomization, swift_source
from Deployment.kubernetes.support.manifests import OVERLAYS, container, of_kind, overlay
from Deployment.kubernetes.support.network import Peer, allowed, may_begin

SERVICES = swift_source.services()
PORTS = swift_source.ports()
PUBLIC = swift_source.public_port()
REDIS = 6379
# The ports outside the cluster to which each service connects. `swift_source` reads only from the code which services call signer.
OUTSIDE_PORTS = {"notification-recovery": {443}, "asa-token-broker": {443}, "ingest": {443}, "verifier": {80, 443}}
# Pods of an overlay other than the five services.
PODS = {"development": {"redis"}, "production": set()}
PORTS_TRIED = [53, 80, 443, REDIS, PUBLIC, 8404, 9090, *PORTS.values()]


@cache
def peers(name: str) -> dict[str, Peer]:
    """All possible ends of a connection: the overlay's own pods, other pods of the cluster, addresses outside."""
    resources = overlay(name)
    home = of_kind(resources, "Namespace")[0]["metadata"]
    own = (("kubernetes.io/metadata.name", home["name"]), *home["labels"].items())
    found: dict[str, Peer] = {}
    for one in of_kind(resources, "Deployment", "StatefulSet"):
        template = kustomization.pod_template(one)
        assert template is not None
        found[one["metadata"]["name"]] = Peer(
            one["metadata"]["name"], home["name"], tuple(template["metadata"]["labels"].items()), own,
            ports=tuple((port["name"], port["containerPort"]) for port in container(one)["ports"]))

    def elsewhere(peer: str, namespace: str, labels: dict[str, str], namespace_labels: dict[str, str]) -> None:
        found[peer] = Peer(
            peer, namespace, tuple(labels.items()), (("kubernetes.io/metadata.name", namespace), *namespace_labels.items()))

    caller = {"apple-attribution/rpc-caller": "true"}
    elsewhere("dns", "kube-system", {"k8s-app": "kube-dns"}, {})
    elsewhere("other pod of kube-system", "kube-system", {"k8s-app": "metrics-server"}, {})
    elsewhere("caller's namespace", "ads", {}, caller)
    elsewhere("prometheus", "monitoring", {}, {"apple-attribution/metrics-reader": "true"})
    elsewhere("stranger", "default", {"app.kubernetes.io/name": "signer"}, {})
    elsewhere("stranger with a caller's label", "default", caller, {})
    found["caller of this namespace"] = Peer("caller of this namespace", home["name"], tuple(caller.items()), own)
    found["stranger of this namespace"] = Peer("stranger of this namespace", home["name"], (("app.kubernetes.io/name", "x"),), own)
    for outsider, address in {
        "internet": "17.57.144.10", "internet, IPv6": "2620:149:a44::10", "machine's metadata": "169.254.169.254",
        "private network": "192.168.7.7", "other private network": "10.1.2.3", "private network, IPv6": "fd00::7",
    }.items():
        found[outsider] = Peer(outsider, address=address)
    if name == "production":
        found["redis"] = Peer("redis", address="10.0.100.5")
    return found


Flow = tuple[str, str, int, str]


@cache
def flows(name: str) -> set[Flow]:
    """Every possible connection with a pod of the overlay at one end."""
    policies = of_kind(overlay(name), "NetworkPolicy")
    everybody = peers(name)
    pods = {one["metadata"]["name"] for one in of_kind(overlay(name), "Deployment", "StatefulSet")}
    return {
        (source, target, port, protocol)
        for source, one in everybody.items() for target, other in everybody.items() if source != target and {source, target} & pods
        for port in PORTS_TRIED for protocol in ("TCP", "UDP") if allowed(policies, one, other, port, protocol)
    }


def expected(name: str) -> set[Flow]:
    """The table of permitted connections."""
    table: set[Flow] = set()
    for service in SERVICES:
        table |= {(service, "dns", 53, "TCP"), (service, "dns", 53, "UDP"), (service, "redis", REDIS, "TCP")}
        for caller in ("caller's namespace", "caller of this namespace", "prometheus"):
            table.add((caller, service, PORTS[service], "TCP"))
        if swift_source.signer_methods_called(service):
            table.add((service, "signer", PORTS["signer"], "TCP"))
        if swift_source.recovery_methods_called(service):
            table.add((service, "notification-recovery", PORTS["notification-recovery"], "TCP"))
        if swift_source.verifier_methods_called(service):
            table.add((service, "verifier", PORTS["verifier"], "TCP"))
    for service, ports in OUTSIDE_PORTS.items():
        table |= {(service, target, port, "TCP") for target in ("internet", "internet, IPv6") for port in ports}
    home = peers(name)["signer"].namespace
    for source, peer in peers(name).items():
        # Pods of this namespace may not begin connections that no policy names.
        table |= {(source, "ingest", PUBLIC, "TCP")} if peer.namespace != home else {(source, "dns", 53, "TCP"), (source, "dns", 53, "UDP")}
    return {flow for flow in table if {flow[0], flow[1]} & {*SERVICES, *PODS[name]}}


@pytest.mark.parametrize("name", OVERLAYS)
def test_policies_allow_exactly_the_needed_connections(name: str) -> None:
    found, wanted = flows(name), expected(name)
    assert not found - wanted, f"allowed and not needed: {sorted(found - wanted)}"
    assert not wanted - found, f"needed and not allowed: {sorted(wanted - found)}"


@pytest.mark.parametrize("name", OVERLAYS)
def test_services_cannot_open_unneeded_connections(name: str) -> None:
    """The connections must be prevented by the pods' own policies, not by a policy of the other end or its absence."""
    policies, everybody = of_kind(overlay(name), "NetworkPolicy"), peers(name)
    begun = {
        (source, target, port, protocol) for source in SERVICES for target, other in everybody.items() if source != target
        for port in PORTS_TRIED for protocol in ("TCP", "UDP") if may_begin(policies, everybody[source], other, port, protocol)
    }
    assert begun == {flow for flow in expected(name) if flow[0] in SERVICES}


@pytest.mark.parametrize("name", OVERLAYS)
def test_traffic_without_a_policy_is_denied_in_both_directions(name: str) -> None:
    deny = [one["spec"] for one in of_kind(overlay(name), "NetworkPolicy") if one["metadata"]["name"] == "default-deny"]
    assert deny == [{"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}]


@pytest.mark.parametrize("name", OVERLAYS)
def test_signer_connects_only_to_dns_and_redis(name: str) -> None:
    assert {target for source, target, _, _ in flows(name) if source == "signer"} == {"dns", "redis"}


@pytest.mark.parametrize("name", OVERLAYS)
def test_only_four_services_connect_outside_the_cluster(name: str) -> None:
    outside = {target for target, peer in peers(name).items() if peer.namespace is None and target != "redis"}
    leaving = {(source, port) for source, target, port, _ in flows(name) if target in outside}
    assert leaving == {(service, port) for service, ports in OUTSIDE_PORTS.items() for port in ports}
    assert {target for source, target, _, _ in flows(name) if target in outside} == {"internet", "internet, IPv6"}


@pytest.mark.parametrize("name", OVERLAYS)
def test_only_ingest_has_the_public_port(name: str) -> None:
    from_outside = {(target, port) for source, target, port, _ in flows(name) if source.startswith("internet")}
    assert from_outside == {("ingest", PUBLIC)}


def test_forwarding_and_calls_to_apple_use_https() -> None:
    """As OUTSIDE_PORTS says. Its port 80 is for OCSP, whose URLs are in the certificates."""
    assert 'url: "https://\\(host)/session"' in swift_source.text("Services/Ingest/Sessions/SessionForwarder.swift")
    assert re.search(r'text\("adservices\.url"\) \?\? "https://[^:"]+"', swift_source.text(swift_source.VARIABLES))
    for server in ("production", "sandbox"):
        assert f'text("app.store.{server}.url") ?? AppStoreServer.{server}.defaultBaseURL' in swift_source.text(swift_source.VARIABLES)
    addresses = re.findall(r'"(\w+://[^"]+)"', swift_source.text("Shared/AppStore/ServerAPI/Client/AppStoreServer.swift"))
    assert len(addresses) == 2 and all(re.fullmatch(r"https://[^:]+", address) for address in addresses)
