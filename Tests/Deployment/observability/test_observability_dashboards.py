"""Grafana's dashboards and their provisioning."""

import json
import re
from pathlib import Path

import pytest
import yaml

from SystemTests.support.prometheus_process import TLS_DIRECTORY

from .files import DASHBOARDS, GRAFANA, TARGET_LABELS, alerts, known_metrics, load, panels
from .sources import ROOT, grouped_labels, selectors

# Dashboards


def test_the_four_dashboards_exist() -> None:
    assert [path.stem for path in DASHBOARDS] == ["broker", "delivery-path", "recovery", "system"]
    uids = [json.loads(path.read_text())["uid"] for path in DASHBOARDS]
    assert len(set(uids)) == len(uids)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_has_a_title_a_description_a_unit_and_known_variables(path: Path) -> None:
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
    covered: dict[tuple[int, int], str] = {}
    for panel in json.loads(path.read_text())["panels"]:
        grid = panel["gridPos"]
        assert grid["x"] >= 0 and grid["x"] + grid["w"] <= 24
        for x in range(grid["x"], grid["x"] + grid["w"]):
            for y in range(grid["y"], grid["y"] + grid["h"]):
                assert (x, y) not in covered, f"{panel['title']} lies on {covered[x, y]}"
                covered[x, y] = panel["title"]


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
