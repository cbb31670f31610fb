"""The verifier, compared with the sum of the times that one core needs for the HTTP echo and for OpenSSL's own verification."""

from __future__ import annotations

import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import time

from Benchmarks.bench import NATIVE, ROOT, SERVER_CORE, TOKEN, Redis, Report, Server, Wrk, median, openssl_speed, pinned

from . import signed_data as tokens

SERVICE = "attribution.verifier.v1.VerifierService"
POSTBACK = ROOT / "Deploy" / "genuine-postback.json"


def check_postback(server: Server) -> None:
    """Checks that the postback verifies, because the figures would be meaningless otherwise."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("POST", f"/{SERVICE}/VerifySKAdNetworkPostback", json.dumps({"postback": json.loads(POSTBACK.read_text())}),
                       {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert answer["valid"] is True, answer


def single(report: Report, binaries: pathlib.Path, redis: str, seconds: int, rounds: int) -> None:
    speeds, echoes, rates = [], [], []
    with Server(binaries, "verifier", "", ATTRIBUTION_REDIS_URL=redis) as server:
        check_postback(server)
        Wrk(server.url, NATIVE / "verify.lua", 1, variables={"POSTBACK": str(POSTBACK)})
        for _ in range(rounds):
            speeds.append(openssl_speed("ecdsap256", seconds)[1])
            echoes.append(Wrk(server.url, NATIVE / "echo.lua", seconds).rate)
            rates.append(Wrk(server.url, NATIVE / "verify.lua", seconds, variables={"POSTBACK": str(POSTBACK)}).rate)
    limits = [1 / (1 / echo + 1 / speed) for echo, speed in zip(echoes, speeds, strict=True)]
    ratios = [rate / limit for rate, limit in zip(rates, limits, strict=True)]
    report.figures["single"] = {"openssl": speeds, "echo": echoes, "verify": rates, "ratio": ratios}
    report.add("OpenSSL, P-256 verifications a second, one core", f"{median(speeds):,.0f}")
    report.add("HTTP echo, 32 connections, one core", f"{median(echoes):,.0f}")
    report.add("serial limit of the two", f"{median(limits):,.0f}")
    report.add("VerifySKAdNetworkPostback, 32 connections, one core", f"{median(rates):,.0f}")
    report.add("ratio to the limit", f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})", "at least 0.80", median(ratios) >= 0.80)


def batch(report: Report, binaries: pathlib.Path, redis: str, seconds: int, rounds: int) -> None:
    cores = len(os.sched_getaffinity(0))
    limits, rates = [], []
    with Server(binaries, "verifier", "", core=None, ATTRIBUTION_REDIS_URL=redis) as server:
        for _ in range(rounds):
            limits.append(openssl_speed("ecdsap256", seconds, cores)[1])
            rates.append(Wrk(server.url, NATIVE / "verify.lua", seconds, connections=2 * cores, core=None,
                             variables={"POSTBACK": str(POSTBACK), "ITEMS": "1000"}).rate * 1000)
    ratios = [rate / limit for rate, limit in zip(rates, limits, strict=True)]
    report.figures["batch"] = {"cores": cores, "openssl": limits, "verdicts": rates, "ratio": ratios}
    report.add(f"OpenSSL on {cores} cores at once (speed -multi {cores})", f"{median(limits):,.0f}")
    report.add(f"VerifyBatch, 1,000 postbacks, {cores} cores, load on the same", f"{median(rates):,.0f}")
    report.add("ratio", f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})", "at least 0.90", median(ratios) >= 0.90)


def apples_library(folder: pathlib.Path) -> dict[str, float]:
    """The results of Apple's own library for the same files on the same core, if ATTRIBUTION_APPLE_LIBRARY names a program that uses it.
    The program is not in this repository. It is called with the folder, and prints `warm`, `leaf` and `chain`, each with transactions a
    second."""
    program = os.environ.get("ATTRIBUTION_APPLE_LIBRARY")
    if not program:
        return {}
    lines = subprocess.run(pinned(SERVER_CORE, [program, str(folder)]), check=True, capture_output=True, text=True).stdout.splitlines()
    return {words[0]: float(words[1]) for words in map(str.split, lines) if words}


def signed_data(report: Report, binaries: pathlib.Path, redis: str, count: int) -> None:
    """Measures transactions with the same x5c chain each time, with a new leaf each time, and with a completely new chain each time."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tokens.write(folder, count)
        configuration = (f"appStore: {{ rootCertificates: [ {folder / 'root.der'} ] }}\n"
                         f"apps: [ {{ bundleId: {tokens.BUNDLE}, environments: [ Sandbox ] }} ]")
        rates, theirs = {}, apples_library(folder)
        for kind in ("warm", "leaf", "chain"):
            with Server(binaries, "verifier", configuration, ATTRIBUTION_REDIS_URL=redis) as server:
                lines = (folder / kind).read_text().split()
                bodies = [json.dumps({"items": [{"appStoreSignedData": {"signedData": line, "kind": "transaction"}}
                                                for line in lines[start:start + 500]]}) for start in range(0, count, 500)]
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
                seconds = 0.0
                # Caches stay warm: the key gets its own tables after a thousand signatures (ChainKey).
                unmeasured = len(bodies) if kind == "warm" else 1
                for number, body in enumerate(bodies * 2 if kind == "warm" else bodies):
                    began = time.monotonic()
                    connection.request("POST", f"/{SERVICE}/VerifyBatch", body,
                                       {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
                    answer = connection.getresponse().read()
                    seconds += time.monotonic() - began if number >= unmeasured else 0
                    results = json.loads(answer)["results"]
                    assert all(result["appStoreSignedData"]["valid"] for result in results), results[0]
                connection.close()
                rates[kind] = (count if kind == "warm" else count - 500) / seconds
    report.figures["signedData"] = {"ours": rates, "apple": theirs}
    for kind, what, target in (("warm", "VerifyBatch of transactions, one core: chain seen before", 15.0),
                               ("leaf", "  a new leaf each time, its intermediate seen before", 1.8),
                               ("chain", "  a wholly new chain each time", 1.0)):
        report.add(what, f"{rates[kind]:,.0f}")
        if kind in theirs:
            ratio = rates[kind] / theirs[kind]
            report.add(f"    Apple's Swift library: {theirs[kind]:,.0f}; ratio", f"{ratio:.2f}", f"at least {target}", ratio >= target)


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("verifier", "Verifier: speed", command)
    seconds, rounds = (1, 1) if quick else (5, 5)
    with Redis() as redis:
        url = f"redis://127.0.0.1:{redis.port}/0"
        single(report, binaries, url, seconds, rounds)
        batch(report, binaries, url, seconds, rounds)
        signed_data(report, binaries, url, 1000 if quick else 5000)
    report.notes += [
        "Every request verifies the genuine postback of Deploy/genuine-postback.json, signed by Apple's P-256 key; every answer believes it.",
        ("The key's tables are made at the start (Shared/Cryptography/ECDSA/PreparedPublicKey.swift), so a verdict can be faster than "
        "OpenSSL's own verification, which works for any key; a ratio above 1 is possible."),
        "In the batch rounds wrk runs on the cores that verify, as there are no others.",
    ]
    return report
