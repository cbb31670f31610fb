"""Prints the `appleKeys:` block of a development configuration: Apple's published keys and the simulator's beside them."""

import pathlib
import sys

import yaml

P192 = "MEkwEwYHKoZIzj0CAQYIKoZIzj0DAQEDMgAEMyHD625uvsmGq4C43cQ9BnfN2xslVT5V1nOmAMP6qaRRUll3PB1JYmgSm+62sosG"
P256 = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWdp8GPcGqmhgzEFj9Z2nSpQVddayaPe4FMzqM9wib1+aHaaIzoHoLN9zW4K8y4SPykE3YVK3sVqW6Af0lfx3gg=="
KIDS = {
    "apple-cas-identifier/0": P256,
    "apple-development-identifier/0":
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAELeEDzpJEP+/qRSE5hJVC1p1J0ssUnQGMzBBbvnACBok8OVGGLgxL0myrKiy6lvRtSlLRsWit87i+vftD8AEqeQ==",
    "apple-development-identifier/1":
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YzdO7eM97s/IJ25kdW5CZ3A14USE5IJ5Ha/vhWaxI6UBI1ZxCEvjrKxVluVGe6qWwF1BDFq+QHqKfH5u+wxHQ==",
}

simulator = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
simulator = simulator.get("appleKeys", simulator)

merged = {
    "appleKeys": {
        "p192": [P192, simulator["p192"]],
        "p256": [P256, simulator["p256"]],
        "kids": {kid: [key, simulator["kids"][kid]] for kid, key in KIDS.items() if kid in simulator["kids"]},
    }
}
yaml.safe_dump(merged, sys.stdout, sort_keys=False, width=1000)
