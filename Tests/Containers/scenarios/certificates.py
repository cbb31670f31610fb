"""Scenario 7: the same system with TLS inside, certificates on both sides; all certificates are replaced under load."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import socket
import ssl
import subprocess
import time

from Benchmarks.bench import ROOT

from ..composition import Composition
from ..environment import environment_file
from ..feed import Reader
from ..load import Load
from . import Context
from .paths import set_token_answers
from .replacement import SENDERS, compare_with_stored_data, note_failures, show

NUMBER, TITLE = "7", "TLS inside, certificates replaced under load"
# Deliveries a second; instances are not limited to a share of a core here.
RATE = 150
ROTATIONS = 2
# Seconds after which a new certificate must be in use: the services check their files every few seconds.
SEEN_AFTER = 8


def client(context: Context) -> ssl.SSLContext:
    """Trusts the deployment's authority, and presents the developer's certificate."""
    made = ssl.create_default_context(cafile=str(context.folder / "ca.pem"))
    made.load_cert_chain(context.folder / "caller" / "certificate.pem", context.folder / "caller" / "key.pem")
    return made


def serial(context: Context, port: int) -> str:
    with (socket.create_connection(("127.0.0.1", port), 5) as plain,
          client(context).wrap_socket(plain, server_hostname="localhost") as secure):
        return secure.getpeercert()["serialNumber"]


def is_refused_without_certificate(context: Context, port: int) -> bool:
    stranger = ssl.create_default_context(cafile=str(context.folder / "ca.pem"))
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as plain, stranger.wrap_socket(plain, server_hostname="localhost") as secure:
            secure.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return not secure.recv(100)
    except (ssl.SSLError, ConnectionError):
        return True


def rotate(composition: Composition) -> None:
    """Uses the deployment's own script, with podman-compose instead of Docker."""
    engine = composition.engine
    command = f"podman-compose -p {composition.project} -f {composition.file}"
    script = composition.file.parent / "Deploy" / "compose" / "rotate-certificates"
    done = subprocess.run([script], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **engine.environment, **composition.variables, "COMPOSE": command}, check=False)
    output = done.stdout + done.stderr
    # podman-compose always exits with 0; its output shows whether it failed.
    codes = [line for line in output.splitlines() if line.startswith("exit code:")]
    if done.returncode != 0 or len(codes) != 3 or any(code != "exit code: 0" for code in codes):
        raise RuntimeError(f"certificates were not replaced: {output[-3000:]}")


async def run(context: Context) -> None:
    section, composition = context.report.section(NUMBER, TITLE), context.composition
    await asyncio.to_thread(composition.down)
    composition.variables |= environment_file(ROOT / "Deploy" / "compose" / "tls.env")
    composition.cores = {}
    began = time.monotonic()
    await asyncio.to_thread(composition.bring_up)
    await asyncio.to_thread(composition.wait_until_served)
    await asyncio.to_thread(set_token_answers, context)
    section.add("up with TLS on the same data: seconds until all serve", f"{time.monotonic() - began:.0f}")
    port = composition.ports["verifier"]
    refused = await asyncio.to_thread(is_refused_without_certificate, context, port)
    section.add("a caller without a certificate", "refused" if refused else "served", "refused", refused)

    context.access = dataclasses.replace(context.access, tls=client(context))
    context.reader.access = context.access
    reader: Reader = context.reader
    context.reader.retries, lost = False, reader.tally.failed
    for service in ("ingest", "verifier", "signer"):
        await asyncio.to_thread(composition.scale, service, 2)
    before, serials = context.ledger.count, [await asyncio.to_thread(serial, context, port)]
    load, began = Load(context.access, context.maker, context.ledger, RATE, SENDERS), time.monotonic()
    async with load:
        following = asyncio.create_task(reader.follow(load.stopping))
        await asyncio.sleep(3 * context.pace)
        for _ in range(ROTATIONS):
            await asyncio.to_thread(rotate, composition)
            await asyncio.sleep(SEEN_AFTER)
            serials.append(await asyncio.to_thread(serial, context, port))
        load.stopping.set()
        await following
    context.capacity = RATE
    show(section, context, load, time.monotonic() - began, before)
    section.add("certificates of the balancer, one after the other", len(set(serials)), f"{ROTATIONS + 1}",
                len(set(serials)) == ROTATIONS + 1)
    reread = await asyncio.to_thread(reloads, composition)
    section.add("services that read their new certificates, at least", min(reread.values()), f"{ROTATIONS} times each",
                min(reread.values()) >= ROTATIONS)
    section.add("failed requests: senders", load.deliveries.failed, "0", load.deliveries.failed == 0)
    failed, sent = sum(tally.failed for tally in load.calls.values()), sum(tally.sent for tally in load.calls.values())
    section.add("failed calls", f"{failed} of {sent:,}", "0", failed == 0)
    section.add("failed calls: reader of the feed", reader.tally.failed - lost, "0", reader.tally.failed == lost)
    note_failures(section, load)
    await compare_with_stored_data(context, section)


def reloads(composition: Composition) -> dict[str, int]:
    """By instance: how often its internal listener loaded a new certificate, according to its log."""
    found = {}
    for service in ("ingest", "verifier", "signer"):
        for instance in composition.instances(service):
            text = composition.engine.logs(instance.name, 2000)
            found[instance.name] = sum(RELOADED in line for line in text.splitlines())
    return found


RELOADED = "the certificate was reloaded"
