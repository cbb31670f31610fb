"""Makes configuration-reference.md from the Swift code that reads the configuration.

    python3 Documentation/generate.py            writes it
    python3 Documentation/generate.py --check    says what would change, and fails if anything would

It reads three things: which keys a section knows (`unknownKeys([…])`), which bounds a key has (`time`, `count`, `number`), and what the property that
it sets says of itself (its documentation comment and its default).
"""

from __future__ import annotations

import argparse
import difflib
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIGURATION = ROOT / "Shared/ServiceRuntime/Configuration"
PAGE = ROOT / "Documentation" / "configuration-reference.md"

# Section → the file that reads it, and the file whose properties it sets.
SECTIONS = {
    "limits": ("Limits.swift", CONFIGURATION / "Limits.swift"),
    "queues": ("DeploymentConfiguration+Queues.swift", ROOT / "Shared/AttributionQueue/QueueConfiguration.swift"),
    "appStore": ("Settings/SilenceSettings.swift", CONFIGURATION / "Settings/SilenceSettings.swift"),
    "edge": ("Settings/EdgeSettings.swift", CONFIGURATION / "Settings/EdgeSettings.swift"),
    "push": ("Settings/PushSettings.swift", CONFIGURATION / "Settings/PushSettings.swift"),
    "recovery": ("Settings/RecoverySettings.swift", CONFIGURATION / "Settings/RecoverySettings.swift"),
    "migrations": ("Settings/MigrationSettings.swift", CONFIGURATION / "Settings/MigrationSettings.swift"),
    "adServices": ("Settings/AdServicesSettings.swift", CONFIGURATION / "Settings/AdServicesSettings.swift"),
    "retention": ("Settings/RetentionSettings.swift", CONFIGURATION / "Settings/RetentionSettings.swift"),
    "webAds": ("Settings/WebAdSettings.swift", CONFIGURATION / "Settings/WebAdSettings.swift"),
    "postbacks": ("Settings/PostbackSettings.swift", CONFIGURATION / "Settings/PostbackSettings.swift"),
    "metrics": ("Settings/MetricsSettings.swift", CONFIGURATION / "Settings/MetricsSettings.swift"),
    "traces": ("../Traces/TraceSettings.swift", ROOT / "Shared/ServiceRuntime/Traces/TraceSettings.swift"),
}
# Keys whose property has another name, where the code does not say so in one line.
PROPERTIES = {("edge", "trustedProxies"): "proxies", ("edge", "forwardedHeader"): "proxies", ("edge", "allow"): "allowed",
              ("adServices", "timeout"): "timeout", ("metrics", "tokenSHA256"): "tokenDigests"}
UNITS = {"milliseconds": 1, "seconds": 1000}


def amount(text: str) -> str:
    """A number or a time of the source, as the file would have it."""
    text = text.strip()
    if text == ".zero":
        return "0s"
    if found := re.fullmatch(r"\.(milliseconds|seconds)\((.+)\)", text):
        return duration(int(product(found[2])) * UNITS[found[1]])
    if text.startswith("Self."):
        return {"Self.minute": "1m", "Self.day": "1d", "Self.maxTime": "3660d"}[text]
    if re.fullmatch(r"[\d_ *<.+e-]+", text):
        value = product(text)
        return str(int(value)) if value == int(value) else str(value)
    if re.fullmatch(r"ProxyHeader\.\w+", text):
        name = text.split(".")[1]
        source = (ROOT / "Shared/ServiceRuntime/Addresses/ProxyHeader.swift").read_text()
        value = re.search(rf"static let {name} = (.+)", source)[1]
        fixed = re.search(r"static let fixedLength = (\d+)", source)
        return str(int(fixed[1]) + 0xFFFF) if fixed and value == "fixedLength + 0xFFFF" else amount(value)
    if found := re.fullmatch(r"JSONLimits\(\)\.(\w+)", text):
        source = (ROOT / "Shared/WireJSON/JSONLimits.swift").read_text()
        return amount(re.search(rf"init\(.*\b{found[1]}: Int = ([\d_]+)", source)[1])
    return text.strip('"')


