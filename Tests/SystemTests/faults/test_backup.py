"""The data in Redis agrees while a system works, and after a backup of the live Redis was restored."""

import asyncio
import collections
import json
import os
import pathlib
import random
import subprocess

import pytest

from SystemTests.support.running_system import ROOT

from .account import account
from .load import NOTIFICATION, Connection, Ledger, Maker, deliver, send_many
from .system import BINARIES, FaultSystem

SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
VERIFIER = BINARIES / "verifier"


def check(system: FaultSystem, *options: str, url: str | None = None) -> tuple[int, dict]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTRIBUTION_")} | {
        "ATTRIBUTION_CONFIG": str(system.folder / "configuration.yaml"),
        "ATTRIBUTION_REDIS_URL": url or f"redis://127.0.0.1:{system.redis_port}/0"}
    done = subprocess.run([VERIFIER, "check-store", "--output", "json", *options], env=environment, capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode, json.loads(done.stdout) if done.returncode in (0, 1) else {"error": done.stderr}


def script(name: str, *words) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "Deploy" / name, *map(str, words)], env={"BUILD_CONFIGURATION": "debug", **os.environ},
                          capture_output=True, text=True, timeout=300, check=False)


def test_check_store_finds_no_fault_in_a_busy_system(tmp_path):
    print(f"seed {SEED}")
    maker = Maker(random.Random(SEED))
    system = FaultSystem(tmp_path / "s", maker.apple_key)
    simulated = system.start_simulator()
    system.service("ingest", **simulated)
    for name in ("verifier", "verifier", "asa-token-broker"):
        system.service(name, **simulated)
    checks = []

    async def load() -> Ledger:
        ledger = Ledger()
        ended = False
        ports = [service.public_port for service in system.services if service.public_port]

        async def look() -> None:
            while not ended or len(checks) < 3:
                checks.append(await asyncio.to_thread(check, system))

        looking = asyncio.create_task(look())
        await asyncio.gather(*(send_many(maker, ports, ledger, 1500, SEED + number, sessions=True) for number in range(16)))
        ended = True
        await looking
        return ledger

    with system:
        ledger = asyncio.run(load())
        print(f"{len(checks)} checks, {ledger.count} deliveries")
        assert all(code == 0 and report["agrees"] and not report["listed"] for code, report in checks), checks
        assert len(checks) >= 3 and max(report["messages"] for _, report in checks) > 0
        # After a worker was killed the data is consistent too, before and after another worker owns its shards.
        system.services[1].process.kill()
        code, report = check(system)
        assert code == 0 and report["agrees"], report
        system.wait_until_worked()
        code, report = check(system)
        assert code == 0 and report["agrees"] and report["events"] > 0, report
        account(system.events(), system.states(list(ledger.deliveries)), ledger)


def test_deliveries_before_a_live_backup_exist_once_after_the_restore(tmp_path):
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    maker = Maker(dice)
    backup = tmp_path / "backup"
    ledger, known = Ledger(), {}
    system = FaultSystem(tmp_path / "s", maker.apple_key)
    system.service("ingest")
    system.service("verifier")

    async def load() -> subprocess.CompletedProcess:
        ports = [service.public_port for service in system.services if service.public_port]
        copied = 0.0

        async def copy() -> subprocess.CompletedProcess:
            nonlocal copied
            while ledger.count < 800:
                await asyncio.sleep(0.02)
            # Redis rewrites its files, and does so while a copy is requested.
            system.client.bgrewriteaof()
            known.update(ledger.deliveries)
            done = await asyncio.to_thread(script, "backup", "--redis", f"redis://127.0.0.1:{system.redis_port}", "--to", backup)
            copied = 1.0
            return done

        copying = asyncio.create_task(copy())
        await asyncio.gather(*(send_many(maker, ports, ledger, 2400, SEED + number, tokens=False, faults_done=lambda: copied)
                               for number in range(16)))
        return await copying

    with system:
        before = system.client.config_get("auto-aof-rewrite-percentage")
        done = asyncio.run(load())
        assert done.returncode == 0, done.stdout + done.stderr
        assert system.client.config_get("auto-aof-rewrite-percentage") == before
        assert not list(system.redis_folder.glob(".backup*"))
        answered_later = len(ledger.deliveries) - len(known)
        assert len(known) >= 800 and answered_later > 100, (len(known), answered_later)

    after = FaultSystem(tmp_path / "t", maker.apple_key)
    restored = script("restore", "--from", backup, "--directory", after.redis_folder, "--verifier", VERIFIER, "--config",
                      after.folder / "configuration.yaml")
    assert restored.returncode == 0 and "everything agrees" in restored.stdout, restored.stdout + restored.stderr
    after.service("ingest")
    after.service("verifier")
    with after:
        after.wait_until_worked()
        code, report = check(after)
        assert code == 0 and report["agrees"], report
        # All deliveries from before the copy exist, and some of those that came during the copy.
        states = after.states(list(ledger.deliveries))
        present = {id: ledger.deliveries[id] for id, state in states.items() if state != "unknown"}
        assert set(known) <= set(present) and len(present) < len(states), (len(set(known) - set(present)), len(present), len(states))
        part = Ledger()
        part.deliveries = dict(present)
        order = collections.defaultdict(list)
        for delivery in present.values():
            if delivery.order:
                order[delivery.order].append(delivery.name)
        part.order = order
        counts = account(after.events(), {id: states[id] for id in present}, part)

        # Apple sends its notifications again, both lost ones and others.
        async def replay() -> Ledger:
            again = Ledger()
            connection = Connection([after.services[0].public_port], dice)
            try:
                for delivery in [one for one in ledger.deliveries.values() if one.kind == NOTIFICATION] * 2:
                    await deliver(connection, delivery, again)
            finally:
                connection.close()
            return again

        again = asyncio.run(replay())
        after.wait_until_worked()
        found = collections.Counter(event["data"]["notificationUUID"] for event in after.events()
                                    if event["type"] == "appstore.notification.verified.v1")
        sent = {one.name for one in ledger.deliveries.values() if one.kind == NOTIFICATION}
        assert set(found) == sent and set(found.values()) == {1}, (len(sent), len(found), found.most_common(3))
        assert set(again.deliveries) <= set(ledger.deliveries)
        code, report = check(after)
        assert code == 0 and report["agrees"], report
        print(f"answered before the copy {len(known)}, later {answered_later}; restored {len(present)}: {counts}; "
              f"notifications after their replay {len(found)} of {len(sent)}")


