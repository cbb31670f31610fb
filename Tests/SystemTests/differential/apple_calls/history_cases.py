"""Get Notification History: recoveries, and the requests of Apple's library for the same windows, filters and pages."""

import dataclasses
import pathlib
import time

import yaml
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.Subtype import Subtype
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from .cases import IDS, TOKENS, maybe, without_none
from .library import Library, Request

LIST = pathlib.Path(__file__).resolve().parents[4] / "Documentation" / "apple-coverage.yaml"
NOW = int(time.time() * 1000)
MINUTE, DAY = 60_000, 86_400_000
# A recovery reads this much more on each side of its window, because Apple's attempts lie around the edges of an outage
# (RecoveryJob.overlap).
OVERLAP = 10 * MINUTE
# A window that has more pages than this is divided into slices, unless the recovery is that of one transaction (HistorySlices.probePages).
UNDIVIDED_PAGES = 3


def pairs() -> list[tuple[NotificationTypeV2, Subtype | None]]:
    """The pairs of a type and a subtype that Apple's pages list, as far as the library has both."""
    types, subtypes = {one.value for one in NotificationTypeV2}, {one.value for one in Subtype}
    found: list[tuple[NotificationTypeV2, Subtype | None]] = []
    for item in yaml.safe_load(LIST.read_text())["notifications"]:
        if item["type"] in types:
            found += [(NotificationTypeV2(item["type"]), None)] if item.get("bare") else []
            found += [(NotificationTypeV2(item["type"]), Subtype(one)) for one in item.get("subtypes", []) if one in subtypes]
    return found


def stamp(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03d}Z"


@dataclasses.dataclass(frozen=True)
class Recovery:
    environment: str
    start: int
    end: int
    kind: NotificationTypeV2 | None
    subtype: Subtype | None
    transaction: str | None
    # Apple's default is false, so the library's request leaves the member out where it is false.
    only_failures: bool | None
    # Of the second page and those after it.
    tokens: tuple[str, ...]

    @property
    def window(self) -> tuple[int, int]:
        """The window of the requests to Apple."""
        return self.start - OVERLAP, self.end + OVERLAP

    @property
    def message(self) -> dict:
        """The request to the service."""
        return without_none({
            "environment": self.environment, "startDate": stamp(self.start), "endDate": stamp(self.end),
            "notificationType": self.kind and self.kind.value, "notificationSubtype": self.subtype and self.subtype.value,
            "transactionId": self.transaction, "onlyFailures": self.only_failures})

    def request(self, library: Library, token: str | None, start: int, end: int) -> Request:
        """The library's request for one page of a window."""
        body = NotificationHistoryRequest(
            startDate=start, endDate=end, notificationType=self.kind, notificationSubtype=self.subtype, transactionId=self.transaction,
            onlyFailures=self.only_failures or None)
        return library.request(lambda apple: apple.get_notification_history(token, body))

    def requests(self, library: Library) -> list[Request]:
        """The library's requests for all pages of the whole window."""
        return [self.request(library, token, *self.window) for token in (None, *self.tokens)]

    def answer(self, token: str | None) -> dict:
        """Apple's answer to the page of that token: which of them is the last one is decided by their number."""
        pages = [None, *self.tokens]
        following = pages.index(token) + 1
        return {"hasMore": False} if following == len(pages) else {"hasMore": True, "paginationToken": pages[following]}


@st.composite
def recoveries(draw: DrawFn) -> Recovery:
    environment, most = draw(st.sampled_from([("Production", 179 * DAY), ("Sandbox", 29 * DAY)]))
    # The end is so far in the past that its overlap is over too, and Apple still keeps all of the window.
    ago = draw(st.integers(60 * MINUTE, most - DAY))
    end = NOW - ago
    start = end - draw(st.integers(1, most - ago))
    kind, subtype, transaction = None, None, None
    # Apple takes a type or a transaction, never both (4000019).
    match draw(st.sampled_from(["all", "type", "transaction"])):
        case "type":
            kind, subtype = draw(st.sampled_from(pairs()))
        case "transaction":
            transaction = draw(IDS)
    tokens = draw(st.lists(TOKENS, max_size=5 if transaction else UNDIVIDED_PAGES - 1, unique=True))
    return Recovery(environment, start, end, kind, subtype, transaction, draw(maybe(st.booleans())), tuple(tokens))


@st.composite
def divided_recoveries(draw: DrawFn) -> Recovery:
    """Recoveries of windows with more pages than are read in one line."""
    # With filters first, because few cases are generated.
    kind, subtype = draw(st.sampled_from([*pairs(), (None, None)]))
    end = NOW - draw(st.integers(60 * MINUTE, DAY))
    start = end - draw(st.integers(DAY, 170 * DAY))
    tokens = draw(st.lists(TOKENS, min_size=UNDIVIDED_PAGES, max_size=UNDIVIDED_PAGES, unique=True))
    return Recovery("Production", start, end, kind, subtype, None, draw(st.sampled_from([True, None, False])), tuple(tokens))