def product(text: str) -> float:
    value = 1.0
    text = text.replace("_", "")
    if "<<" in text:
        left, right = text.split("<<")
        return int(product(left)) << int(right)
    if "+" in text and "e+" not in text:
        return sum(product(part) for part in text.split("+"))
    for factor in text.split("*"):
        value *= float(factor)
    return value


def duration(milliseconds: int) -> str:
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        if milliseconds and milliseconds % length == 0:
            return f"{milliseconds // length}{unit}"
    return f"{milliseconds}ms"


def bounds(text: str) -> str:
    low, _, high = text.strip("() ").partition("...")
    low, high = low.strip("() "), high.strip("() ")
    if text.count("(") != text.count(")"):
        low, high = text.split("...")
    return f"{amount(balanced(low))}–{amount(balanced(high))}" if high else f"at least {amount(balanced(low))}"


def balanced(text: str) -> str:
    text = text.strip()
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return text + ")" * (text.count("(") - text.count(")"))


def properties(path: pathlib.Path) -> dict[str, tuple[str, str]]:
    """By name: the default and the documentation comment."""
    found: dict[str, tuple[str, str]] = {}
    comment: list[str] = []
    for line in path.read_text().splitlines():
        if text := re.fullmatch(r"\s*/// ?(.*)", line):
            comment.append(text[1])
        elif var := re.fullmatch(r"\s*(?:public )?var (\w+)(?:: ([^={]+?))?(?: = (.+?))?(?: \{)?", line):
            name, kind, value = var.groups()
            found.setdefault(name, (value or ("none" if kind and kind.endswith("?") else ""), " ".join(comment)))
            comment = []
        elif line.strip():
            comment = []
    return found


def plain(comment: str) -> str:
    comment = re.sub(r"``([^`]+)``", lambda found: f"`{found[1].split('/')[-1]}`", comment)
    return comment.replace("|", "\\|").replace("nil for no bound", "none unless set").replace("0 for no bound", "none unless set")


def default(value: str) -> str:
    value = value.strip()
    if value in ("", "none"):
        return "none"
    if value.startswith("["):
        inner = value.strip("[]")
        return "none" if inner in ("", ":") else "[" + ", ".join(amount(part) for part in re.findall(r"\.\w+\([^)]*\)|[^, ]+", inner)) + "]"
    if found := re.fullmatch(r"(?:[A-Za-z]\w*)?\.([a-zA-Z]\w*)", value):
        return "0s" if found[1] == "zero" else f"`{found[1]}`"
    if most := re.fullmatch(r"min\((\d+), AvailableCores\.count\)", value):
        return f"processors that it may use, {most[1]} at the most"
    if re.fullmatch(r"\w+\(\)", value):
        return "see below"
    return amount(value)


def readings(text: str) -> dict[str, tuple[str, str, str]]:
    """By key: its property, its kind and its bounds."""
    found: dict[str, tuple[str, str, str]] = {}
    for kind, key, limits, target in re.findall(r'node\.(time|count|number)\(\s*"(\w+)",\s*(.+?),\s*&([\w.]+)\)', text, re.DOTALL):
        found[key] = (target.split(".", 1)[1] if target.startswith("queue.") else target,
                      {"time": "time", "count": "whole number", "number": "number"}[kind], bounds(" ".join(limits.split())))
    if found.get("timeout", ("", "", ""))[0] == "given":
        found["timeout"] = ("timeout", *found["timeout"][1:])
    for key, target in re.findall(r'try count\("(\w+)", &(\w+)\)', text):
        found[key] = (target, "whole number", "at least 1")
    kinds = {"bool": "true or false", "text": "text", "texts": "list of texts", "duration": "time", "integer": "whole number",
             "mapping": "mapping", "list": "list", "tokenDigests": "text or list of texts"}
    for key, kind in re.findall(rf'node\["(\w+)"\]\??\.({"|".join(kinds)})\(\)', text):
        found.setdefault(key, (key, kinds[kind], ""))
    return found


