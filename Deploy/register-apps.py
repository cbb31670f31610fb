"""Tells the Apple simulator which apps there are, where their notifications go, and which keys sign their API tokens."""

import argparse
import json
import pathlib
import ssl
import subprocess
import urllib.error
import urllib.request

import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--config", required=True)
parser.add_argument("--simulator", required=True)
parser.add_argument("--ca", required=True)
parser.add_argument("--notifications", required=True)
options = parser.parse_args()

configuration = yaml.safe_load(pathlib.Path(options.config).read_text(encoding="utf-8")) or {}
base = pathlib.Path(options.config).parent
context = ssl.create_default_context(cafile=options.ca)

for app in configuration.get("apps") or []:
    keys = []
    issuer = (app.get("appStoreServer") or {}).get("issuerId")
    for server in (app.get("appStoreServer") or {}, app.get("offers") or {}):
        if not server.get("privateKey"):
            continue
        public = subprocess.run(
            ["openssl", "pkey", "-in", str(base / server["privateKey"]), "-pubout"], capture_output=True, text=True, check=False
        )
        if public.returncode == 0:
            keys.append({"issuerId": server.get("issuerId") or issuer, "keyId": server.get("keyId"), "publicKey": public.stdout})
    request = urllib.request.Request(  # noqa: S310 the address is the simulator's, given by Deploy/up
        options.simulator + "/control/apps",
        method="POST",
        headers={"Content-Type": "application/json"},
        data=json.dumps(
            {
                "bundleId": app.get("bundleId"),
                "appAppleId": app.get("appAppleId"),
                "notificationURLs": {"Production": options.notifications, "Sandbox": options.notifications},
                "apiKeys": keys,
            }
        ).encode(),
    )
    try:
        urllib.request.urlopen(request, context=context, timeout=10).read()  # noqa: S310 as above
    except urllib.error.HTTPError as error:
        raise SystemExit(f"the simulator refused app {app.get('bundleId')}: {error.read().decode(errors='replace')}") from None
