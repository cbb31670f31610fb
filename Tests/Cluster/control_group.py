"""Limits processes to a share of a core with the kernel's CPU quota."""

from __future__ import annotations

import contextlib
import os
import pathlib
import uuid

# Cgroup v1's controller of processor time, and version 2's root.
FIRST, SECOND = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
# Microseconds. The period is long, so that the smallest possible quota, a millisecond, is a small share.
PERIOD = 250_000


class ControlGroup:
    """Limits all processes in the group together to `share` of one core."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.is_first = (FIRST / "cpu.cfs_quota_us").exists()
        self.folder = (FIRST if self.is_first else SECOND) / f"attribution-{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> ControlGroup:
        self.folder.mkdir()
        if self.is_first:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
        self.set(self.share)
        return self

    def set(self, share: float) -> None:
        quota = round(share * PERIOD)
        if self.is_first:
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (self.folder / "cpu.max").write_text(f"{quota} {PERIOD}")

    def lift(self) -> None:
        """Removes the quota until the next one is set."""
        if self.is_first:
            (self.folder / "cpu.cfs_quota_us").write_text("-1")
        else:
            (self.folder / "cpu.max").write_text(f"max {PERIOD}")

    def add(self, pid: int) -> None:
        (self.folder / "cgroup.procs").write_text(str(pid))

    def __exit__(self, *_: object) -> None:
        root = FIRST if self.is_first else SECOND
        for pid in (self.folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (root / "cgroup.procs").write_text(pid)
        self.folder.rmdir()


def reason_against() -> str:
    """The reason why quotas cannot be set here; empty if they can."""
    if os.geteuid() != 0:
        return "control groups need root"
    try:
        with ControlGroup(0.1):
            return ""
    except OSError as error:
        return f"no quota of processor time can be set here: {error}"