def section(name: str) -> list[tuple[str, str, str, str, str]]:
    """Key, kind, default, bounds and meaning of each key."""
    reader, owner = SECTIONS[name]
    text = (CONFIGURATION / reader).read_text()
    known = keys()[name]
    read, own = readings(text), properties(owner)
    if name == "appStore":
        shared = CONFIGURATION / "DeploymentConfiguration"
        read |= readings(shared.with_name("DeploymentConfiguration+YAML.swift").read_text())
        own = properties(shared.with_name("DeploymentConfiguration.swift")) | own
    rows = []
    for key in known:
        target, kind, limits = read.get(key, (key, "", ""))
        *_path, leaf = target.split(".")
        if leaf not in own:
            leaf = PROPERTIES[name, key]
        value, meaning = own[leaf]
        if not meaning:
            raise SystemExit(f"{owner.name}: {leaf} says nothing of itself")
        rows.append((key, kind, default(value), limits, plain(meaning)))
    return rows


def keys() -> dict[str, list[str]]:
    """By the path of a mapping of the file: the keys that are known there."""
    yaml = (CONFIGURATION / "DeploymentConfiguration+YAML.swift").read_text()

    def lists(text: str) -> list[list[str]]:
        return [re.findall(r'"(\w+)"', found) for found in re.findall(r"unknownKeys\(\[(.*?)\]\)", text, re.DOTALL)]

    found: dict[str, list[str]] = {}
    in_yaml = lists(yaml)

    def one(*members: str) -> list[str]:
        [match] = [names for names in in_yaml if set(members) <= set(names)]
        return match

    found[""] = one("adNetworks", "queues")
    found["pkcs11"] = one("module")
    found["appleKeys"] = one("p192", "kids")
    found["appStore"] = one("rootCertificates")
    found["adNetworks[]"] = ["id", "keys"]
    found["adNetworks[].keys[]"] = one("state", "path")
    found["apps[]"] = one("bundleId", "environments")
    found["apps[].appStoreServer"] = one("issuerId", "otherKey")
    found["apps[].appStoreServer.otherKey"] = next(names for names in in_yaml if "privateKey" in names and "issuerId" not in names)
    found["apps[].offers"] = next(names for names in in_yaml if "issuerId" in names and "otherKey" not in names)
    found["apps[].recovery"] = one("schedule", "lookback")
    found["clients[]"] = one("tokenSHA256")
    found["consentRouting"] = one("strategies", "patience")
    found["queues"], found["queues.backoff.*"] = lists((CONFIGURATION / SECTIONS["queues"][0]).read_text())
    for name, (reader, _) in SECTIONS.items():
        if name not in found:
            found[name] = lists((CONFIGURATION / reader).read_text())[0]
    ad_services = lists((CONFIGURATION / "Settings/AdServicesSettings.swift").read_text())
    found["adServices.breaker"] = next(names for names in ad_services if "probes" in names)
    conversion = lists((CONFIGURATION / "Settings/ConversionSettings.swift").read_text())
    found["apps[].conversionValues[]"] = next(names for names in conversion if "version" in names)
    return found


HEAD = """# Configuration reference

Generated by `Documentation/generate.py` from the code; change that instead. [configuration.md](configuration.md) explains the settings together, and
the environment variables. Durations are written `250ms`, `30s`, `5m`, `1h`, `7d`. If a value is outside its limits, the service does not start: it
ends with exit code 78 and the path of the key. `attributionctl config check FILE` also prints the line.

"""


def page() -> str:
    out = HEAD
    known = keys()
    out += "## The file\n\n" + ", ".join(f"`{name}`" for name in sorted(known[""])) + ".\n"
    for name in sorted(SECTIONS):
        out += f"\n## `{name}`\n\n| key | type | default | bounds | meaning |\n| --- | --- | --- | --- | --- |\n"
        for key, kind, value, limits, meaning in section(name):
            out += f"| `{key}` | {kind} | {value} | {limits} | {meaning} |\n"
    out += "\n## Other mappings\n\n| where | keys |\n| --- | --- |\n"
    for name in sorted(known):
        if (name and name not in SECTIONS) or name == "appStore":
            out += f"| `{name}` | " + ", ".join(f"`{key}`" for key in known[name]) + " |\n"
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    made, there = page(), PAGE.read_text() if PAGE.exists() else ""
    if not parser.parse_args().check:
        PAGE.write_text(made)
    elif made != there:
        print("\n".join(list(difflib.unified_diff(there.splitlines(), made.splitlines(), str(PAGE), "as made", lineterm=""))[:40]))
        raise SystemExit("the configuration's reference and the code differ: run Documentation/generate.py")


if __name__ == "__main__":
    main()
