"""Prometheus' configuration and rules, and Grafana's dashboards: right in themselves, and in step with the code and with each other.

Needs `promtool` and `prometheus` (Debian package prometheus) and `openssl`; `haproxy` where it is installed.
"""

import json
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from observability_sources import ROOT, Metric, default_ports, grouped_labels, read_metrics, selectors, swift_files

sys.path.insert(0, str(ROOT / "Tests" / "SystemTests"))
from free_ports import free_port
from prometheus_process import PROMETHEUS, TLS_DIRECTORY, eventually, fetch, prometheus

GRAFANA = ROOT / "Deploy/grafana"
CONFIGURATIONS = ["prometheus.yml", "prometheus-tls.yml"]
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))

# Of HAProxy's exporter (2.6 to 3.0), with their labels; `test_balancer_metrics_exist` asks a real one where there is one.
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
    """All panels but rows."""
    inner = [panel for row in dashboard["panels"] for panel in row.get("panels", [])]
    return [panel for panel in dashboard["panels"] + inner if panel["type"] != "row"]


def expressions() -> list[tuple[str, str]]:
    """Every expression of the rules and the dashboards, and where it stands."""
    found = [(f"alerts.yml: {rule.get('alert') or rule['record']}", rule["expr"]) for rule in rules()]
    for path in DASHBOARDS:
        for panel in panels(json.loads(path.read_text())):
            found += [(f"{path.name}: {panel['title']}", target["expr"]) for target in panel.get("targets", [])]
    return found


@cache
def known_metrics() -> dict[str, set[str]]:
    """Every metric that there is, with its labels besides those of the target."""
    known = {name: set(metric.labels) for name, metric in read_metrics().items()}
    known |= BALANCER_METRICS | OWN_METRICS
    for rule in rules():
        if "record" in rule:
            known[rule["record"]] = grouped_labels(rule["expr"])
    return known


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False)


# The sources


def test_the_reader_of_metrics_sees_all_ways_of_declaring(tmp_path: Path) -> None:
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


def test_the_reader_of_metrics_misses_none() -> None:
    """Every literal that looks like a metric of ours is one that the reader knows."""
    known = read_metrics()
    assert len(known) > 70
    literals = {
        name for path in swift_files() for name in re.findall(r'"((?:attribution|process)_[a-z_]+_[a-z]+)"', path.read_text())
        if "Generated" not in path.parts and name != "attribution_source_nonce"
    }
    assert not {name for name in literals if name not in known and name + "_bucket" not in known}


def test_the_reader_of_expressions_sees_metrics_and_matchers() -> None:
    found = selectors('sum by (a, b) (rate(x_total{c=~"d|e", f!="g)"}[5m])) / on (a) y:z:max offset 1h > 1.6e6 or vector(0) unless up')
    assert [(item.metric, item.matchers) for item in found] == [
        ("x_total", (("c", "=~", "d|e"), ("f", "!=", "g)"))), ("y:z:max", ()), ("up", ()),
    ]