def test_check_store_names_and_repairs_a_fault_and_reports_unchecked_data(tmp_path):
    system = FaultSystem(tmp_path / "s", Maker(random.Random(SEED)).apple_key)
    system.redis.start()
    try:
        system.wait_for_redis()
        system.client.hset("{attr:017}:events:index", "gone", "1-1")
        system.client.set("{attr:018}:q:intake:owner", "nonsense")
        code, report = check(system)
        assert code == 1 and report["faults"] == 2 and not report["agrees"], report
        assert {(one["rule"], one["shard"], one["key"], one["id"]) for one in report["listed"]} == {
            ("index_without_event", 17, "{attr:017}:events:index", "gone"), ("ownership_form", 18, "{attr:018}:q:intake:owner", "")}
        code, report = check(system, "--repair", "--most", "1")
        assert code == 1 and report["faults"] == 1 and report["rules"]["index_without_event"]["mended"] == 1 and report["left"] == 1
        system.client.delete("{attr:018}:q:intake:owner")
        assert check(system, "--skip-keys") == (0, {"agrees": True, "faults": 0, "shards": 256, "messages": 0, "events": 0, "keys": None,
                                                    "rules": {}, "listed": [], "left": 0})
        code, report = check(system, url="redis://127.0.0.1:1/0")
        assert code == 69 and "unavailable" in report["error"], report
        code, report = check(system, url="nothing")
        assert code == 78 and "ATTRIBUTION_REDIS_URL" in report["error"], report
        assert check(system, "--most", "0")[0] == 64
    finally:
        system.redis.end()


def test_a_system_of_deploy_up_is_backed_up_by_its_folder_and_no_backup_overwrites_existing_data(system, tmp_path):
    backup, place = tmp_path / "backup", tmp_path / "place"
    options = ("--data", system.data, "--port-base", system.port_base)
    done = script("backup", "--to", backup, *options)
    assert done.returncode == 0, done.stderr
    assert all(path.stat().st_mode & 0o077 == 0 for path in backup.rglob("*")), "only its owner reads it"
    again = script("backup", "--to", backup, *options)
    assert again.returncode == 1 and "already exists" in again.stderr
    running = script("restore", "--from", backup, *options)
    assert running.returncode == 1 and "Redis runs here" in running.stderr
    done = script("restore", "--from", backup, "--directory", place, "--config", system.data / "configuration.yaml")
    assert done.returncode == 0 and "everything agrees" in done.stdout, done.stdout + done.stderr
    again = script("restore", "--from", backup, "--directory", place)
    assert again.returncode == 1 and "is not empty" in again.stderr
    # A file that differs from what was written is refused.
    file = next(path for path in backup.rglob("*.aof") if path.stat().st_size)
    file.write_bytes(file.read_bytes()[:-1])
    spoiled = script("restore", "--from", backup, "--directory", tmp_path / "other")
    assert spoiled.returncode == 1 and "not what was written" in spoiled.stderr and not (tmp_path / "other").exists()


@pytest.mark.parametrize("words, reason", [
    (["--redis", "redis://127.0.0.1:1"], "does not answer"), (["--wait", "soon"], "--wait must be"), ([], "--to is missing"),
])
def test_a_failed_backup_gives_the_reason_and_leaves_no_files(tmp_path, words, reason):
    done = script("backup", *(["--to", tmp_path / "b"] if words else []), *words)
    assert done.returncode == 1 and reason in done.stderr, done.stderr
    assert not (tmp_path / "b").exists()


def test_an_incomplete_last_command_is_removed_from_the_copy(tmp_path):
    """A copy that is made while Redis writes may end with an incomplete command: only complete commands are restored."""
    system = FaultSystem(tmp_path / "s", Maker(random.Random(SEED)).apple_key)
    system.redis.start()
    try:
        system.wait_for_redis()
        for number in range(100):
            system.client.set(f"k{number}", number)
        file = next(pathlib.Path(system.redis_folder / "appendonlydir").glob("*.incr.aof"))
        # Redis continues to append, so only a copy of this moment ends like this.
        with file.open("ab") as end:
            end.write(b"*3\r\n$3\r\nSET\r\n$4\r\nha")
        done = script("backup", "--redis", f"redis://127.0.0.1:{system.redis_port}", "--to", tmp_path / "b")
        assert done.returncode == 0, done.stdout + done.stderr
        done = script("restore", "--from", tmp_path / "b", "--directory", tmp_path / "t", "--verifier", VERIFIER)
        assert done.returncode == 0 and " 100 keys: everything agrees" in done.stdout, done.stdout + done.stderr
    finally:
        system.redis.end()
