"""Makes apple-coverage.md: what Apple documents, by apple-coverage.yaml, against what stands in the code.

    python3 Documentation/coverage.py            writes it, and says what is missing
    python3 Documentation/coverage.py --check    says what would change, and fails if anything would, or if anything is missing without a reason

Ours is looked up in the contract (.proto files and openapi.json) and in the Swift sources, never listed by hand:

    calls           a case of AppStoreServerEndpoint with Apple's method and path, and a handler of an RPC that asks for it or whose comment begins
                    with Apple's name of the call; no RPC is needed where the list says `inside`
    routes          openapi.json
    notifications   the pairs of NotificationFilterRule
    objects         the message of the contract whose comment begins with the object's name, and its fields by their JSON names; where the object has
                    `parsers`, a literal of each field in one of these sources too
    values          the comment of the field
    written         a literal of each field in the sources that write it, and of each of its values; values that are numbers as a range
    carried         like written, for an object that callers or Apple get as it is: the field of the contract that has it, where the field's comment
                    says that it is unchanged. `sources` may name those that read a part of it
    words           lists of words that stand in several objects: like values of written or carried, or `told` by the comment of a field
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
import pathlib
import re
import sys

import yaml

from coverage_sources import (
    CONTRACT,
    INSIDE,
    ROOT,
    Message,
    callers,
    carriers,
    endpoints,
    filters,
    handlers,
    has_number_bound,
    literals,
    messages,
    plain,
    titles,
)

PAGE = ROOT / "Documentation" / "apple-coverage.md"


@dataclasses.dataclass
class Finding:
    """A name of Apple's, and where ours is."""

    name: str
    since: str
    ours: str
    reason: str
    where: str

    @property
    def is_missing(self) -> bool:
        return not self.ours and not self.reason

    @property
    def is_stale(self) -> bool:
        return bool(self.ours and self.reason)

    @property
    def cell(self) -> str:
        return self.ours or (f"no: {self.reason}" if self.reason else "**missing**")


# The tables


def call_rows(group: dict) -> list[Finding]:
    by_call, by_case = endpoints(), callers()
    urls = literals(["Services/ASATokenBroker", "Shared/ServiceRuntime"])
    rows = []
    for item in group["items"]:
        method, path = item["call"].split(" ", 1)
        case = by_call.get((method, re.sub(r"\{\w+\}", "{}", path)))
        ours = by_case.get(case, "") if case else ""
        # What no RPC asks for is missing, unless the list says that nobody needs to.
        if case and ours in ("", INSIDE):
            ours = titles().get(plain(item["name"]), ours if item.get("inside") else "")
        if path.startswith("https://"):
            ours = next((rpc for rpc in handlers() if rpc == "TokenBrokerService.ExchangeToken"), "") if any(
                url.rstrip("/") in path for url in urls if url.startswith("https://")) else ""
        rows.append(Finding(f"{item['name']} (`{item['call']}`)", item["since"], f"`{ours}`" if "." in ours else ours, item.get("without", ""),
                            item["name"]))
    return rows


def route_rows(items: list[dict]) -> list[Finding]:
    paths = json.loads((CONTRACT / "openapi.json").read_text())["paths"]
    known = {path.rstrip("/"): path for path in paths}
    return [Finding(item["name"], item["since"], f"`{known[item['route']]}`" if item["route"] in known else "", item.get("without", ""),
                    item["name"]) for item in items]


def notification_rows(items: list[dict]) -> list[Finding]:
    known, rows = filters(), []
    for item in items:
        subtypes, bare = known.get(item["type"], (set(), False))
        without = item.get("without", {})
        pairs = [*(["–"] if item.get("bare") else []), *item.get("subtypes", [])]
        for subtype in pairs:
            there = bare and item["type"] in known if subtype == "–" else subtype in subtypes
            rows.append(Finding(f"{item['type']} {subtype}", item["since"], "event, history filter" if there else "", without.get(subtype, ""),
                                f"{item['type']} {subtype}"))
    return rows


