"""Prometheus' rules and Grafana's dashboards."""
