#!/usr/bin/env python3
"""A decision service for retention messages: says what a subscriber is shown who may be about to cancel.

    python3 decide.py PORT [TOKEN-FILE]

Ingest calls it (attribution.retention.v1.RetentionDecisionService/DecideRetention) and signs what it names. It has some 150 ms."""

import hmac
import json
import pathlib
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

METHOD = "/attribution.retention.v1.RetentionDecisionService/DecideRetention"
OFFER = "2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0001"


def decide(request: dict) -> dict:
    """One of message, alternateProduct, promotionalOffer, advancedCommerce, or rules, or defaultMessage. The same request gets the same answer."""
    subscription = request.get("subscription", {})
    if OFFER in request.get("approvedMessageIdentifiers", []) and subscription.get("state") == "active-not-renewing":
        return {"promotionalOffer": {"messageIdentifier": OFFER, "offerIdentifier": "come_back"}}
    return {"rules": True}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    token = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.token and not hmac.compare_digest(self.headers.get("Authorization", ""), f"Bearer {self.token}"):
            return self.answer(401, {"code": "unauthenticated", "message": "the token is not known"})
        if self.path != METHOD:
            return self.answer(404, {"code": "unimplemented", "message": "no such method"})
        try:
            request = json.loads(body)
        except ValueError:
            return self.answer(400, {"code": "invalid_argument", "message": "not JSON"})
        self.answer(200, decide(request))
        return None

    def answer(self, status: int, message: dict) -> None:
        body = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    if len(sys.argv) > 2:
        Handler.token = pathlib.Path(sys.argv[2]).read_text().strip()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
