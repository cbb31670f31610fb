"""The results of a run, as Markdown, JSON and a plot."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import time

from Benchmarks.bench import machine

DOCUMENT = "containers-test"
ABOUT = ("the images of `Deploy/Dockerfile`, the system of `docker-compose.yml`, and every request through the balancer's ports on "
         "127.0.0.1.")


@dataclasses.dataclass
class Row:
    what: str
    value: str
    target: str = ""
    met: bool | None = None


class Section:
    def __init__(self, number: str, title: str) -> None:
        self.number, self.title = number, title
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.figures: dict[str, object] = {}
        self.seconds = 0.0
        self.error = ""

    def add(self, what: str, value: object, target: str = "", met: bool | None = None) -> None:
        self.rows.append(Row(what, str(value), target, met))
        print(f"  {what:72} {value!s:>26}  {target:24} {'' if met is None else 'met' if met else 'NOT MET'}", flush=True)

    @property
    def passed(self) -> bool:
        return not self.error and bool(self.rows) and all(row.met is not False for row in self.rows)


class Report:
    """`about` describes the test; `document` is the name of the files."""

    def __init__(self, command: str, document: str = DOCUMENT, title: str = "The containers test", about: str = ABOUT) -> None:
        self.command, self.began = command, time.monotonic()
        self.document, self.title, self.about = document, title, about
        self.sections: list[Section] = []
        self.notes: list[str] = []
        # By service: the rounds' requests a second for each number of instances.
        self.scaling: dict[str, dict[int, list[float]]] = {}

    def section(self, number: str, title: str) -> Section:
        self.sections.append(Section(number, title))
        print(f"\n{number}. {title}", flush=True)
        return self.sections[-1]

    @property
    def passed(self) -> bool:
        return bool(self.sections) and all(section.passed for section in self.sections)

    def json(self) -> dict:
        return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": machine(), "command": self.command, "passed": self.passed,
                "seconds": round(time.monotonic() - self.began), "scaling": self.scaling,
                "sections": [{"number": one.number, "title": one.title, "passed": one.passed, "seconds": round(one.seconds),
                              "error": one.error, "rows": [dataclasses.asdict(row) for row in one.rows], **one.figures}
                             for one in self.sections]}

    def markdown(self) -> str:
        lines = [f"# {self.title}", "",
                 f"{time.strftime('%Y-%m-%d', time.gmtime())}, {machine()}. Printed by `{self.command}`: {self.about}", "",
                 "| part | | seconds |", "| --- | --- | --- |"]
        lines += [f"| {one.number}. {one.title} | {'passed' if one.passed else '**failed**'} | {one.seconds:.0f} |"
                  for one in self.sections]
        lines += [f"| **together** | **{'passed' if self.passed else 'failed'}** | {time.monotonic() - self.began:.0f} |"]
        for one in self.sections:
            lines += ["", f"## {one.number}. {one.title}", ""]
            if one.rows:
                lines += ["| what | measured | target | |", "| --- | --- | --- | --- |"]
                lines += [f"| {row.what} | {row.value} | {row.target} | {'' if row.met is None else 'met' if row.met else '**not met**'} |"
                          for row in one.rows]
            if one.error:
                lines += ["", "```", one.error.strip()[-1500:], "```"]
            if one.notes:
                lines += ["", *[f"- {note}" for note in one.notes]]
            if one.number == "5" and self.scaling:
                lines += ["", f"![Throughput by instances]({self.document}.svg)"]
        if self.notes:
            lines += ["", "## How it was run", "", *[f"- {note}" for note in self.notes]]
        return "\n".join(lines) + "\n"

    def write(self, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.document}.md").write_text(self.markdown())
        (folder / f"{self.document}.json").write_text(json.dumps(self.json(), indent=1) + "\n")
        if self.scaling:
            (folder / f"{self.document}.svg").write_text(plot(self.scaling))


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2] if len(values) % 2 else sum(sorted(values)[len(values) // 2 - 1:len(values) // 2 + 1]) / 2


def plot(scaling: dict[str, dict[int, list[float]]]) -> str:
    """One panel for each service, side by side: requests a second over instances, and a line that extrapolates one instance's figure."""
    width, height, left, top, gap = 330, 240, 70, 46, 90
    words = [(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + len(scaling) * (width + gap)} {top + height + 60}" '
             'font-family="sans-serif" font-size="13">'), '<rect width="100%" height="100%" fill="white"/>']
    for number, (service, rounds) in enumerate(scaling.items()):
        start = left + number * (width + gap)
        medians = {count: median(values) for count, values in sorted(rounds.items())}
        most, one = max(medians), medians[min(medians)] / min(medians)
        high = 1.1 * max([one * most, *(max(values) for values in rounds.values())])
        step = next(size for power in range(1, 7) for size in (10 ** power, 2 * 10 ** power, 5 * 10 ** power) if high / size < 7)

        def x(count: float, start: float = start, most: float = most) -> float:
            return start + 20 + (count - 1) / max(most - 1, 1) * (width - 50)

        def y(value: float, high: float = high) -> float:
            return top + height - value / high * height

        words.append(f'<text x="{start}" y="{top - 18}" font-weight="bold">{service}: requests a second</text>')
        for tick in range(0, int(high) + 1, step):
            words.append(f'<line x1="{start}" x2="{start + width}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>'
                         f'<text x="{start - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:,}</text>')
        words.append(f'<line x1="{x(1):.1f}" y1="{y(one):.1f}" x2="{x(most):.1f}" y2="{y(one * most):.1f}" stroke="#999" '
                     'stroke-dasharray="6 4"/>')
        words.append(f'<polyline points="{" ".join(f"{x(count):.1f},{y(value):.1f}" for count, value in medians.items())}" fill="none" '
                     'stroke="#06c" stroke-width="2"/>')
        for count, value in medians.items():
            words += [f'<circle cx="{x(count):.1f}" cy="{y(single):.1f}" r="2" fill="#9bd"/>' for single in rounds[count]]
            words.append(f'<circle cx="{x(count):.1f}" cy="{y(value):.1f}" r="4" fill="#06c"/>'
                         f'<text x="{x(count):.1f}" y="{y(value) - 10:.1f}" text-anchor="middle" font-size="11">{value:,.0f}</text>'
                         f'<text x="{x(count):.1f}" y="{top + height + 18}" text-anchor="middle">{count}</text>')
        words.append(f'<text x="{start + width / 2}" y="{top + height + 40}" text-anchor="middle">instances; dashed: linear</text>')
    return "\n".join([*words, "</svg>"]) + "\n"
