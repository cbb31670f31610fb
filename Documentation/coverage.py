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
    written         a literal of each field in the sources that write it
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import functools
import itertools
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Documentation" / "apple-coverage.md"
CONTRACT = ROOT / "Shared/AttributionProtocol/Contract"
ENDPOINTS = ROOT / "Shared/AppStore/ServerAPI/Client/AppStoreServerEndpoint.swift"
FILTERS = ROOT / "Shared/AppStore/Notifications/NotificationFilterRule.swift"
INSIDE = "by the services themselves"


@dataclasses.dataclass
class Finding:
    """A name of Apple's, and where ours is."""

    name: str
    since: str
    ours: str
    reason: str
    where: str

    @property
    def is_hole(self) -> bool:
        return not self.ours and not self.reason

    @property
    def is_stale(self) -> bool:
        return bool(self.ours and self.reason)

    @property
    def cell(self) -> str:
        return self.ours or (f"no: {self.reason}" if self.reason else "**missing**")


# The code


def swift(path: str) -> list[pathlib.Path]:
    found = ROOT / path
    return sorted(found.rglob("*.swift")) if found.is_dir() else [found] if found.exists() else []


def literals(paths: list[str]) -> dict[str, str]:
    """Every string literal without an interpolation, and the file that has it first."""
    found: dict[str, str] = {}
    for path in paths:
        for file in swift(path):
            for text in re.findall(r'"((?:[^"\\\n]|\\[^(])*)"', without_comments(file.read_text())):
                found.setdefault(text, str(file.relative_to(ROOT)))
    return found


def without_comments(text: str) -> str:
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def cases(text: str) -> list[str]:
    return re.findall(r"\.(\w+)", text)


@functools.cache
def endpoints() -> dict[tuple[str, str], str]:
    """By method and path, its values as {}: the case of AppStoreServerEndpoint."""
    text = without_comments(ENDPOINTS.read_text())
    methods: dict[str, str] = {}
    block = re.search(r"var method: String \{\s*switch self \{(.*?)\n    \}", text, re.DOTALL)[1]
    for names, method in re.findall(r'case ([^:]+):\s*"(\w+)"', block):
        methods |= dict.fromkeys(cases(names), method)
    usual = re.search(r'default: "(\w+)"', block)[1]
    found: dict[tuple[str, str], str] = {}
    for names, prefix, fields, suffix in re.findall(r'case (\.[^:]+):\s*\(\s*"([^"]+)",\s*\[([^\]]*)\],\s*"([^"]*)"\)', text):
        path = prefix + "/{}" * len(re.findall(r'"\w+"', fields)) + suffix
        for name in cases(names):
            found[methods.get(name, usual), path] = name
    return found


@functools.cache
def handlers() -> dict[str, str]:
    """By RPC: the text of its handler."""
    found: dict[str, str] = {}
    for file in swift("Services"):
        text = file.read_text()
        starts = [match.start() for match in re.finditer(r"^(?:///.*\n)*(?:final class|struct|actor|enum|extension) ", text, re.MULTILINE)]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            part = text[start:end]
            if method := re.search(r"typealias Method = (\w+\.\w+)", part):
                found[method[1]] = part
    return found


@functools.cache
def callers() -> dict[str, str]:
    """By case of AppStoreServerEndpoint: the RPC that asks for it, or what does so by itself."""
    found: dict[str, str] = {}
    by_rpc = handlers()
    # What a handler asks for through a value that knows its endpoint, such as ConsumptionInformation.
    indirect: dict[str, set[str]] = {}
    for file in [*swift("Shared/AppStore/ServerAPI"), *swift("Services/NotificationRecovery")]:
        if file == ENDPOINTS or "Handlers" in file.parts:
            continue
        text = without_comments(file.read_text())
        for type_name in re.findall(r"^(?:public )?(?:struct|enum|final class) (\w+)", text, re.MULTILINE):
            indirect.setdefault(type_name, set()).update(cases(text))
    names = set(endpoints().values())
    for name in names:
        # A handler that makes one call of Apple's is that call's own; others ask for several.
        asking = [(len(set(cases(without_comments(text))) & names), rpc) for rpc, text in by_rpc.items()
                  if re.search(rf"\.{name}\b", without_comments(text))]
        if asking:
            found[name] = min(asking)[1]
    for name in names - set(found):
        for type_name, used in indirect.items():
            if name not in used:
                continue
            for rpc, text in by_rpc.items():
                calls_apple = rpc.startswith("NotificationRecovery") or any(word in rpc for word in ("Retention", "Commerce", "Purchase"))
                if calls_apple and type_name != "AppStoreServerAPIClient" and re.search(rf"\b{type_name}\b", without_comments(text)):
                    found.setdefault(name, rpc)
        if name not in found and any(name in used for used in indirect.values()):
            found[name] = INSIDE
    return found


