"""A case, a judge's word on it, and JSON read strictly."""

import dataclasses
import json
from typing import Any, Never


@dataclasses.dataclass
class Judgement:
    """A judge's word: verified, or rejected for one of the reasons (any, when there are none)."""

    valid: bool
    reasons: frozenset = frozenset()
    # Where the reason is `malformed`, the fields that are at fault (any, when there are none).
    fields: frozenset = frozenset()
    # What a verdict on a verified thing must say beside that.
    says: dict = dataclasses.field(default_factory=dict)
    # The documented rule by which this judge was overruled, if one was.
    rule: str = ""

    @staticmethod
    def rejected(*reasons: str, field: str | None = None, rule: str = "") -> "Judgement":
        return Judgement(False, frozenset(reasons), frozenset([field] if field else []), rule=rule)


@dataclasses.dataclass
class Case:
    group: str
    index: int
    # What was done to make it.
    name: str
    # The item of VerifyBatch, as JSON text.
    item: str
    judgement: Judgement
    # What the maker of the case knows of it, if it knows: holds the judge as well.
    expected: bool | None = None


# What was done to a case, its text then, and what is known of its verdict.
Changed = tuple[str, str, bool | None]


class Refused(ValueError):
    pass


@dataclasses.dataclass(frozen=True)
class Fraction:
    """A number that is not written as a whole one, as it is written: with a fraction, an exponent, or as minus zero."""

    text: str


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Refused("a name twice")
    return dict(pairs)


def _constant(name: str) -> Never:
    raise Refused(name)


def _whole(text: str) -> Fraction | int:
    return Fraction(text) if text == "-0" or len(text) > 4000 else int(text)


# The contract's bounds on JSON: levels of objects and arrays, and values of every kind, those that hold others included.
DEPTH, VALUES = 32, 20_000


def extent(value: Any) -> tuple[int, int]:
    """Levels and values."""
    if not isinstance(value, (dict, list)):
        return 0, 1
    inner = [extent(one) for one in (value.values() if isinstance(value, dict) else value)]
    return 1 + max((levels for levels, _ in inner), default=0), 1 + sum(values for _, values in inner)


def strict_json(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_constant, parse_float=Fraction, parse_int=_whole)
        levels, values = extent(value)
    except RecursionError:
        raise Refused("too deep") from None
    if levels > DEPTH or values > VALUES:
        raise Refused("too deep or too many")
    # Half of a surrogate pair, which an escape can spell, is no text.
    json.dumps(value, ensure_ascii=False, default=str).encode()
    return value
