"""Configuration and rules of Prometheus, and the readers of the code's metrics that these tests use."""

import json
import re
from pathlib import Path

import pytest
import yaml

from SystemTests.support.prometheus_process import PROMETHEUS, TLS_DIRECTORY

from .files import BALANCER_METRICS, DASHBOARDS, alerts, load, panels, run
from .sources import ROOT, Metric, default_ports, read_metrics, selectors, swift_files

CONFIGURATIONS = ["prometheus.yml", "prometheus-tls.yml"]


# The sources


def test_the_metrics_reader_finds_every_form_of_declaration(tmp_path: Path) -> None:
    source = tmp_path / "Metrics.swift"
    source.write_text("""
      private static let reloads = "x_reloads_total"
      for (name, help) in [
        ("ready", "Ready."), ("dead", "Dead."),
      ] {
        registry.gauge("x_queue_\\(name)", help: help, labels: ["queue"])
      }
      metrics.counter(Self.reloads, help: "Reads.", labels: ["listener", "outcome"])
      registry.histogram(
        "x_wait_seconds", help: "Waits (all).",
        labels: ["queue"], bounds: [1, 2])
      public func counter(_ name: String, help: String, labels: [String] = []) {}
    """)
    histogram = Metric("histogram", frozenset({"queue"}))
    assert read_metrics((source,)) == {
        "x_queue_ready": Metric("gauge", frozenset({"queue"})),
        "x_queue_dead": Metric("gauge", frozenset({"queue"})),
        "x_reloads_total": Metric("counter", frozenset({"listener", "outcome"})),
        "x_wait_seconds_bucket": Metric("histogram", frozenset({"queue", "le"})),
        "x_wait_seconds_sum": histogram,
        "x_wait_seconds_count": histogram,
    }


def test_the_metrics_reader_misses_no_metric() -> None:
    """The reader finds every literal that may be one of our metrics."""
    known = read_metrics()
    assert len(known) > 70
    literals = {
        name for path in swift_files() for name in re.findall(r'"((?:attribution|process)_[a-z_]+_[a-z]+)"', path.read_text())
        if "Generated" not in path.parts and name != "attribution_source_nonce"
    }
    assert not {name for name in literals if name not in known and name + "_bucket" not in known}


def test_the_expression_reader_finds_metrics_and_matchers() -> None:
    found = selectors('sum by (a, b) (rate(x_total{c=~"d|e", f!="g)"}[5m])) / on (a) y:z:max offset 1h > 1.6e6 or vector(0) unless up')
    assert [(item.metric, item.matchers) for item in found] == [
        ("x_total", (("c", "=~", "d|e"), ("f", "!=", "g)"))), ("y:z:max", ()), ("up", ()),
    ]


