"""attributionctl starts and shows recoveries, and lists gaps."""

from .command import ctl, ctl_json
from .steps import APP


def test_a_recovery_is_started_shown_and_listed(system):
    dry = ctl_json(system, "recover", "--bundle-id", APP, "--from", "2h", "--dry-run")
    assert dry["request"]["bundleId"] == APP and dry["request"]["startDate"] < dry["request"]["endDate"]
    done = ctl(system, "recover", "--bundle-id", APP, "--from", "2h", "--wait")
    assert done.returncode == 0 and "completed" in done.stdout, done
    id = done.stderr.split("recovery ")[1].split()[0]
    assert ctl_json(system, "recover", "show", id)["state"] == "completed"
    assert id in ctl(system, "recover", "list").stdout
    assert ctl(system, "recover", "show", "nobody").returncode == 3
    assert ctl(system, "recover", "--bundle-id", "com.example.nobody", "--from", "2h").returncode in (3, 65)


def test_gaps_are_listed_for_one_app(system):
    assert ctl(system, "gaps").returncode == 64
    assert isinstance(ctl_json(system, "gaps", "--bundle-id", APP, "--state", "suspected").get("gaps", []), list)
