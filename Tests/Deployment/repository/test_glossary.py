"""The glossary is short, the names in it exist, and banned words are not used in code and documents."""

import functools
import re
from pathlib import Path

import pytest

from Deployment.observability.sources import swift_files

ROOT = Path(__file__).resolve().parents[3]
GLOSSARY = ROOT / "Documentation" / "glossary.md"
MOST_TERMS = 40

# Banned word → replacement. Words of the contract, of Redis keys, metrics and settings are not banned.
BANNED = {
    "Bell": "WakeSignal",
    "PauseLook": "PauseFlagCache",
    "WaitingRoom": "ReadBackpressure",
    "PendingNotes": "ScheduleWriteCoalescer",
    "TurnEnd": "LoopTurnFlush",
    "HeldBody": "BufferedBody",
    "JointWork": "CoalescedWork",
    "JointCall": "CoalescedCall",
    "JointRPCHandler": "CoalescingRPCHandler",
    "JointSigning": "BatchSigning",
    "SeenBefore": "DeduplicationStore",
    "SeenStore": "DeduplicationScope",
    "ShardsAtWork": "WorkSlots",
    "KeyedCall": "IdempotentCall",
    "CommitCall": "CommitBatch",
    "LineTurns": "OrderCheck",
    "DeadlineBoard": "DeadlineIndex",
    "OwnedShard": "WorkerShard",
    "SigningDesk": "SignatureIssuer",
    "RetentionDesk": "RetentionResponder",
    "NotificationDesk": "NotificationPublisher",
    "PostbackDesk": "PostbackControl",
    "ATTWaiting": "ATTStatusWait",
    "FloodCount": "FloodCounter",
    "RedisGuard": "RedisSafetyCheck",
    "RedisWords": "EncodedArguments",
    "DeadLetterBound": "DeadLetterLimit",
    "DroppedLetters": "DroppedDeadLetters",
    "Stranded": "UpstreamRetrySet",
    "Absence": "DependencyOutage",
    "StoreAbsence": "StoreOutagePolicy",
    "SignerAbsent": "SignerUnavailable",
    "PatientCaller": "RetryingCaller",
    "OutageWatch": "OutageDetector",
    "ByteWatch": "ByteArrivalHandler",
    "StreamBoundSetting": "StreamLimitSetting",
    "ConnectionBound": "ConnectionLimit",
    "PeerBounds": "PeerLimits",
    "PeerShares": "PeerQuota",
    "BodyShare": "BodyReservation",
    "RateStanding": "RateLimitStatus",
    "CountedEnd": "CountedOutcome",
    "EventPlace": "EventPosition",
    "FeedPlace": "FeedPosition",
    "DeadLetterPlace": "DeadLetterPosition",
    "SubjectLines": "SubjectQueues",
    "IntakeGate": "IntakeBackpressure",
    "Rendezvous": "RendezvousHash",
    "OfflineJudge": "OfflineVerifier",
    "ServiceJudge": "ServiceVerifier",
    "SignedDataJudge": "RevocationCheckedVerifier",
    "SoleCall": "ExclusiveCall",
    "SideBySide": "ConcurrentQueries",
    "StartedList": "StartTimeIndex",
    "Courier": "RetryingSender",
    "DueAnswer": "DeadlineAnswer",
    "ProvedArrivals": "VerifiedArrivals",
    "ProvedCount": "VerifiedMetric",
    "RecentlyUsed": "LeastRecentlyUsedCache",
    "SentTogether": "PendingBatch",
    "SignedThing": "SignedInput",
    "NotificationWalk": "TestNotificationCheck",
    "AppleGate": "AppleCallGate",
    "PostbackQuestion": "PostbackInput",
    "ReceiptReading": "ReceiptContents",
    "BegunItem": "CheckedItem",
    "ConsentJudgement": "ConsentDecision",
    "StoreMending": "StoreRepair",
    "Ticket": "Permit",
    "HTTPAnswer": "HTTPResponse",
    "AnswerCompression": "ResponseCompression",
    "AnswerCache": "ResponseCache",
    "AdServicesAnswer": "AdServicesResponse",
    "AppleAnswer": "AppleResponse",
    "OutgoingAnswer": "OutgoingResponse",
    "CachedAnswer": "CachedValue",
}
# The same for functions, properties and cases.
BANNED_MEMBERS = {
    "judging": "computing",
    "judgeOffline": "verifyOffline",
    "mayBeJudgedAnew": "mayBeAcceptedAgain",
    "formLook": "cachedForm",
    "probeLook": "probeCheckInterval",
    "strandedLook": "waitingRetriesCheckInterval",
    "breakerLook": "breakerCheckInterval",
    "lookAfterStranded": "releaseWaitingRetries",
    "lookForSilence": "detectSilence",
    "lastLook": "lastSearch",
    "isMended": "isRepaired",
    "canBeMended": "isRepairable",
}
SUFFIXES = {".swift", ".lua", ".c", ".h", ".md", ".py", ".sh", ".yaml", ".yml", ".proto"}