# Configuration and rules


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_promtool_accepts_the_configuration(name: str) -> None:
    """With `--syntax-only`, because the certificates exist only in the container."""
    checked = run("promtool", "check", "config", "--syntax-only", PROMETHEUS / name)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_promtool_accepts_the_rules_and_their_tests_pass() -> None:
    checked = run("promtool", "check", "rules", "--lint=all", "--lint-fatal", PROMETHEUS / "alerts.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tested = run("promtool", "test", "rules", PROMETHEUS / "alerts_test.yml")
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_prometheus_scrapes_every_service_by_its_name_and_port(name: str) -> None:
    found = {}
    for job in load(name)["scrape_configs"]:
        for discovery in job["dns_sd_configs"]:
            assert discovery["type"] == "A"
            found |= {service: (discovery["port"], job.get("metrics_path", "/metrics")) for service in discovery["names"]}
    assert found == {service: (port, "/metrics") for service, port in default_ports().items()} | {"balancer": (8404, "/metrics")}
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert set(found) <= set(composed), "services that docker-compose.yml does not have"


def test_an_alert_fires_for_every_missing_service() -> None:
    expression = next(rule["expr"] for rule in alerts() if rule["alert"] == "ServiceMissing")
    assert set(re.findall(r'absent\(up\{job="attribution", service="([^"]+)"', expression)) == set(default_ports())


def test_the_tls_configuration_differs_only_in_tls() -> None:
    plain, secured = (load(name) for name in CONFIGURATIONS)
    assert plain["global"] == secured["global"] and plain["rule_files"] == secured["rule_files"]
    [services, balancer] = plain["scrape_configs"]
    jobs = secured["scrape_configs"]
    assert jobs[-1] == balancer
    assert [name for job in jobs[:-1] for name in job["dns_sd_configs"]] == services["dns_sd_configs"]
    for job in jobs[:-1]:
        [discovery] = job["dns_sd_configs"]
        assert job["scheme"] == "https"
        assert job["tls_config"] == {
            "server_name": discovery["names"][0], "min_version": "TLS12", "ca_file": f"{TLS_DIRECTORY}/ca.pem",
            "cert_file": f"{TLS_DIRECTORY}/certificate.pem", "key_file": f"{TLS_DIRECTORY}/key.pem",
        }
        assert job["relabel_configs"] == [{"target_label": "job", "replacement": "attribution"}] + services["relabel_configs"]
        assert job["metric_relabel_configs"] == services["metric_relabel_configs"]


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_every_alert_has_instructions(rule: dict) -> None:
    assert rule["labels"]["severity"] in ("page", "ticket")
    notes = rule["annotations"]
    assert set(notes) == {"summary", "description", "runbook_url"} and all(notes.values())
    assert notes["runbook_url"] == f"Documentation/runbook/{rule['alert']}.md"
    page = (ROOT / notes["runbook_url"]).read_text()
    title, severity = f"# {rule['alert']}", {"page": "**page**", "ticket": "**ticket**"}[rule["labels"]["severity"]]
    assert page.startswith(title + "\n") and severity in page
    # The three parts are in this order, none of them is empty, and the page names a command or a dashboard.
    parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    assert parts[1::2] == ["What it means", "What to look at", "What to do"]
    assert all(len(text.split()) >= 5 for text in parts[2::2])
    assert re.search(r"```sh|`(?:attributionctl|curl|docker|redis-cli|openssl|kubectl) |Dashboard \w+", page)


def test_alerts_are_named_once_and_have_one_page_each() -> None:
    names = [rule["alert"] for rule in alerts()]
    assert len(names) == len(set(names))
    folder = ROOT / "Documentation" / "runbook"
    assert {path.stem for path in folder.glob("*.md")} == {*names, "README"}
    rows = re.findall(r"^\| \[`(\w+)`\]\((\w+)\.md\) \| (page|ticket) \|", (folder / "README.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted((rule["alert"], rule["alert"], rule["labels"]["severity"]) for rule in alerts())


def test_alerts_methods_metrics_panels_and_links_in_the_runbook_exist() -> None:
    """Alerts, methods, settings and other pages that a page refers to exist."""
    names = {rule["alert"] for rule in alerts()}
    methods = {name for path in (ROOT / "Shared/AttributionProtocol/Contract").rglob("*.proto")
               for name in re.findall(r"\brpc (\w+)\(", path.read_text())}
    metrics = {re.sub(r"_(bucket|sum|count)$", "", name) for name in read_metrics()} | set(read_metrics()) | set(BALANCER_METRICS)
    panel_titles = {panel["title"] for path in DASHBOARDS for panel in panels(json.loads(path.read_text()))}
    for page in (ROOT / "Documentation" / "runbook").glob("*.md"):
        text = page.read_text()
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
            assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"
        for word in re.findall(r"`((?:attribution|haproxy)_[a-z_]+)", text):
            assert word in metrics or any(name.startswith(word) for name in metrics), f"{page.name}: {word}"
        for word in re.findall(r"panel \*([^*]+)\*", text):
            assert word in panel_titles, f"{page.name}: {word}"
        for word in re.findall(r"`([A-Z][a-z]+[A-Z]\w+|RPC\w+)`", text):
            assert word in names | methods, f"{page.name}: {word}"


def test_every_published_alert_still_exists() -> None:
    assert {
        "DeliveriesWait", "DeadLetters", "TokensNearTheirEnd", "DeadLettersDropped", "CertificateEnds", "CertificateRefused", "StoreAway",
        "RPCErrors", "NotificationsMissed", "NotificationsLate",
    } <= {rule["alert"] for rule in alerts()}


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_every_alert_has_a_case_that_fires_and_one_that_does_not(rule: dict) -> None:
    """Every label in the alert's annotations is a label of the case that fires."""
    fires, silent = [], 0
    for case in (case for group in load("alerts_test.yml")["tests"] for case in group["promql_expr_test"]):
        if case["expr"] != f'ALERTS{{alertname="{rule["alert"]}", alertstate="firing"}}':
            continue
        fires += [sample["labels"] for sample in case["exp_samples"]]
        silent += not case["exp_samples"]
    assert fires and silent
    shown = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
    for labels in fires:
        # An alert of `absent` has only the labels that the expression names.
        missing = shown - set(re.findall(r"(\w+)=", labels))
        assert not missing, f"{labels} lacks {missing}"
