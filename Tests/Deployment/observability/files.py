"""Reads the rules, dashboards and settings of Prometheus and Grafana."""

import json
import subprocess
from functools import cache
from pathlib import Path

import yaml

from SystemTests.support.prometheus_process import PROMETHEUS

from .sources import ROOT, grouped_labels, read_metrics

GRAFANA = ROOT / "Deploy/grafana"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))
# The metrics of HAProxy's exporter (2.6 to 3.0), with their labels. test_observability_expressions.py compares them with those of a real
# HAProxy if there is one.
BALANCER_METRICS = {
    "haproxy_backend_active_servers": {"proxy"},
    "haproxy_backend_current_queue": {"proxy"},
    "haproxy_backend_redispatch_warnings_total": {"proxy"},
    "haproxy_backend_response_time_average_seconds": {"proxy"},
    "haproxy_backend_retry_warnings_total": {"proxy"},
    "haproxy_frontend_current_sessions": {"proxy"},
    "haproxy_frontend_http_requests_total": {"proxy"},
    "haproxy_frontend_http_responses_total": {"proxy", "code"},
    "haproxy_server_check_up_down_total": {"proxy", "server"},
    "haproxy_server_status": {"proxy", "server", "state"},
}
OWN_METRICS = {"up": set(), "ALERTS": {"alertname", "alertstate", "severity"}}
TARGET_LABELS = {"job", "service", "instance"}


@cache
def load(name: str) -> dict:
    return yaml.safe_load((PROMETHEUS / name).read_text())


def rules() -> list[dict]:
    return [rule for group in load("alerts.yml")["groups"] for rule in group["rules"]]


def alerts() -> list[dict]:
    return [rule for rule in rules() if "alert" in rule]


def panels(dashboard: dict) -> list[dict]:
    """All panels except rows."""
    inner = [panel for row in dashboard["panels"] for panel in row.get("panels", [])]
    return [panel for panel in dashboard["panels"] + inner if panel["type"] != "row"]


def expressions() -> list[tuple[str, str]]:
    """Every expression of the rules and the dashboards, and its location."""
    found = [(f"alerts.yml: {rule.get('alert') or rule['record']}", rule["expr"]) for rule in rules()]
    for path in DASHBOARDS:
        for panel in panels(json.loads(path.read_text())):
            found += [(f"{path.name}: {panel['title']}", target["expr"]) for target in panel.get("targets", [])]
    return found


@cache
def known_metrics() -> dict[str, set[str]]:
    """Every existing metric, with its labels except those of the target."""
    known = {name: set(metric.labels) for name, metric in read_metrics().items()}
    known |= BALANCER_METRICS | OWN_METRICS
    for rule in rules():
        if "record" in rule:
            known[rule["record"]] = grouped_labels(rule["expr"])
    return known


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False)
