"""Signed data of the App Store before it is encoded, with the chain that signs it."""

import dataclasses
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding

from SystemTests.differential import jws
from SystemTests.differential.certificates import Chain, chains

from .signed_data import (
    DATES,
)


@dataclasses.dataclass
class Subject:
    """The input of a case; mutations change it in place and may return a finished token."""

    kind: str
    payload: dict
    chain: Chain
    header: dict
    requested: dict
    names: tuple
    key: object = None

    def maker(self) -> jws.Maker:
        others = [chain.key for name, chain in chains().items() if name in ("second-intermediate", "short-leaf", "other-root")]
        return jws.Maker(self.header, self.payload, self.key or self.chain.key, [key for key in others if key is not self.chain.key])

    def use(self, chain: Chain) -> None:
        self.chain, self.header["x5c"] = chain, list(chain.x5c)

    def date(self, milliseconds: Any) -> None:
        self.payload[DATES[self.kind]] = milliseconds

    def token(self) -> str:
        key = self.key or self.chain.key
        if isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size == 256:
            return self.maker().made()
        # Another type of key: signed as ES256 would be with it, if that were possible.
        parts = self.maker().parts()
        message = ".".join(parts).encode()
        if isinstance(key, ec.EllipticCurvePrivateKey):
            r, s = jws.signed(key, message)
            width = key.key_size // 8
            data = r.to_bytes(width, "big") + s.to_bytes(width, "big")
        else:
            data = key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return ".".join((*parts, jws.base64url(data)))
