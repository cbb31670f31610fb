"""Apple's library for Python has no call, class, field, parameter or word that Documentation/apple-coverage.yaml lacks. A failure names
what a newer library has: it must be added to that list, which coverage.py compares with our code.
"""

from __future__ import annotations

import abc
import enum
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import typing
import unittest.mock
import uuid
from collections.abc import Iterator
from pathlib import Path

import attr
import pytest
import yaml
from appstoreserverlibrary import models
from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.LibraryUtility import metadata_key, metadata_type_key

LIST = yaml.safe_load((Path(__file__).resolve().parents[3] / "Documentation" / "apple-coverage.yaml").read_text())
OBJECTS = [item for section in ("objects", "written", "carried") for item in LIST[section]]
LIBRARY = f"app-store-server-library {importlib.metadata.version('app-store-server-library')}"
# Its members become query parameters with other names, which are compared with the names of query parameters.
QUERY = "TransactionHistoryRequest"


def defined(kind: type) -> Iterator[type]:
    """The library's models of a kind, by the modules that define them."""
    for info in pkgutil.iter_modules(models.__path__):
        module = importlib.import_module(f"{models.__name__}.{info.name}")
        for found in vars(module).values():
            if inspect.isclass(found) and found.__module__ == module.__name__ and (issubclass(found, kind) if kind is enum.Enum else attr.has(found)):
                yield found


# Objects, without those that only have subclasses.
CLASSES = [found for found in defined(object)
           if abc.ABC not in found.__bases__ and not found.__name__.startswith("Abstract") and found.__name__ != QUERY]
ENUMS = list(defined(enum.Enum))


def json_names(kind: type) -> set[str]:
    """The names of the JSON members that the library reads or writes. A field `rawX` counts as the member x."""
    return {one.metadata[metadata_key] if one.metadata.get(metadata_type_key) == "raw" else one.name for one in attr.fields(kind)}


def listed(name: str, item: dict) -> bool:
    return item.get("class", item["name"]).lower() == name.lower()


def names(item: dict) -> set[str]:
    return {name for group in item["fields"].values() for name in group}


class Recorded(AppStoreServerAPIClient):
    """Apple's client; its calls are recorded and not sent."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str, dict]] = []

    def _make_request(self, path: str, method: str, query: dict, *_more: object, **_named: object) -> None:  # type: ignore[override]
        # The values of arguments are replaced, so that the fixed words of the path remain.
        self.made.append((method, re.sub(r"value-[\w-]+|0{8}-[\d-]+", "{}", path), query))


def argument(parameter: inspect.Parameter) -> object:
    """A value for an argument, so that every parameter of a query is sent."""
    kinds = {kind for kind in (parameter.annotation, *typing.get_args(parameter.annotation)) if isinstance(kind, type)}
    if uuid.UUID in kinds:
        return uuid.UUID(int=0)
    return f"value-{parameter.name}" if str in kinds else unittest.mock.MagicMock()


def calls() -> dict[str, list[tuple[str, str, dict]]]:
    """By the client's function: the method, the path and the query of each version of its call."""
    found = {}
    for name, function in vars(AppStoreServerAPIClient).items():
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        client, parameters = Recorded(), list(inspect.signature(function).parameters.values())[1:]
        arguments = {parameter.name: argument(parameter) for parameter in parameters}
        for version in GetTransactionHistoryVersion if "version" in arguments else [None]:
            getattr(client, name)(**(arguments | {"version": version} if version else arguments))
        found[name] = client.made
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_call_and_parameter_is_listed() -> None:
    """The Advanced Commerce API's calls are not in the library, only their bodies."""
    known = {(method, re.sub(r"\{\w+\}", "{}", path)) for group in LIST["calls"] for item in group["items"]
             for method, path in [item["call"].split(" ", 1)]}
    parameters = names(next(item for item in LIST["carried"] if item["name"] == "Query parameters"))
    made = [(name, *call) for name, all_made in calls().items() for call in all_made]
    # Fewer would mean that the library's calls were not found.
    assert len({name for name, *_ in made}) >= 28
    holes = {f"{name}: {method} {path}" for name, method, path, _ in made if (method, path) not in known}
    holes |= {f"{name}: ?{parameter}" for name, _, _, query in made for parameter in query if parameter not in parameters}
    assert not holes, f"{LIBRARY} has calls that Documentation/apple-coverage.yaml lacks: {sorted(holes)}"
    # Every listed parameter was sent, so that a new one would be found too.
    assert parameters == {parameter for *_, query in made for parameter in query}


def test_every_class_and_field_is_listed() -> None:
    assert len(CLASSES) >= 95
    holes = []
    for kind in CLASSES:
        found = [item for item in OBJECTS if listed(kind.__name__, item)]
        lacking = json_names(kind) - {name for item in found for name in names(item)}
        holes += [f"{kind.__name__}.{name}" for name in sorted(lacking)] if found else [kind.__name__]
    assert not holes, f"{LIBRARY} has classes or fields that Documentation/apple-coverage.yaml lacks: {holes}"


def values_listed() -> dict[type, set[object]]:
    """By the library's list of words: the words of every field of that type, and those of lists that name the type."""
    found: dict[type, set[object]] = {kind: set() for kind in ENUMS}
    for item in LIST["words"]:
        for kind in ENUMS:
            if kind.__name__ == item["class"]:
                found[kind] |= set(item["values"])
    by_name = {kind.__name__: kind for kind in ENUMS}
    for kind in CLASSES:
        for one in attr.fields(kind):
            # The type as the library writes it: Optional[Status], Optional[List[Status]] or Status.
            types = [by_name[word] for word in re.findall(r"\w+", str(one.type)) if word in by_name]
            for item in OBJECTS:
                if types and listed(kind.__name__, item):
                    found[types[0]] |= set(item.get("values", {}).get(one.name, []))
    query = next(item for item in LIST["carried"] if item["name"] == "Query parameters")["values"]
    found[by_name["ProductType"]] |= set(query["productType"])
    found[by_name["Order"]] |= set(query["sort"])
    found[by_name["NotificationTypeV2"]] |= {item["type"] for item in LIST["notifications"]}
    found[by_name["Subtype"]] |= {subtype for item in LIST["notifications"] for subtype in item.get("subtypes", [])}
    return found


@pytest.mark.parametrize("kind", ENUMS, ids=lambda kind: kind.__name__)
def test_every_word_is_listed(kind: type[enum.Enum]) -> None:
    holes = {one.value for one in kind} - values_listed()[kind]
    assert not holes, f"{LIBRARY} has words of {kind.__name__} that Documentation/apple-coverage.yaml lacks: {sorted(map(str, holes))}"


def test_a_new_field_is_reported_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = attr.make_class("StatusResponse", ["environment", "bundleId", "appAppleId", "data", "brandNew"])
    monkeypatch.setitem(globals(), "CLASSES", [*CLASSES, newer])
    with pytest.raises(AssertionError, match=r"StatusResponse\.brandNew"):
        test_every_class_and_field_is_listed()


def test_a_new_class_is_reported_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "CLASSES", [*CLASSES, attr.make_class("BrandNewResponse", ["revision"])])
    with pytest.raises(AssertionError, match="BrandNewResponse"):
        test_every_class_and_field_is_listed()
