"""Seeds for the fuzz targets, from the vectors: seeds.py FOLDER writes FOLDER/<target>/<digest>."""

import base64
import hashlib
import json
import pathlib
import sys
from collections.abc import Iterator

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "Vectors"


def strings(value: object) -> Iterator[str]:
    """Every string in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def unpacked(value: object) -> object:
    """Also parses strings that are JSON objects."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            return {"text": value, "object": json.loads(value)}
        except ValueError:
            return value
    if isinstance(value, dict):
        return {name: unpacked(item) for name, item in value.items()}
    return [unpacked(item) for item in value] if isinstance(value, list) else value


def objects(value: object) -> Iterator[dict]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)


REALTIME = {"originalTransactionId": "99371282", "appAppleId": 1, "productId": "com.example.monthly", "userLocale": "zh-Hant-HK",
            "requestIdentifier": "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9", "environment": "Sandbox", "signedDate": 1698148900000}
REALTIME_ANSWERS = [
    {"message": {"messageIdentifier": "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9"}},
    {"alternateProduct": {"messageIdentifier": "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9", "productId": "a", "billingPlanType": "MONTHLY"}},
    {"promotionalOffer": {"messageIdentifier": "a", "promotionalOfferSignatureV2": "a.b.c"}},
    {"promotionalOffer": {"messageIdentifier": "a", "promotionalOfferSignatureV1": {
        "encodedSignature": "a", "productId": "a", "nonce": "a", "timestamp": 1, "keyId": "a", "offerIdentifier": "a"}}},
    {"advancedCommerceInfo": {"messageIdentifier": "a", "advancedCommerceData": "e30="}}]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])

    def write(target: str, seed: bytes) -> None:
        if len(seed) <= 16384:
            place = folder / target
            place.mkdir(parents=True, exist_ok=True)
            (place / hashlib.sha1(seed).hexdigest()).write_bytes(seed)

    for seed in (REALTIME, *REALTIME_ANSWERS):
        write("retention", json.dumps(seed).encode())
    for host in ("www.example.co.uk", "a.b.c.kobe.jp", "www.ck", "a.github.io", "xn--55qx5d.cn", "example.nosuchtld"):
        write("publicSuffix", host.encode())
    for path in sorted(VECTORS.rglob("*")):
        if path.suffix == ".jws":
            text = path.read_bytes().strip()
            write("retention", json.dumps({"signedPayload": text.decode(errors="replace")}).encode())
            write("jws", text)
            write("notification", text)
            try:
                header, payload = (base64.urlsafe_b64decode(part + b"==") for part in text.split(b".")[:2])
                write("notification", payload)
                header = json.loads(header)
                write("chain", b"\0".join(base64.b64decode(one) for one in header["x5c"][:2]))
            except (ValueError, KeyError, TypeError):
                pass
        elif path.suffix == ".der":
            write("chain", path.read_bytes())
            write("ocsp", path.read_bytes())
            write("receipt", path.read_bytes())
        elif path.suffix == ".json":
            document = unpacked(json.loads(path.read_text()))
            for one in objects(document):
                seed = json.dumps(one, ensure_ascii=False).encode()
                if len(seed) > 4096:
                    continue
                write("json", seed)
                if "attribution-signature" in one:
                    write("skadnetwork", seed)
                if "jws-string" in one:
                    write("adattributionkit", seed)
                if "attribution" in one and "orgId" in one:
                    write("adServicesRecord", seed)
                if "in_app" in json.dumps(one) or "original_transaction_id" in one:
                    write("verifyReceipt", seed)
                if "externalPurchaseId" in one:
                    write("externalPurchaseToken", seed)
                    write("externalPurchaseToken", base64.urlsafe_b64encode(seed).rstrip(b"="))
                if {"transactionId", "notificationType", "autoRenewProductId", "receiptType", "jws-string", "attribution-signature"} & set(one):
                    write("payload", seed)
                if "idfa" in seed.decode().lower():
                    write("consent", seed)
            for text in strings(document):
                if text.count(".") == 2 and len(text) > 100:
                    write("jws", text.encode())
                    write("notification", text.encode())
                elif text.startswith(("MII", "ewo")) and len(text) > 100:
                    write("receipt", text.encode())


if __name__ == "__main__":
    main()
