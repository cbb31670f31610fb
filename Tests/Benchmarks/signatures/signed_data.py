"""Different App Store transactions that verify, under a root of the benchmark's own. Run as a program, it writes them to files."""

from __future__ import annotations

import json
import pathlib
import sys

from SystemTests.differential import certificates
from SystemTests.differential.app_store import signed_data as app_store
from SystemTests.differential.certificates import MIDDLE, ROOT, Chain, milliseconds

BUNDLE = "com.example.app"


def chain(label: str, leaf_of: str, authority_of: str) -> Chain:
    authority = certificates.authority(f"bench authority {authority_of}")
    leaf = certificates.leaf(f"bench leaf {leaf_of} of {authority_of}", authority)
    return Chain(label, [leaf.text, authority.text, ROOT.text], leaf.key, True)


def tokens(count: int, leaves: bool = False, authorities: bool = False) -> list[str]:
    """This number of transactions; `leaves` and `authorities` give each its own leaf or its own intermediate certificate."""
    made = []
    for number in range(count):
        payload = {"transactionId": str(number), "originalTransactionId": str(number), "bundleId": BUNDLE, "productId": "com.example.gold",
                   "purchaseDate": milliseconds(MIDDLE), "originalPurchaseDate": milliseconds(MIDDLE), "quantity": 1,
                   "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED", "signedDate": milliseconds(MIDDLE),
                   "environment": "Sandbox", "storefront": "USA", "storefrontId": "143441", "transactionReason": "PURCHASE",
                   "expiresDate": milliseconds(MIDDLE) + 2_592_000_000, "price": 9990, "currency": "USD"}
        made.append(app_store.signed_token(
            payload, chain("bench", str(number) if leaves or authorities else "one", str(number) if authorities else "one")))
    return made


def write(folder: pathlib.Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "root.der").write_bytes(ROOT.der)
    for name, options in (("warm", {}), ("leaf", {"leaves": True}), ("chain", {"authorities": True})):
        (folder / name).write_text("\n".join(tokens(count, **options)) + "\n")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps({"folder": sys.argv[1], "each": int(sys.argv[2])}))
