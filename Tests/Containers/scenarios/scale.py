"""Scenario 5: throughput with one to four instances behind the balancer, each limited to the same share of a core."""

from __future__ import annotations

import asyncio

from Benchmarks import bench
from Benchmarks.bench import NATIVE as BENCHMARKS
from Benchmarks.bench import ROOT, Wrk

from ..composition import Composition, Instance
from ..report import Section, median
from . import Context

NUMBER, TITLE = "5", "Scale: one to four instances"
MOST, ROUNDS, SECONDS = 4, 5, 2
CORES = {"verifier": 0.05, "signer": 0.05}
SCRIPTS = {"verifier": "verify.lua", "signer": "sign.lua"}
WHAT = {"verifier": "VerifySKAdNetworkPostback, P-256", "signer": "SignSKAdNetworkImpression"}
CONNECTIONS = 128
LEAST = 0.9


async def run(context: Context) -> None:
    section = context.report.section(NUMBER, TITLE)
    await asyncio.to_thread(measure, context, section)
    section.notes += [
        ("Each instance has the same fixed share of a core (a quota of periods of 20 ms), so that four of them, the balancer, Redis and the "
        "load fit into two cores. Instances that a round does not use keep running, and the balancer is configured to send them nothing."),
        (f"Rounds of {SECONDS} s go up and down in the number of instances; a figure is the median. Requests are those of "
        "Tests/Benchmarks: a genuine P-256 postback to verify, a SKAdNetwork 4.0 impression to sign; any answer but 200 ends the test."),
    ]


def measure(context: Context, section: Section) -> None:
    composition = context.composition
    bench.TOKEN = context.access.token
    for service, script in SCRIPTS.items():
        composition.cores[service] = CORES[service]
        composition.scale(service, MOST)
        instances = composition.instances(service)
        rates: dict[int, list[float]] = {count: [] for count in range(1, MOST + 1)}
        loads(composition, service, script, 1)
        for number in range(ROUNDS):
            order = range(1, MOST + 1) if number % 2 == 0 else range(MOST, 0, -1)
            for count in order:
                only(composition, service, instances, count)
                rates[count].append(loads(composition, service, script, SECONDS * context.pace))
        context.report.scaling[service] = rates
        medians = {count: median(values) for count, values in rates.items()}
        ratio = medians[MOST] / medians[1] / MOST
        section.add(f"{service}: {WHAT[service]}; of a core each", f"{CORES[service]:g}")
        for count, rate in medians.items():
            section.add(f"  {count} instance{'s' * (count > 1)}: requests a second, rounds",
                        f"{rate:,.0f} ({min(rates[count]):,.0f}–{max(rates[count]):,.0f})")
        section.add(f"  of linear, from 1 to {MOST}", f"{ratio:.2f}", f"at least {LEAST}", ratio >= LEAST)
        only(composition, service, instances, MOST)
        composition.scale(service, 1)


def loads(composition: Composition, service: str, script: str, seconds: float) -> float:
    return Wrk(f"http://127.0.0.1:{composition.ports[service]}", BENCHMARKS / script, max(1, round(seconds)), connections=CONNECTIONS,
               core=None, variables={"POSTBACK": str(ROOT / "Deploy" / "genuine-postback.json")}).rate


def only(composition: Composition, service: str, instances: list[Instance], count: int) -> None:
    """Configures the balancer to send calls only to this number of instances."""
    for number, instance in enumerate(instances):
        composition.set_server_state(service, set(composition.networks_of(instance).values()), "ready" if number < count else "maint")
    for instance in instances[:count]:
        composition.wait_until_balanced(instance)
