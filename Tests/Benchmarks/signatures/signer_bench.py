"""The signer, compared with the sum of the times that one core needs for the HTTP echo and for OpenSSL's own signature."""

from __future__ import annotations

import http.client
import json
import os
import pathlib

from Benchmarks.bench import NATIVE, TOKEN, Report, Server, Wrk, median, openssl_speed

SERVICE = "attribution.signer.v1.SignerService"
CONFIGURATION = "adNetworks: [ { id: example123.skadnetwork, keys: [ { id: dev-1, path: p256.pem, state: active } ] } ]"
IMPRESSION = {"version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029,
              "sourceAppId": 1234567891, "fidelityType": 1}
AAK = {"adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "advertisedItemId": 525463029,
       "publisherItemId": 1234567891, "impressionType": "app-impression"}


def single(report: Report, binaries: pathlib.Path, seconds: int, rounds: int) -> tuple[float, float]:
    signs, echoes, rates = [], [], []
    with Server(binaries, "signer", CONFIGURATION) as server:
        Wrk(server.url, NATIVE / "sign.lua", 1)
        for _ in range(rounds):
            signs.append(openssl_speed("ecdsap256", seconds)[0])
            echoes.append(Wrk(server.url, NATIVE / "echo.lua", seconds).rate)
            rates.append(Wrk(server.url, NATIVE / "sign.lua", seconds).rate)
    limits = [1 / (1 / echo + 1 / sign) for echo, sign in zip(echoes, signs, strict=True)]
    ratios = [rate / limit for rate, limit in zip(rates, limits, strict=True)]
    ratio = median(ratios)
    report.figures["single"] = {"openssl": signs, "echo": echoes, "sign": rates, "ratio": ratios}
    report.add("OpenSSL, P-256 signatures a second, one core", f"{median(signs):,.0f}")
    report.add("HTTP echo of the same size, 32 connections, one core", f"{median(echoes):,.0f}")
    report.add("serial limit of the two", f"{median(limits):,.0f}")
    report.add("SignSKAdNetworkImpression, 32 connections, one core", f"{median(rates):,.0f}")
    report.add("ratio to the limit", f"{ratio:.2f} ({min(ratios):.2f}–{max(ratios):.2f})", "at least 0.80", ratio >= 0.80)
    return median(rates), median(signs)


def latency(report: Report, binaries: pathlib.Path, seconds: int, full: float) -> None:
    with Server(binaries, "signer", CONFIGURATION) as server:
        Wrk(server.url, NATIVE / "sign.lua", 1)
        # The pause of each connection before its next request, in milliseconds. It is adjusted until half of the full rate is reached.
        pause = 32 / (full / 2) * 1000
        for _ in range(6):
            run = Wrk(server.url, NATIVE / "sign.lua", max(1, seconds // 3), variables={"PAUSE": f"{pause:.3f}"})
            if abs(run.rate / (full / 2) - 1) < 0.05:
                break
            pause = max(0.0, pause + (32 / (full / 2) - 32 / run.rate) * 1000)
        run = Wrk(server.url, NATIVE / "sign.lua", seconds, variables={"PAUSE": f"{pause:.3f}"})
    ratio = run.latency[99] / run.latency[50]
    report.figures["latency"] = {"rate": run.rate, **{f"p{share}": value for share, value in run.latency.items()}}
    report.add("at half the full rate: rate", f"{run.rate:,.0f}")
    report.add("p50, p99", f"{run.latency[50]:.2f} ms, {run.latency[99]:.2f} ms")
    report.add("p99 / p50", f"{ratio:.1f}", "at most 4", ratio <= 4)


def batch(report: Report, binaries: pathlib.Path, seconds: int, rounds: int) -> None:
    cores = len(os.sched_getaffinity(0))
    rates, limits = [], []
    with Server(binaries, "signer", CONFIGURATION, core=None) as server:
        for _ in range(rounds):
            limits.append(openssl_speed("ecdsap256", seconds, cores)[0])
            rates.append(Wrk(server.url, NATIVE / "batch.lua", seconds, connections=2 * cores, core=None).rate * 1000)
    ratios = [rate / limit for rate, limit in zip(rates, limits, strict=True)]
    ratio = median(ratios)
    report.figures["batch"] = {"cores": cores, "openssl": limits, "signatures": rates, "ratio": ratios}
    report.add(f"OpenSSL on {cores} cores at once (speed -multi {cores})", f"{median(limits):,.0f}")
    report.add(f"SignImpressions, 1,000 items, {cores} cores, load on the same", f"{median(rates):,.0f}")
    report.add("ratio", f"{ratio:.2f} ({min(ratios):.2f}–{max(ratios):.2f})", "at least 0.90", ratio >= 0.90)


def memory(report: Report, binaries: pathlib.Path, signatures: int) -> None:
    items = [{"skadnetwork": IMPRESSION} if index % 2 == 0 else {"adAttributionKit": AAK} for index in range(1000)]
    body = json.dumps({"items": items})
    samples = []
    with Server(binaries, "signer", CONFIGURATION, core=None) as server:
        idle = server.resident()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for number in range(signatures // 1000):
            connection.request("POST", f"/{SERVICE}/SignImpressions", body,
                               {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
            response = connection.getresponse()
            answer = response.read()
            assert response.status == 200 and answer.count(b'"error"') == 0, answer[:300]
            if (number + 1) % max(1, signatures // 10_000) == 0:
                samples.append(server.resident()["VmRSS"])
    grown = samples[-1] / samples[len(samples) // 5] - 1
    report.figures["memory"] = {"idle": idle, "samples": samples, "signatures": signatures}
    report.add("resident, idle", f"{idle['VmRSS']:.0f} MiB", "under 64 MiB", idle["VmRSS"] < 64)
    report.add(f"resident after a fifth and all of {signatures:,} signatures",
               f"{samples[len(samples) // 5]:.0f} MiB, {samples[-1]:.0f} MiB", "grows less than 5 %", grown < 0.05)


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("signer", "Signer: speed and memory", command)
    seconds, rounds = (1, 1) if quick else (5, 5)
    full, _ = single(report, binaries, seconds, rounds)
    latency(report, binaries, seconds, full)
    batch(report, binaries, seconds, rounds)
    memory(report, binaries, 20_000 if quick else 1_000_000)
    report.notes += [
        "The server runs on one core by `taskset`, wrk on the other; each figure is the median of interleaved rounds, the range beside it.",
        "The echo is this server's own HTTP path, authentication and all else left out, answering as many bytes as a signature's answer.",
        "In the batch rounds wrk runs on the cores that sign, as there are no others.",
        "At half the rate, wrk's connections pause whole milliseconds between requests, so requests come in small bursts.",
    ]
    return report
