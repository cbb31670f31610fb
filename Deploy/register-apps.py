"""Tells the Apple simulator which apps there are, where their notifications go, and which keys sign their API tokens."""

import argparse
import json
import pathlib
import ssl
import urllib.error
import urllib.request

import yaml

import simulator_apps

parser = argparse.ArgumentParser()
parser.add_argument("--config", type=pathlib.Path, required=True)
parser.add_argument("--simulator", required=True)
parser.add_argument("--ca", required=True)
parser.add_argument("--notifications", required=True)
options = parser.parse_args()

configuration = yaml.safe_load(options.config.read_text(encoding="utf-8")) or {}
context = ssl.create_default_context(cafile=options.ca)

for app in simulator_apps.apps(configuration, options.config.parent, options.notifications):
    # A key that openssl cannot read is signer's to complain of.
    known = [key for key in app["apiKeys"] if key["publicKey"] is not None]
    request = urllib.request.Request(  # noqa: S310 the address is the simulator's, given by Deploy/up
        options.simulator + "/control/apps", method="POST", headers={"Content-Type": "application/json"},
        data=json.dumps(app | {"apiKeys": known}).encode())
    try:
        urllib.request.urlopen(request, context=context, timeout=10).read()  # noqa: S310 as above
    except urllib.error.HTTPError as error:
        raise SystemExit(f"the simulator refused app {app['bundleId']}: {error.read().decode(errors='replace')}") from None