def object_rows(item: dict, known: dict[str, Message]) -> list[Finding]:
    message, reasons, rows = known.get(item["name"]), item.get("without", {}), []
    parsed = literals(item["parsers"]) if "parsers" in item else None
    for since, names in item["fields"].items():
        for name in names:
            there = message is not None and any(same(name, field, item) for field in message.fields) and (parsed is None or name in parsed)
            field = next((field for field in message.fields if same(name, field, item)), name) if there else name
            values = [str(value) for value in item.get("values", {}).get(name, [])]
            comment = message.fields[field] if there else ""
            unsaid = [value for value in values if not re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", comment)]
            # A Boolean of words that go without saying needs no comment; a list of words does.
            if (there and values and comment and unsaid) or (there and values and not comment and not is_told(item, name, values, known)):
                rows.append(Finding(f"{name}: {', '.join(unsaid or values)}", since, "", reasons.get(name, ""), f"{item['name']}.{name}"))
            rows.append(Finding(name, since, f"`{message.name}.{field}`" if there else "", "" if there else reasons.get(name, ""),
                                f"{item['name']}.{name}"))
    return rows


def same(apples: str, ours: str, item: dict) -> bool:
    """Whether a field of ours is that of Apple's: by its very name, or where `names` is loose by its letters."""
    def letters(name: str) -> str:
        return re.sub(r"\W", "", name).lower()
    return letters(apples) == letters(ours) if item.get("names") == "loose" else apples == ours


def is_told(_item: dict, name: str, values: list[str], known: dict[str, Message]) -> bool:
    """Whether a field of the same name elsewhere in the contract tells the values."""
    return any(all(re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", message.fields.get(name, "")) for value in values)
               for message in known.values())


def place_of(item: dict, names: list[str]) -> dict[str, str]:
    """By name: the source that has it as a literal, the field of the contract that carries it, or the one whose comment tells it."""
    there = literals(item.get("sources", []))
    found = {name: f"`{pathlib.Path(there[name]).name}`" for name in names if name in there}
    carried = item.get("carried")
    if carried and (carrier := carriers().get(carried)) and carrier.is_unchanged:
        found |= {name: f"`{carrier.name}`" for name in names if name not in found}
    if teller := carriers().get(item.get("told", "")):
        found |= {name: f"`{teller.name}`" for name in names if re.search(rf"\b{re.escape(name)}\b", teller.comment)}
    return found


def value_rows(item: dict, name: str, values: list, since: str, reason: str) -> list[Finding]:
    """The values of a field that the code lacks: one row for them all, or none."""
    numbers = [value for value in values if isinstance(value, int)]
    there = place_of(item, [str(value) for value in values])
    if numbers and "sources" in item and has_number_bound(item["sources"], name, min(numbers), max(numbers)):
        there |= dict.fromkeys(map(str, numbers), "a range")
    unsaid = [str(value) for value in values if str(value) not in there]
    return [Finding(f"{name}: {', '.join(unsaid)}", since, "", reason, f"{item['name']}.{name}")] if unsaid else []


def written_rows(item: dict) -> list[Finding]:
    without, rows = item.get("without", {}), []
    for since, names in item["fields"].items():
        there = place_of(item, names)
        for name in names:
            # One reason for all, or one for each.
            reason = without.get(name, "") if isinstance(without, dict) else without
            rows += value_rows(item, name, item.get("values", {}).get(name, []), since, reason)
            rows.append(Finding(name, since, there.get(name, ""), reason, f"{item['name']}.{name}"))
    return rows


def word_rows(items: list[dict]) -> list[Finding]:
    rows = []
    for item in items:
        values, reason = item["values"], item.get("without", "")
        missing = value_rows(item, item["name"], values, item["since"], reason)
        places = sorted(set(place_of(item, [str(value) for value in values]).values())) or ["a range"]
        rows += missing or [Finding(f"{item['name']}: {', '.join(map(str, values))}", item["since"], ", ".join(places), "", item["name"])]
    return rows


def table(title: str, document: str, rows: list[Finding]) -> str:
    out = f"\n### {title}\n\n{document}\n\n| Apple | since | ours |\n| --- | --- | --- |\n"
    return out + "".join(f"| {row.name if '`' in row.name else f'`{row.name}`'} | {row.since} | {row.cell} |\n" for row in rows)


HEAD = """# What Apple documents, and where it is here

Generated by `Documentation/coverage.py` from `Documentation/apple-coverage.yaml`, which has Apple's names, and from the code; change these instead. A
name that Apple has and this project lacks is **missing**, which fails the tests, or has a reason.

A listed name has a type and a name in the contract. Other fields and values are kept, too: events contain every member that Apple sent
([event reference](event-reference.md)).

"""


def page(data: dict) -> tuple[str, list[Finding]]:
    documents, known, findings = data["documents"], messages(), []
    parts: list[tuple[str, list[Finding]]] = []

    def document(key: str) -> str:
        return f"[{documents[key]['title']}]({documents[key]['url']})"

    body = ""

    def section(title: str, key: str, rows: list[Finding]) -> None:
        nonlocal body
        findings.extend(rows)
        parts.append((title, rows))
        body += table(title, document(key), rows)

    body += "\n## Calls that we make\n"
    for group in data["calls"]:
        section(f"Calls: {documents[group['document']]['title']}", group["document"], call_rows(group))
    body += "\n## Calls that Apple makes\n"
    section("Routes", "notifications", route_rows(data["routes"]))
    body += "\n## Notifications\n"
    section("Types and subtypes", "notifications", notification_rows(data["notifications"]))
    body += "\n## Objects\n"
    for item in data["objects"]:
        section(item["name"], item["document"], object_rows(item, known))
    body += "\n## What we sign and answer\n"
    for item in data["written"]:
        section(item["name"], item["document"], written_rows(item))
    body += "\n## Bodies and parameters of the calls that we make\n"
    for item in data["carried"]:
        section(item["name"], item["document"], written_rows(item))
    body += "\n## Lists of words\n"
    for key in documents:
        if words := [item for item in data["words"] if item["document"] == key]:
            section(f"Words: {documents[key]['title']}", key, word_rows(words))
    out = HEAD + "| what | Apple's | ours | with a reason | missing |\n| --- | --- | --- | --- | --- |\n"
    for title, rows in parts:
        out += (f"| {title} | {len(rows)} | {sum(bool(row.ours) for row in rows)} | {sum(not row.ours and bool(row.reason) for row in rows)} | "
                f"{sum(row.is_missing for row in rows)} |\n")
    total = [len(findings), sum(bool(row.ours) for row in findings), sum(not row.ours and bool(row.reason) for row in findings),
             sum(row.is_missing for row in findings)]
    return out + f"| **all** | {' | '.join(map(str, total))} |\n" + body, findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    made, findings = page(yaml.safe_load((ROOT / "Documentation" / "apple-coverage.yaml").read_text()))
    wrong = [f"{row.where}: Apple documents it, and it is nowhere in the code" for row in findings if row.is_missing]
    wrong += [f"{row.where}: it is in the code, and has a reason for not being there" for row in findings if row.is_stale]
    if not check:
        PAGE.write_text(made)
        print("\n".join(wrong), end="\n" if wrong else "")
        return
    there = PAGE.read_text() if PAGE.exists() else ""
    if made != there:
        sys.stdout.writelines(list(difflib.unified_diff(there.splitlines(True), made.splitlines(True), str(PAGE), "as made"))[:40])
        wrong.append("the page and the code differ: run Documentation/coverage.py")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
