"""What the Apple simulator has to know of the apps of a configuration. As a program it reads the configuration from standard input and prints
the file for `apple-simulator --clients`."""

import argparse
import json
import pathlib
import subprocess
import sys
from typing import Any

import yaml


def public_key(path: pathlib.Path) -> str | None:
    """The public half of a private key in PEM; nothing where openssl cannot read the file."""
    read = subprocess.run(["openssl", "pkey", "-in", str(path), "-pubout"], capture_output=True, text=True, check=False)
    return read.stdout if read.returncode == 0 else None


def api_keys(app: dict[str, Any], base: pathlib.Path) -> list[dict[str, Any]]:
    """The keys that sign an app's calls and offers, without those whose private key is not given."""
    server, offers = app.get("appStoreServer") or {}, app.get("offers") or {}
    other = server.get("otherKey") or {}
    return [{"issuerId": one.get("issuerId") or server.get("issuerId"), "keyId": one.get("keyId"), "publicKey": public_key(base / one["privateKey"])}
            for one in (server, other, offers) if one.get("privateKey")]


def apps(configuration: dict[str, Any], base: pathlib.Path, notifications: str) -> list[dict[str, Any]]:
    """Each app as the simulator takes it in. Paths of keys start at `base`; notifications of both environments go to one URL."""
    return [{"bundleId": app.get("bundleId"), "appAppleId": app.get("appAppleId"),
             "notificationURLs": {"Production": notifications, "Sandbox": notifications}, "apiKeys": api_keys(app, base)}
            for app in configuration.get("apps") or []]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notifications", required=True, metavar="URL", help="where the simulator posts notifications")
    options = parser.parse_args()
    found = apps(yaml.safe_load(sys.stdin) or {}, pathlib.Path(), options.notifications)
    for app in found:
        for key in app["apiKeys"]:
            if key["publicKey"] is None:
                raise SystemExit(f"{app['bundleId']}: openssl cannot read the private key of {key['keyId']}")
    json.dump({"apps": found}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
