"""One file per scenario, each with `run`: the short form is a test of pytest, the long one is `Deploy/cluster-test`'s."""

from __future__ import annotations

from Containers.report import Section

from ..loaded_run import Result


def show(section: Section, result: Result) -> None:
    """What all parts report about their load."""
    refused = ", ".join(f"{count:,} × {status}" for status, count in sorted(result.refused.items())) or "none"
    section.add("deliveries acknowledged; requests sent for them", f"{result.acknowledged:,}; {result.posts:,}")
    section.add("seconds of load; deliveries a second; worked off after", f"{result.loaded:.0f}; {result.acknowledged / result.loaded:,.0f}; "
                f"{result.worked_off:.1f}")
    section.add("refused and taken when sent again; connections broken", f"{refused}; {result.broken:,}")
    section.figures["load"] = {"acknowledged": result.acknowledged, "posts": result.posts, "refused": dict(result.refused),
                               "broken": result.broken, "lost": len(result.lost), "events": result.events, "counts": result.counts,
                               "seconds": round(result.loaded, 1)}
    section.notes.append("Found in Redis: " + ", ".join(f"{count:,} {name}" for name, count in result.counts.items()) + ".")


def show_nothing_lost(section: Section, result: Result) -> None:
    """`play` fails if an event is duplicated or out of order, so these numbers are 0."""
    section.add("lost; doubled; out of order", f"{len(result.lost)}; 0; 0", "0; 0; 0", not result.lost)
