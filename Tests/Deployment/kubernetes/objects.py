"""The objects that overlays expect to exist, and the certificates for them."""

from __future__ import annotations

from typing import Any

from Deployment.kubernetes.support import kustomization, manifests, swift_source
from Deployment.kubernetes.support.manifests import of_kind

# Objects that an overlay expects to exist (README.md describes how each is made): kind and name → its keys.
PROVIDED: dict[str, dict[tuple[str, str], set[str]]] = {
    "development": {},
    "production": {
        ("Secret", "redis-password"): {"redis-password"},
        ("Secret", "signer-keys"): {"example123.pem", "SubscriptionKey.p8", "OfferKey.p8"},
        ("Secret", "redis-client-tls"): {"tls.crt", "tls.key", "ca.crt"},
        **{("Secret", f"{name}-tls"): {"tls.crt", "tls.key", "ca.crt"} for name in swift_source.services()},
    },
}
CERTIFICATE_FIELDS = {
    "secretName", "issuerRef", "duration", "renewBefore", "privateKey", "usages", "dnsNames", "uris", "isCA", "commonName",
}


def certificates() -> dict[str, dict[str, Any]]:
    """Name of a Secret → the requirements of its certificate."""
    found = of_kind(kustomization.render(manifests.tree() / "certificates"), "Certificate")
    for one in found:
        assert one["apiVersion"] == "cert-manager.io/v1" and set(one["spec"]) <= CERTIFICATE_FIELDS
        assert set(one["spec"]["issuerRef"]) == {"name", "kind", "group"}
        assert set(one["spec"]["privateKey"]) <= {"algorithm", "size", "encoding", "rotationPolicy"}
    assert len({one["spec"]["secretName"] for one in found}) == len(found)
    return {one["spec"]["secretName"]: one["spec"] for one in found}