# Configuration and rules


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_promtool_accepts_the_configuration(name: str) -> None:
    """`--syntax-only`: the certificates are in the container alone."""
    checked = run("promtool", "check", "config", "--syntax-only", PROMETHEUS / name)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_promtool_accepts_the_rules_and_their_tests_pass() -> None:
    checked = run("promtool", "check", "rules", "--lint=all", "--lint-fatal", PROMETHEUS / "alerts.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tested = run("promtool", "test", "rules", PROMETHEUS / "alerts_test.yml")
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_service_is_found_by_its_name_and_port(name: str) -> None:
    found = {}
    for job in load(name)["scrape_configs"]:
        for discovery in job["dns_sd_configs"]:
            assert discovery["type"] == "A"
            found |= {service: (discovery["port"], job.get("metrics_path", "/metrics")) for service in discovery["names"]}
    assert found == {service: (port, "/metrics") for service, port in default_ports().items()} | {"balancer": (8404, "/metrics")}
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert set(found) <= set(composed), "services that docker-compose.yml does not have"


def test_every_service_is_missed_when_it_is_gone() -> None:
    expression = next(rule["expr"] for rule in alerts() if rule["alert"] == "ServiceMissing")
    assert set(re.findall(r'absent\(up\{job="attribution", service="([^"]+)"', expression)) == set(default_ports())


def test_tls_differs_in_nothing_but_tls() -> None:
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
def test_every_alert_tells_what_to_do(rule: dict) -> None:
    assert rule["labels"]["severity"] in ("page", "ticket")
    notes = rule["annotations"]
    assert set(notes) == {"summary", "description", "runbook_url"} and all(notes.values())
    assert notes["runbook_url"] == f"Documentation/runbook/{rule['alert']}.md"
    page = (ROOT / notes["runbook_url"]).read_text()
    title, severity = f"# {rule['alert']}", {"page": "**page**", "ticket": "**ticket**"}[rule["labels"]["severity"]]
    assert page.startswith(title + "\n") and severity in page
    # What it means, where to look, what to do: in this order, none of them empty, with a command to run or a panel to look at.
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


def test_pages_of_the_runbook_name_what_exists() -> None:
    """Alerts, methods, settings and other pages that a page refers to are there."""
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


def test_alerts_that_users_know_are_still_there() -> None:
    assert {
        "DeliveriesWait", "DeadLetters", "TokensNearTheirEnd", "DeadLettersDropped", "CertificateEnds", "CertificateRefused", "StoreAway",
        "RPCErrors", "NotificationsMissed", "NotificationsLate",
    } <= {rule["alert"] for rule in alerts()}


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_every_alert_has_a_case_that_fires_and_one_that_does_not(rule: dict) -> None:
    """Labels that its annotations show are among those that it fires with."""
    fires, silent = [], 0
    for case in (case for group in load("alerts_test.yml")["tests"] for case in group["promql_expr_test"]):
        if case["expr"] != f'ALERTS{{alertname="{rule["alert"]}", alertstate="firing"}}':
            continue
        fires += [sample["labels"] for sample in case["exp_samples"]]
        silent += not case["exp_samples"]
    assert fires and silent
    shown = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
    for labels in fires:
        # An alert of `absent` has no labels but those that the expression names.
        missing = shown - set(re.findall(r"(\w+)=", labels))
        assert not missing, f"{labels} lacks {missing}"


# What expressions ask for


@pytest.mark.parametrize("place, expression", expressions(), ids=[place for place, _ in expressions()])
def test_expressions_use_what_exists(place: str, expression: str) -> None:
    known = known_metrics()
    used = selectors(expression)
    assert used, "no metric at all"
    labels: set[str] = set()
    for selector in used:
        assert selector.metric in known, f"nobody exposes {selector.metric}"
        own = known[selector.metric]
        # An RPC metric's own label `service` is `rpc_service` in Prometheus.
        labels |= own | TARGET_LABELS
        unknown = {label for label, _, _ in selector.matchers} - own - TARGET_LABELS
        assert not unknown, f"{selector.metric} has no label {unknown}"
    assert grouped_labels(expression) <= labels, f"none of its metrics has {grouped_labels(expression) - labels}"


def test_label_values_exist_in_the_code() -> None:
    """A misspelt value selects nothing, for ever. Values with patterns in them are left out."""
    text = "\n".join(path.read_text() for path in swift_files())
    words = set(re.findall(r'"([\w-]+)"', text)) | set(re.findall(r"\b(?:case|, ) ?`?(\w+)`?", text))
    scripts = {path.stem for path in (ROOT / "Shared/AttributionQueue/Scripts").rglob("*.lua")}
    foreign = {"DOWN", "5xx", "firing", "balancer", "attribution"}
    for place, expression in expressions():
        for selector in selectors(expression):
            for label, _, value in selector.matchers:
                for word in value.split("|"):
                    if not re.fullmatch(r"[A-Za-z][\w-]*", word) or word in foreign:
                        continue
                    known = words | scripts if label == "command" else words
                    assert word in known or word in set(default_ports()), f"{place}: {label}={word}"


def test_metrics_are_shown_somewhere() -> None:
    """A metric that is registered and neither shown nor watched is forgotten."""
    used = {selector.metric for _, expression in expressions() for selector in selectors(expression)}
    families = {
        re.sub(r"_(bucket|sum|count)$", "", name) if metric.kind == "histogram" else name for name, metric in read_metrics().items()
    }
    forgotten = {name for name in families if not {name, f"{name}_bucket", f"{name}_count"} & used}
    assert not forgotten


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="no haproxy here")
def test_balancer_metrics_exist(tmp_path: Path) -> None:
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


