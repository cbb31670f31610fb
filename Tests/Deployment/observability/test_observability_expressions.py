"""The metrics and labels that alerts and dashboards use exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from SystemTests.support.free_ports import free_port
from SystemTests.support.prometheus_process import eventually, fetch

from .files import BALANCER_METRICS, TARGET_LABELS, expressions, known_metrics, load
from .sources import ROOT, default_ports, grouped_labels, raw_values, read_metrics, selectors, swift_files

# Labels whose values are the raw values of an enum, by metric.
ENUM_LABELS = {
    ("attribution_adservices_outcomes_total", "outcome"): "Shared/AppleAttribution/AdServices/AdServicesOutcome.swift#AdServicesOutcome",
    ("attribution_app_store_errors_total", "class"): "Shared/AppStore/ServerAPI/Client/AppStoreServerAPIError.swift#Classification",
    ("attribution_push_requests_total", "outcome"): "Shared/EventPush/Pusher/PushMetrics.swift#Outcome",
    ("attribution_recovery_gaps_total", "state"): "Shared/AppStore/Lifecycle/GapSettlement.swift#State",
    ("attribution_recovery_jobs_total", "state"): "Services/NotificationRecovery/Jobs/RecoveryJob.swift#State",
    ("attribution_recovery_outages_total", "evidence"): "Shared/AppStore/Recovery/OutageRule.swift#Evidence",
    ("attribution_retention_fallbacks_total", "cause"): "Services/Ingest/Retention/RetentionDecision.swift#Cause",
    ("attribution_revocation_total", "decision"): "Shared/Cryptography/X509/Revocation/RevocationPolicy.swift#RevocationDecision",
}

# Metrics of expressions


@pytest.mark.parametrize("location, expression", expressions(), ids=[location for location, _ in expressions()])
def test_expressions_use_existing_metrics_and_labels(location: str, expression: str) -> None:
    known = known_metrics()
    used = selectors(expression)
    assert used, "no metric at all"
    labels: set[str] = set()
    for selector in used:
        assert selector.metric in known, f"no service exposes {selector.metric}"
        own = known[selector.metric]
        # An RPC metric's own label `service` is `rpc_service` in Prometheus.
        labels |= own | TARGET_LABELS
        unknown = {label for label, _, _ in selector.matchers} - own - TARGET_LABELS
        assert not unknown, f"{selector.metric} has no label {unknown}"
    assert grouped_labels(expression) <= labels, f"none of its metrics has {grouped_labels(expression) - labels}"


def test_label_values_exist_in_the_code() -> None:
    """A misspelt value never selects anything. Values that are patterns are not checked."""
    text = "\n".join(path.read_text() for path in swift_files())
    words = set(re.findall(r'"([\w-]+)"', text)) | set(re.findall(r"\b(?:case|, ) ?`?(\w+)`?", text))
    scripts = {path.stem for path in (ROOT / "Shared/AttributionQueue/Scripts").rglob("*.lua")}
    foreign = {"DOWN", "5xx", "firing", "balancer", "attribution"}
    for location, expression in expressions():
        for selector in selectors(expression):
            for label, _, value in selector.matchers:
                for word in value.split("|"):
                    if not re.fullmatch(r"[A-Za-z][\w-]*", word) or word in foreign:
                        continue
                    known = words | scripts if label == "command" else words
                    assert word in known or word in set(default_ports()), f"{location}: {label}={word}"


def test_values_of_enum_labels_are_those_that_the_code_writes() -> None:
    """In alerts, dashboards and the series of the alerts' tests. The code writes raw values, which may differ from the names of the
    cases."""
    series = [(f"alerts_test.yml: {group['name']}", item["series"]) for group in load("alerts_test.yml")["tests"]
              for item in group["input_series"]]
    checked = set()
    for location, expression in expressions() + series:
        for selector in selectors(expression):
            for label, operator, value in selector.matchers:
                enum = ENUM_LABELS.get((selector.metric, label))
                if enum is None or "$" in value:
                    continue
                values = raw_values(enum)
                selected = {known for known in values if re.fullmatch(value, known)} if "~" in operator else values & {value}
                assert selected, f"{location}: {label}={value} is none of {sorted(values)}"
                for word in value.split("|"):
                    assert word in values or not re.fullmatch(r"\w+", word), f"{location}: {label}={word} is none of {sorted(values)}"
                checked.add((selector.metric, label))
    assert ("attribution_revocation_total", "decision") in checked
    for metric, label in ENUM_LABELS:
        assert label in known_metrics()[metric], f"{metric} has no label {label}"


def test_the_enum_reader_reads_raw_values() -> None:
    decisions = raw_values(ENUM_LABELS["attribution_revocation_total", "decision"])
    assert decisions == {"accepted", "acceptedUnconfirmed", "certificate_revoked", "revocation_unknown"}
    assert raw_values(ENUM_LABELS["attribution_push_requests_total", "outcome"]) >= {"taken", "too_many", "server_error", "address"}


def test_every_metric_is_in_a_dashboard_or_an_alert() -> None:
    used = {selector.metric for _, expression in expressions() for selector in selectors(expression)}
    families = {
        re.sub(r"_(bucket|sum|count)$", "", name) if metric.kind == "histogram" else name for name, metric in read_metrics().items()
    }
    forgotten = {name for name in families if not {name, f"{name}_bucket", f"{name}_count"} & used}
    assert not forgotten


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="no haproxy here")
def test_haproxy_exports_every_listed_metric_with_its_labels(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "haproxy.cfg").write_text(f"""
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend exporter
  bind 127.0.0.1:{port}
  http-request use-service prometheus-exporter
backend signer
  option httpchk GET /readyz
  server signer1 127.0.0.1:1 check inter 100ms
""")
    process = subprocess.Popen(["haproxy", "-f", tmp_path / "haproxy.cfg"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        text = eventually(lambda: fetch(f"http://127.0.0.1:{port}/metrics"))
    finally:
        process.terminate()
        process.wait(10)
    exposed: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(haproxy_\w+)\{(.*)\} ", text, re.MULTILINE):
        exposed.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    for name, labels in BALANCER_METRICS.items():
        assert exposed.get(name) == labels, name
