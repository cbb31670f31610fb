"""One file per scenario, each with `run`."""

from __future__ import annotations

import dataclasses
import pathlib

from SystemTests.faults.load import Ledger

from ..composition import Composition
from ..feed import Reader
from ..load import SimulatorsMaker
from ..report import Report
from ..rpc_caller import Access


@dataclasses.dataclass
class Context:
    composition: Composition
    report: Report
    access: Access
    maker: SimulatorsMaker
    ledger: Ledger
    reader: Reader
    # The prefix of files of this run.
    folder: pathlib.Path
    # The duration of the measured parts, as a factor.
    pace: float = 1.0
    # The deliveries a second that scenario 2 measures; half of it is the load of 2 to 4.
    capacity: float = 400.0
    # The state of processed deliveries.
    states: dict[str, str] = dataclasses.field(default_factory=dict)
    subscribed: bool = False
