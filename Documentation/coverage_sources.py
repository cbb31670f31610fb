"""What stands in the code of what Apple documents, for coverage.py: calls, notifications, objects, and literals of the Swift sources."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTRACT = ROOT / "Shared/AttributionProtocol/Contract"
ENDPOINTS = ROOT / "Shared/AppStore/ServerAPI/Client/AppStoreServerEndpoint.swift"
FILTERS = ROOT / "Shared/AppStore/Notifications/NotificationFilterRule.swift"
INSIDE = "by the services themselves"


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
    return {plain(title): rpc for rpc, text in handlers().items() for title in re.findall(r"/// Calls Apple's endpoint ([^.;,\n(]+)", text)}


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


@dataclasses.dataclass
class Carrier:
    """A field of the contract, its comment, and whether the comment says that the content is not changed."""

    name: str
    comment: str
    is_unchanged: bool


@functools.cache
def carriers() -> dict[str, Carrier]:
    """By "Message.field": the fields of the contract."""
    found: dict[str, Carrier] = {}
    for file in sorted(CONTRACT.rglob("*.proto")):
        comment: list[str] = []
        message = ""
        for line in file.read_text().splitlines():
            if text := re.fullmatch(r"\s*// ?(.*)", line):
                comment.append(text[1])
                continue
            if start := re.fullmatch(r"message (\w+) \{", line):
                message = start[1]
            elif field := re.fullmatch(r"\s*(?:optional |repeated )?([\w.]+) (\w+) = \d+(?: \[.*\])?;", line):
                said = " ".join(comment)
                unchanged = (field[1] == "google.protobuf.Struct" and "Apple's answer, unchanged" in said) or "Exactly these bytes are signed" in said
                name = f"{message}.{camel(field[2])}"
                found[name] = Carrier(name, said, unchanged)
            comment = []
    return found


def has_number_bound(paths: list[str], name: str, least: int, most: int) -> bool:
    """Whether these sources bound a number: by a range, or by a pair of the field's name and its highest value."""
    bounds = [f"({least}...{most})", f'("{name}", {most})']
    return any(bound in without_comments(file.read_text()) for path in paths for file in swift(path) for bound in bounds)


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def filters() -> dict[str, tuple[set[str], bool]]:
    """By type: the subtypes that NotificationFilterRule knows, and whether the type comes without one."""
    found = {}
    for name, arguments in re.findall(r'"(\w+)": Subtypes\(([^)]*)\)', FILTERS.read_text()):
        found[name] = (set(re.findall(r'"(\w+)"', arguments)), "mayBeAbsent: false" not in arguments)
    return found
