"""The facts of the code with which manifests and the compose file must agree."""

from __future__ import annotations

from typing import Any

from Deployment.kubernetes.support import swift_source
from Deployment.kubernetes.support.manifests import OVERLAYS, named, overlay

SERVICES = swift_source.services()
# Variables that name a file whose mode the code checks, and those that name a file without a secret.
SECRET_FILES = {
    "ATTRIBUTION_SERVICE_TOKEN_FILE", "ATTRIBUTION_REDIS_PASSWORD_FILE",
    "ATTRIBUTION_REDIS_SENTINEL_PASSWORD_FILE", "ATTRIBUTION_REDIS_KEY", "ATTRIBUTION_TLS_KEY",
    "ATTRIBUTION_PUBLIC_TLS_KEY",
}
OTHER_FILES = {
    "ATTRIBUTION_CONFIG", "ATTRIBUTION_CA_FILE", "ATTRIBUTION_SIGNER_CA_FILE", "ATTRIBUTION_REDIS_CA_FILE", "ATTRIBUTION_REDIS_CERTIFICATE",
    "ATTRIBUTION_TLS_CERTIFICATE", "ATTRIBUTION_TLS_CLIENT_CA", "ATTRIBUTION_PUBLIC_TLS_CERTIFICATE",
}


def deployments() -> list[tuple[str, str]]:
    """Each Deployment of each overlay."""
    return [(name, service) for name in OVERLAYS for service in SERVICES]


def deployment(name: str, service: str) -> dict[str, Any]:
    """The Deployment of a service in an overlay."""
    return named(overlay(name), "Deployment", service)
