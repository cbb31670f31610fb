"""Parts that are written here, compared with libraries: signatures, JSON and HTTP (Documentation/decisions/0026-own-parts.md)."""

from __future__ import annotations

import pathlib
import subprocess
import time
import urllib.error
import urllib.request

from Benchmarks.bench import NATIVE, ROOT, SERVER_CORE, Report, Server, Wrk, free_port, median, pinned

PROGRAM = "parts-benchmark"
NAMES = {
    "sign": ("a P-256 signature: sixteen together, swift-crypto one by one", "swift-crypto"),
    "verify": ("a P-256 verification, one by one", "swift-crypto"),
    "verify together": ("a P-256 verification: sixteen together, swift-crypto one by one", "swift-crypto"),
    "read JSON": ("a postback read: as a tree with all rules, JSONDecoder as a type", "Foundation"),
    "write JSON": ("a postback written", "Foundation"),
}


def measured(program: pathlib.Path, seconds: int) -> dict[str, tuple[float, float]]:
    """Nanoseconds for one operation, ours and the library's, by name."""
    output = subprocess.run(pinned(SERVER_CORE, [program, "measure", str(seconds), ROOT / "Deploy" / "genuine-postback.json"]),
                            capture_output=True, text=True, check=True, timeout=60 * seconds).stdout
    rows = [line.split("\t") for line in output.splitlines()]
    return {name: (float(ours), float(library)) for name, ours, library in rows}


def wait_for(url: str, process: subprocess.Popen) -> None:
    for _ in range(100):
        if process.poll() is not None:
            raise RuntimeError(f"{PROGRAM} serve ended with {process.returncode}")
        try:
            urllib.request.urlopen(f"{url}/benchmark.echo/Echo", b"{}", timeout=2)
        except urllib.error.URLError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"{url} does not answer")


def http(report: Report, binaries: pathlib.Path, seconds: int, rounds: int) -> None:
    """Both servers answer fixed bytes on one core in turn; wrk runs on the other."""
    ours, library = [], []
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(pinned(SERVER_CORE, [binaries / PROGRAM, "serve", str(port)]), stdout=subprocess.DEVNULL)
    try:
        wait_for(url, process)
        with Server(binaries, "signer", "adNetworks: []") as server:
            for _ in range(rounds):
                ours.append(Wrk(server.url, NATIVE / "echo.lua", seconds).rate)
                library.append(Wrk(url, NATIVE / "echo.lua", seconds).rate)
    finally:
        process.terminate()
        process.wait(timeout=30)
    ratios = [one / other for one, other in zip(ours, library, strict=True)]
    report.figures["HTTP echo"] = {"ours": ours, "Hummingbird": library, "ratio": ratios}
    report.add("HTTP/1.1 echo, 32 connections, one core: a second", f"{median(ours):,.0f}; Hummingbird {median(library):,.0f}")
    report.add("  ratio", f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})", "above 1", median(ratios) > 1)


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    if not (binaries / PROGRAM).exists():
        raise RuntimeError(f"{binaries / PROGRAM} is missing; it is built if ATTRIBUTION_PARTS=1 is set for the release build")
    report = Report("parts", "Own parts, compared with libraries", command)
    seconds, rounds = (1, 1) if quick else (10, 5)
    figures = measured(binaries / PROGRAM, seconds)
    report.figures["nanoseconds"] = figures
    for name, (what, library) in NAMES.items():
        ours, theirs = figures[name]
        report.add(what, f"{ours / 1000:.2f} µs; {library} {theirs / 1000:.2f} µs")
        report.add("  times as fast", f"{theirs / ours:.2f}", "above 1", theirs > ours)
    http(report, binaries, 1 if quick else 5, rounds)
    report.notes += [
        "Each pair is measured in turn on one core, medians of five rounds. wrk runs on the other core.",
        "The libraries are those of `Package.swift` with ATTRIBUTION_PARTS=1: swift-crypto and Hummingbird, and the toolchain's Foundation.",
        "Both echoes read the request's body and answer 374 bytes; neither checks a caller.",
    ]
    return report