def texts() -> list[Path]:
    """Code, scripts and documents, except this list itself and the changelog."""
    files = [ROOT / "Package.swift", ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in ("Shared", "Services", "Tests", "Deploy", "Documentation", "Examples"):
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file() and (path.suffix in SUFFIXES or not path.suffix)]
    own = Path(__file__).resolve()
    return [path for path in files if path != own and not {"Vectors", "Corpus", ".build"} & set(path.parts)]


@functools.cache
def code() -> str:
    """The Swift code of modules and services, and of the simulator."""
    return "\n".join(path.read_text() for path in [*swift_files(), *(ROOT / "Tests/AppleSimulator").rglob("*.swift")])


def terms() -> list[tuple[str, str]]:
    """Each term and the rest of its line."""
    rows = re.findall(r"^\| ([^|]+) \| (.+) \|$", GLOSSARY.read_text(), re.MULTILINE)
    return [(term, rest) for term, rest in rows if term not in ("term", "---")]


def test_banned_words_are_not_used() -> None:
    words = BANNED | BANNED_MEMBERS
    pattern = re.compile(r"\b(?:" + "|".join(words) + r")(?:Tests)?\b")
    found = []
    for path in texts():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for word in pattern.findall(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {word}, say {words[word.removesuffix('Tests')]}")
    assert not found, "\n".join(found)


def test_replacements_of_banned_words_exist() -> None:
    declared = set(re.findall(r"\b(?:struct|class|enum|actor|protocol) (\w+)", code()))
    assert {word for word in BANNED.values() if word not in declared} == set()
    members = set(re.findall(r"\b(?:let|var|func|case) (\w+)", code()))
    assert {word for word in BANNED_MEMBERS.values() if word not in members} == set()


def test_the_glossary_is_short_and_has_each_term_once() -> None:
    names = [term for term, _ in terms()]
    assert 20 < len(names) <= MOST_TERMS
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("term, rest", terms(), ids=[term for term, _ in terms()])
def test_names_that_a_term_mentions_exist(term: str, rest: str) -> None:
    for name in re.findall(r"`([A-Z]\w+)(?:\.(\w+))?`", rest):
        assert re.search(rf"\b(?:struct|class|enum|actor|protocol) {name[0]}\b", code()), f"{term}: no type {name[0]}"
        assert not name[1] or re.search(rf"\b{name[1]}\b", code()), f"{term}: {name[0]} has no {name[1]}"
    for metric in re.findall(r"`(attribution_\w+)\*?`", rest):
        assert f'"{metric}' in code(), f"{term}: no metric {metric}"
    for script in re.findall(r"`(\w+\.lua)`", rest):
        assert list((ROOT / "Shared").rglob(script)), f"{term}: no script {script}"
    for key in re.findall(r"`…:(\w+)(?::…)?`", rest):
        keys = (ROOT / "Shared/AttributionQueue/Store/Keys.swift").read_text()
        assert f":{key}" in keys, f"{term}: no key {key}"