@functools.cache
def titles() -> dict[str, str]:
    """By the name of Apple's call that a handler's comment begins with: its RPC."""
    return {plain(title): rpc for rpc, text in handlers().items() for title in re.findall(r"/// Apple: ([^.;,\n]+)", text)}


def plain(title: str) -> str:
    return " ".join(word for word in title.lower().removesuffix(" v1").split() if word not in ("a", "an", "the"))


@dataclasses.dataclass
class Message:
    name: str
    comment: str
    fields: dict[str, str]


def messages() -> dict[str, Message]:
    """By what the comment says in front of its first colon: a message of the contract, its fields' JSON names and comments."""
    found: dict[str, Message] = {}
    for file in sorted(CONTRACT.rglob("*.proto")):
        comment: list[str] = []
        message: Message | None = None
        for line in file.read_text().splitlines():
            if text := re.fullmatch(r"\s*// ?(.*)", line):
                comment.append(text[1])
                continue
            if start := re.fullmatch(r"message (\w+) \{", line):
                message = Message(start[1], " ".join(comment), {})
                if ": " in message.comment:
                    found[message.comment.split(": ")[0]] = message
            elif message and (field := re.fullmatch(r"\s*(?:optional |repeated )?[\w.]+ (\w+) = \d+(?: \[(.*)\])?;", line)):
                named = re.search(r'json_name = "([^"]+)"', field[2] or "")
                message.fields[named[1] if named else camel(field[1])] = " ".join(comment)
            elif line.startswith("}"):
                message = None
            comment = []
    return found


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def filters() -> dict[str, tuple[set[str], bool]]:
    """By type: the subtypes that NotificationFilterRule knows, and whether the type comes without one."""
    found = {}
    for name, arguments in re.findall(r'"(\w+)": Kinds\(([^)]*)\)', FILTERS.read_text()):
        found[name] = (set(re.findall(r'"(\w+)"', arguments)), "isBare: false" not in arguments)
    return found


# The tables


def call_rows(group: dict) -> list[Finding]:
    by_call, by_case = endpoints(), callers()
    urls = literals(["Services/ASATokenBroker", "Shared/ServiceRuntime"])
    rows = []
    for item in group["items"]:
        method, path = item["call"].split(" ", 1)
        case = by_call.get((method, re.sub(r"\{\w+\}", "{}", path)))
        ours = by_case.get(case, "") if case else ""
        # What no RPC asks for is a hole, unless the list says that nobody needs to.
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


def written_rows(item: dict) -> list[Finding]:
    there, without = literals(item["sources"]), item.get("without", {})
    # One reason for all, or one for each.
    reasons = without if isinstance(without, dict) else dict.fromkeys(itertools.chain.from_iterable(item["fields"].values()), without)
    return [Finding(name, since, f"`{pathlib.Path(there[name]).name}`" if name in there else "", reasons.get(name, ""),
                    f"{item['name']}.{name}") for since, names in item["fields"].items() for name in names]


def table(title: str, document: str, rows: list[Finding]) -> str:
    out = f"\n### {title}\n\n{document}\n\n| Apple | since | ours |\n| --- | --- | --- |\n"
    return out + "".join(f"| {row.name if '`' in row.name else f'`{row.name}`'} | {row.since} | {row.cell} |\n" for row in rows)


HEAD = """# What Apple documents, and where it is here

Made by `Documentation/coverage.py` from `Documentation/apple-coverage.yaml`, which has Apple's names, and from the code; change these instead. A name
that Apple has and we lack is **missing**, which fails the tests, or has its reason.

A field that is not listed is carried all the same: events keep every member that Apple sent ([event reference](event-reference.md)). \
So is a word that
stands in no list. Listed means that it has a type and a name in the contract.

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
    out = HEAD + "| what | Apple's | ours | with a reason | missing |\n| --- | --- | --- | --- | --- |\n"
    for title, rows in parts:
        out += (f"| {title} | {len(rows)} | {sum(bool(row.ours) for row in rows)} | {sum(not row.ours and bool(row.reason) for row in rows)} | "
                f"{sum(row.is_hole for row in rows)} |\n")
    total = [len(findings), sum(bool(row.ours) for row in findings), sum(not row.ours and bool(row.reason) for row in findings),
             sum(row.is_hole for row in findings)]
    return out + f"| **all** | {' | '.join(map(str, total))} |\n" + body, findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    made, findings = page(yaml.safe_load((ROOT / "Documentation" / "apple-coverage.yaml").read_text()))
    wrong = [f"{row.where}: Apple documents it, and it is nowhere in the code" for row in findings if row.is_hole]
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