# Dashboards


def test_the_four_dashboards_are_there() -> None:
    assert [path.stem for path in DASHBOARDS] == ["broker", "delivery-path", "recovery", "system"]
    uids = [json.loads(path.read_text())["uid"] for path in DASHBOARDS]
    assert len(set(uids)) == len(uids)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboards_are_whole(path: Path) -> None:
    dashboard = json.loads(path.read_text())
    assert dashboard["schemaVersion"] == 39 and dashboard["title"] and "id" not in dashboard
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    assert {"service", "instance"} <= set(variables)
    assert all(variable["datasource"]["uid"] == "prometheus" for variable in variables.values())
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in panels(dashboard):
        where = f"{path.name}: {panel['title']}"
        assert panel["title"].strip() and panel["description"].strip(), where
        if panel["type"] == "text":
            continue
        assert panel["fieldConfig"]["defaults"]["unit"], where
        assert panel["datasource"] == {"type": "prometheus", "uid": "prometheus"}, where
        assert panel["targets"] and all(target["expr"].strip() for target in panel["targets"]), where
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]), where
        for target in panel["targets"]:
            used = set(re.findall(r"\$(\w+)", target["expr"])) - {"__rate_interval", "__range"}
            assert used <= set(variables), f"{where}: {used}"
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            labels = set().union(*(known_metrics()[item.metric] for item in selectors(target["expr"]))) | TARGET_LABELS
            assert shown <= labels, f"{where}: {shown - labels}"
            aggregated = re.match(r"(?:sum|max|min|count|avg)\b", target["expr"]) or "histogram_quantile" in target["expr"]
            if aggregated:
                assert shown <= grouped_labels(target["expr"]), f"{where}: the legend shows {shown}, which the expression drops"


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_do_not_overlap(path: Path) -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in json.loads(path.read_text())["panels"]:
        place = panel["gridPos"]
        assert place["x"] >= 0 and place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, f"{panel['title']} lies on {taken[x, y]}"
                taken[x, y] = panel["title"]


def test_dashboards_name_alerts_that_exist() -> None:
    names = {rule["alert"] for rule in alerts()}
    for path in DASHBOARDS:
        for panel in panels(json.loads(path.read_text())):
            for text in re.findall(r"[Aa]lerts?: ([^.;)]*)", panel["description"]):
                for word in re.findall(r"\b[A-Z][a-z]+[A-Z]\w+|\bRPC\w+", text):
                    assert word in names, f"{path.name}: {panel['title']}: {word}"


def test_provisioning_agrees_with_the_mounts() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for service in ("prometheus", "grafana"):
        assert services[service]["profiles"] == ["observability"]
    assert "./Deploy/prometheus:/etc/prometheus:ro" in services["prometheus"]["volumes"]
    words = " ".join(services["prometheus"]["command"])
    chosen = re.search(r"--config\.file=/etc/prometheus/(?:\$\{\w+:-)?([\w.-]+)\}?", words)
    assert chosen and chosen[1] == "prometheus.yml"
    mounts = dict(volume.removesuffix(":ro").split(":") for volume in services["grafana"]["volumes"] if volume.startswith("./"))
    assert mounts["./Deploy/grafana/provisioning"] == "/etc/grafana/provisioning"
    assert all(f"{source}:{mounts[source]}:ro" in services["grafana"]["volumes"] for source in mounts)
    [source] = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
    assert (source["uid"], source["type"], source["url"]) == ("prometheus", "prometheus", "http://prometheus:9090")
    assert source["jsonData"]["timeInterval"] == load("prometheus.yml")["global"]["scrape_interval"]
    [provider] = yaml.safe_load((GRAFANA / "provisioning/dashboards/attribution.yml").read_text())["providers"]
    assert provider["options"]["path"] == mounts["./Deploy/grafana/dashboards"]


