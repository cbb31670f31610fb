"""Runs every path through the services and makes one signature of each kind, on the running system. Deploy/demo runs it."""

import sys

sys.dont_write_bytecode = True
from demo_paths import adattributionkit, adservices, att, notifications, recovery, skadnetwork  # noqa: E402
from demo_report import row, rows  # noqa: E402
from demo_retention import retention  # noqa: E402
from demo_signatures import signatures  # noqa: E402

SCENARIOS = (skadnetwork, adattributionkit, notifications, recovery, adservices, att, signatures, retention)


def main() -> int:
    for number, scenario in enumerate(SCENARIOS, 1):
        try:
            scenario()
        except Exception as error:  # noqa: BLE001 the demo goes on and shows which path failed
            path = next((one[0] for one in rows if one[0].startswith(f"{number} ")), f"{number} {scenario.__name__}")
            row(path, "failed", f"{type(error).__name__}: {error}", False)

    widths = [max(len(one[column]) for one in rows) for column in range(3)]
    line = "+".join("-" * (width + 2) for width in widths)
    print(f"\n{'path':{widths[0]}} | {'step':{widths[1]}} | {'what happened':{widths[2]}} | as expected\n{line}+-------------")
    for path, step, outcome, right in rows:
        print(f"{path:{widths[0]}} | {step:{widths[1]}} | {outcome:{widths[2]}} | {'yes' if right else 'NO'}")
    failed = {one[0] for one in rows if not one[3]}
    paths = {one[0] for one in rows}
    print(f"\n{len(paths - failed)} of {len(paths)} paths as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
