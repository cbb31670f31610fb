"""A case of the differential test, the verdict that a reference verifier expects, and a strict JSON reader."""

import dataclasses
import json
import re
from typing import Any, Never


@dataclasses.dataclass
class ExpectedVerdict:
    """The verdict of a reference verifier: verified, or rejected for one of the reasons (for any reason if there are none)."""

    valid: bool
    reasons: frozenset = frozenset()
    # If the reason is `malformed`, the fields that may be named (any field if there are none).
    fields: frozenset = frozenset()
    # Further members that the verdict on a verified input must have.
    says: dict = dataclasses.field(default_factory=dict)
    # The documented rule that overrules the reference verifier, if any.
    rule: str = ""

    @staticmethod
    def rejected(*reasons: str, field: str | None = None, rule: str = "") -> "ExpectedVerdict":
        return ExpectedVerdict(False, frozenset(reasons), frozenset([field] if field else []), rule=rule)


@dataclasses.dataclass
class Case:
    group: str
    index: int
    # The change of this case.
    name: str
    # The item of VerifyBatch, as JSON text.
    item: str
    expected_verdict: ExpectedVerdict
    # Whether the case is valid, if that is known. The reference verifier is also checked against it.
    expected: bool | None = None


# The change, the changed text, and whether it is valid if that is known.
Changed = tuple[str, str, bool | None]


class Refused(ValueError):
    pass


@dataclasses.dataclass(frozen=True)
class Fraction:
    """The text of a number in a non-integer notation: with a fraction, an exponent, or as minus zero."""

    text: str


# A number that is out of every range.
TOO_LARGE = 1 << 128


def whole_number(text: str) -> int | None:
    """The whole number that a text spells, also with a fraction of zero or an exponent; None if it spells none."""
    found = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,18}))?", text, re.ASCII)
    if not found:
        return None
    sign, whole, fraction, exponent = found[1], found[2], found[3] or "", int(found[4] or 0)
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    significant = digits.rstrip("0")
    exponent += len(digits) - len(significant) - len(fraction)
    if exponent < 0:
        return None
    value = TOO_LARGE if exponent + len(significant) > 40 else int(significant) * 10 ** exponent
    return -value if sign else value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Refused("a name twice")
    return dict(pairs)


def _constant(name: str) -> Never:
    raise Refused(name)


def _whole(text: str) -> Fraction | int:
    return Fraction(text) if text == "-0" or len(text) > 4000 else int(text)


# The contract's limits of JSON: levels of objects and arrays, and values of every kind, including objects and arrays.
DEPTH, VALUES = 32, 20_000


def extent(value: Any) -> tuple[int, int]:
    """The number of levels and values."""
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
    # Half of a surrogate pair, which an escape can write, is not valid text.
    json.dumps(value, ensure_ascii=False, default=str).encode()
    return value