def test_tls_files_are_mounted_where_prometheus_reads_them() -> None:
    volumes = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["prometheus"]["volumes"]
    assert any(volume.endswith(f":{TLS_DIRECTORY}:ro") for volume in volumes)


# A real Prometheus


@contextmanager
def exporter(text: str, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serves metrics on a free loopback port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = text.encode() if self.path == "/metrics" else b""
            self.send_response(200 if body else 404)
            self.send_header("content-type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda _request, _address: None  # refused handshakes are part of the test
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def instance_text(dead: int, ends: float) -> str:
    """What an instance of verifier exposes, as far as the test looks at it."""
    return f"""# TYPE attribution_queue_dead gauge
attribution_queue_dead{{queue="intake"}} {dead}
attribution_queue_dead{{queue="tokens"}} 7
# TYPE attribution_store_connected gauge
attribution_store_connected 1
# TYPE attribution_rpc_server_requests_total counter
attribution_rpc_server_requests_total{{service="attribution.verifier.v1.VerifierService",method="VerifyBatch",code="ok"}} 5
# TYPE attribution_tls_certificate_expiry_timestamp_seconds gauge
attribution_tls_certificate_expiry_timestamp_seconds{{listener="internal"}} {ends}
"""


BALANCER_TEXT = """# TYPE haproxy_backend_active_servers gauge
haproxy_backend_active_servers{proxy="verifier"} 2
haproxy_backend_active_servers{proxy="signer"} 0
"""


def test_a_real_prometheus_scrapes_evaluates_and_fires(tmp_path: Path) -> None:
    now = time.time()
    with (
        exporter(instance_text(dead=3, ends=now + 90 * 86_400)) as first,
        exporter(instance_text(dead=3, ends=now + 3 * 86_400)) as second,
        exporter(BALANCER_TEXT) as balancer,
        prometheus(tmp_path, "prometheus.yml", {"verifier": [first, second], "balancer": [balancer]}) as server,
    ):
        def scraped() -> None:
            assert server.targets() == {
                ("attribution", "verifier", f"127.0.0.1:{first}", "up"), ("attribution", "verifier", f"127.0.0.1:{second}", "up"),
                ("balancer", "balancer", f"127.0.0.1:{balancer}", "up"),
            }

        eventually(scraped)

        def evaluated() -> None:
            loaded = [rule for group in server.ask("rules")["groups"] for rule in group["rules"]]
            assert sorted(rule["name"] for rule in loaded) == sorted(rule.get("alert") or rule["record"] for rule in rules())
            assert {(rule["health"], rule.get("lastError", "")) for rule in loaded} == {("ok", "")}

        eventually(evaluated)

        def alerted() -> dict[str, list[dict]]:
            found: dict[str, list[dict]] = {}
            for alert in server.ask("alerts")["alerts"]:
                found.setdefault(alert["labels"]["alertname"], []).append(alert)
            assert {"DeadLetters", "CertificateEnds", "NoReadyInstance", "ServiceMissing"} <= set(found)
            # Before the first scrape every service is missing.
            assert {alert["labels"]["service"] for alert in found["ServiceMissing"]} == set(default_ports()) - {"verifier"}
            return found

        found = eventually(alerted)
        # Two instances report the same queue: one alert. Tokens that Apple refused are none.
        [letters] = found["DeadLetters"]
        assert (letters["labels"]["queue"], letters["labels"]["severity"], letters["state"]) == ("intake", "ticket", "pending")
        # It has no `for`, so it fires at once, for the one instance whose certificate ends.
        [ends] = found["CertificateEnds"]
        assert ends["state"] == "firing" and ends["labels"]["instance"] == f"127.0.0.1:{second}"
        assert ends["annotations"]["summary"] == f"the internal certificate of 127.0.0.1:{second} ends within a week"
        assert re.fullmatch(r"verifier has 2d 23h \d+m \d+s left\. .*", ends["annotations"]["description"])
        assert [alert["labels"]["proxy"] for alert in found["NoReadyInstance"]] == ["signer"]
        assert "StoreAway" not in found and "InstanceDown" not in found and "BalancerDown" not in found

        # The service that is scraped, and the RPC service that a metric names itself, are told apart.
        calls = server.vector("attribution_rpc_server_requests_total")
        assert len(calls) == 2
        for labels, _ in calls:
            assert (labels["service"], labels["rpc_service"]) == ("verifier", "attribution.verifier.v1.VerifierService")
            assert "exported_service" not in labels

        for place, expression in expressions():
            text = expression.replace("$__rate_interval", "1m").replace("$__range", "1h")
            text = re.sub(r"\$(service|instance|queue)\b", ".*", text)
            try:
                server.vector(text)
            except urllib.error.HTTPError as error:
                pytest.fail(f"{place}: {error.read().decode()}")
        assert server.vector('max by (queue) (attribution_queue_dead{service=~".*", queue="intake"})') == [({"queue": "intake"}, 3)]


def make_authority(directory: Path) -> None:
    """ca.pem and ca.key."""
    made = run(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=test", "-keyout", directory / "ca.key", "-out", directory / "ca.pem",
    )
    assert made.returncode == 0, made.stderr


def make_certificate(directory: Path, name: str, dns: str) -> tuple[Path, Path]:
    certificate, key, request = (directory / f"{name}{suffix}.pem" for suffix in ("", "-key", "-request"))
    (directory / f"{name}.ext").write_text(f"subjectAltName=DNS:{dns}\n")
    for command in (
        ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
         "-keyout", key, "-out", request],
        ["x509", "-req", "-in", request, "-CA", directory / "ca.pem", "-CAkey", directory / "ca.key", "-CAcreateserial", "-days", "2",
         "-extfile", directory / f"{name}.ext", "-out", certificate],
    ):
        made = run("openssl", *command)
        assert made.returncode == 0, made.stderr
    return certificate, key


def test_a_real_prometheus_scrapes_with_client_certificates(tmp_path: Path) -> None:
    """One instance shows verifier's certificate, one that of another service: only the first is believed."""
    make_authority(tmp_path)
    certificate, key = make_certificate(tmp_path, "client", "prometheus")
    (tmp_path / "certificate.pem").write_bytes(certificate.read_bytes())
    (tmp_path / "key.pem").write_bytes(key.read_bytes())

    def context(name: str) -> ssl.SSLContext:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(*make_certificate(tmp_path, f"server-{name}", name))
        made.load_verify_locations(tmp_path / "ca.pem")
        made.verify_mode = ssl.CERT_REQUIRED
        return made

    text = instance_text(dead=0, ends=time.time() + 90 * 86_400)
    with (
        exporter(text, context("verifier")) as right,
        exporter(text, context("signer")) as wrong,
        exporter(BALANCER_TEXT) as balancer,
        prometheus(tmp_path, "prometheus-tls.yml", {"verifier": [right, wrong], "balancer": [balancer]}, tls=tmp_path) as server,
    ):
        def scraped() -> None:
            assert server.targets() == {
                ("attribution", "verifier", f"127.0.0.1:{right}", "up"), ("attribution", "verifier", f"127.0.0.1:{wrong}", "down"),
                ("balancer", "balancer", f"127.0.0.1:{balancer}", "up"),
            }
            [refused] = [target["lastError"] for target in server.ask("targets")["activeTargets"] if target["health"] == "down"]
            assert "certificate is valid for signer, not verifier" in refused

        eventually(scraped)
