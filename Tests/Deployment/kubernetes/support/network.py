"""The connections that a set of NetworkPolicies allows."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Policy = dict[str, Any]


@dataclass(frozen=True)
class Peer:
    """A pod (it has a namespace) or a peer outside of the cluster (it has only an address)."""

    name: str
    namespace: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    namespace_labels: tuple[tuple[str, str], ...] = ()
    address: str | None = None
    # The names of its containers' ports, which a policy may use.
    ports: tuple[tuple[str, int], ...] = field(default=(), compare=False)


def _selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    unknown = set(selector) - {"matchLabels", "matchExpressions"}
    assert not unknown, f"selectors with {unknown} are not understood"
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for expression in selector.get("matchExpressions", []):
        value = labels.get(expression["key"])
        match expression["operator"]:
            case "In":
                hit = value in expression["values"]
            case "NotIn":
                hit = value not in expression["values"]
            case "Exists":
                hit = value is not None
            case "DoesNotExist":
                hit = value is None
            case other:
                raise AssertionError(f"operator {other}")
        if not hit:
            return False
    return True


def _matches(entry: dict[str, Any], peer: Peer, home: str) -> bool:
    """Whether an entry of `from` or `to` of a policy in the namespace `home` selects the peer."""
    unknown = set(entry) - {"podSelector", "namespaceSelector", "ipBlock"}
    assert entry and not unknown, f"{entry} is not understood"
    if "ipBlock" in entry:
        assert set(entry) == {"ipBlock"}
        if peer.address is None:
            # An address block says nothing reliable about pods: addresses are translated on the way, and network plugins compare different
            # ones.
            return False
        address = ipaddress.ip_address(peer.address)
        inside = [ipaddress.ip_network(one) for one in [entry["ipBlock"]["cidr"], *entry["ipBlock"].get("except", [])]]
        return address in inside[0] and not any(address in one for one in inside[1:])
    if peer.namespace is None:
        return False
    if "namespaceSelector" in entry:
        if not _selects(entry["namespaceSelector"], dict(peer.namespace_labels)):
            return False
    elif peer.namespace != home:
        return False
    return _selects(entry.get("podSelector", {}), dict(peer.labels))


def _allows_port(ports: list[dict[str, Any]] | None, number: int, protocol: str, target: Peer) -> bool:
    if ports is None:
        return True
    for entry in ports:
        assert set(entry) <= {"protocol", "port"}, f"{entry} is not understood"
        if entry.get("protocol", "TCP") != protocol:
            continue
        if entry.get("port") is None or dict(target.ports).get(entry["port"], entry["port"]) == number:
            return True
    return False


def _one_way(policies: Iterable[Policy], direction: str, pod: Peer, other: Peer, number: int, protocol: str) -> bool:
    """Whether the policies of a pod allow its traffic in this direction."""
    if pod.namespace is None:
        return True
    side = "from" if direction == "Ingress" else "to"
    target = pod if direction == "Ingress" else other
    restricted = False
    for policy in policies:
        spec = policy["spec"]
        assert "policyTypes" in spec, f"{policy['metadata']['name']} leaves its types to be guessed"
        if policy["metadata"]["namespace"] != pod.namespace or not _selects(spec["podSelector"], dict(pod.labels)):
            continue
        if direction not in spec["policyTypes"]:
            assert direction.lower() not in spec, f"{policy['metadata']['name']} has rules of a type that it does not name"
            continue
        restricted = True
        for rule in spec.get(direction.lower(), []) or []:
            assert set(rule) <= {side, "ports"}, f"{rule} is not understood"
            peers = rule.get(side)
            assert peers != [], f"{policy['metadata']['name']}: an empty list means everybody"
            if (peers is None or any(_matches(entry, other, pod.namespace) for entry in peers)) and _allows_port(
                rule.get("ports"), number, protocol, target
            ):
                return True
    return not restricted


def may_begin(policies: list[Policy], source: Peer, target: Peer, port: int, protocol: str = "TCP") -> bool:
    """Whether the source's own policies allow the connection."""
    return _one_way(policies, "Egress", source, target, port, protocol)


def allowed(policies: list[Policy], source: Peer, target: Peer, port: int, protocol: str = "TCP") -> bool:
    """Whether a connection is possible: the policies of both ends must allow it."""
    return may_begin(policies, source, target, port, protocol) and _one_way(policies, "Ingress", target, source, port, protocol)
