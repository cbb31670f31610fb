"""Creates different postbacks of SKAdNetwork 4.0 that verify: the benchmark's verifier is configured to accept their key as Apple's."""

from __future__ import annotations

import base64
import json
import pathlib
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[3]
try:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
except ImportError:
    sys.exit("the Python package cryptography is needed: Deploy/test installs it, then run with .build/venv/bin/python")


class Signer:
    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.spki = base64.b64encode(self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()

    @property
    def configuration(self) -> str:
        """The verifier's configuration for the key."""
        return f'appleKeys: {{ p256: ["{self.spki}"] }}'

    def postback(self) -> str:
        transaction = str(uuid.uuid4())
        words = ["4.0", "example123.skadnetwork", "5239", "525463029", transaction, "false", "1234567891", "1", "true", "0"]
        signature = self.key.sign("\u2063".join(words).encode(), ec.ECDSA(hashes.SHA256()))
        return json.dumps({
            "version": "4.0", "ad-network-id": "example123.skadnetwork", "source-identifier": "5239", "app-id": 525463029,
            "transaction-id": transaction, "redownload": False, "source-app-id": 1234567891, "fidelity-type": 1, "did-win": True,
            "postback-sequence-index": 0, "conversion-value": 63,
            "attribution-signature": base64.b64encode(signature).decode()}, separators=(",", ":"))

    def write(self, path: pathlib.Path, count: int) -> None:
        """Writes this number of different postbacks, one per line."""
        with path.open("w") as file:
            for _ in range(count):
                file.write(self.postback() + "\n")
