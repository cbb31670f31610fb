"""attributionctl doctor names the difference between the clocks of the system and of Apple."""

import re

from .test_attributionctl_doctor import doctor, findings


def test_a_clock_that_differs_from_apples_is_named(system):
    def clocks() -> list[str]:
        found = findings(system, "--problems")
        return [found["notification-recovery", f"clock: App Store Server API, {server}"]["found"] for server in ("production", "sandbox")]

    try:
        for seconds in (5, 45):
            system.control("/control/clock", {"offsetMilliseconds": -seconds * 1000})
            assert all(text in [f"this machine is {about} s ahead" for about in (seconds, seconds - 1, seconds + 1)] for text in clocks())
            # The key works nevertheless.
            answer = doctor(system)
            assert answer.returncode == 0, answer
        system.control("/control/clock", {"offsetMilliseconds": -1_800_000})
        answer = doctor(system)
        assert answer.returncode == 12 and re.search(r"notification-recovery is (1799|1800|1801) s ahead of Apple's", answer.stdout), answer
        assert "Synchronise the clocks" in answer.stdout, answer
    finally:
        system.control("/control/clock", {"offsetMilliseconds": 0})
