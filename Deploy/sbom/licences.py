"""SPDX licence ids, and what Debian's machine-readable copyright files (DEP-5) say in them."""

import re
from pathlib import Path

# Debian's short names (in lower case) by SPDX id. A name that is not here stays a name: it has no id that certainly means the same.
_DEBIAN_NAMES: dict[str, str] = {
    "afl-2.0": "AFL-2.0",
    "afl-2.1": "AFL-2.1",
    "apache-2": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "artistic-2.0": "Artistic-2.0",
    "beerware": "Beerware",
    "boost-1.0": "BSL-1.0",
    "bsd-1-clause": "BSD-1-Clause",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd-4-clause": "BSD-4-Clause",
    "bsd-4-clause-uc": "BSD-4-Clause-UC",
    "bsl-1.0": "BSL-1.0",
    "bzip2-1.0.6": "bzip2-1.0.6",
    "cc-by-3.0": "CC-BY-3.0",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-sa-3.0": "CC-BY-SA-3.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc0": "CC0-1.0",
    "cc0-1.0": "CC0-1.0",
    "curl": "curl",
    "expat": "MIT",
    "fsfap": "FSFAP",
    "fsful": "FSFUL",
    "fsfullr": "FSFULLR",
    "icu": "ICU",
    "isc": "ISC",
    "mit": "MIT",
    "mit-0": "MIT-0",
    "mpl-1.1": "MPL-1.1",
    "mpl-2.0": "MPL-2.0",
    "oldap-2.8": "OLDAP-2.8",
    "openldap-2.8": "OLDAP-2.8",
    "openssl": "OpenSSL",
    "psf-2": "PSF-2.0",
    "tcl": "TCL",
    "unicode-dfs-2016": "Unicode-DFS-2016",
    "unlicense": "Unlicense",
    "vim": "Vim",
    "wtfpl": "WTFPL",
    "x11": "X11",
    "zlib": "Zlib",
}
# What the licences of the packages that are named in packages.json may be, beside those.
_OTHER_IDS = {"Unicode-3.0"}
_EXCEPTIONS: dict[str, str] = {
    "classpath": "Classpath-exception-2.0",
    "libtool": "Libtool-exception",
    "linux-syscall-note": "Linux-syscall-note",
    "llvm": "LLVM-exception",
    "swift": "Swift-exception",
}
_GNU = {"gpl": ("GPL", {"1", "2", "3"}), "lgpl": ("LGPL", {"2", "2.1", "3"}), "agpl": ("AGPL", {"3"})}
_GFDL_VERSIONS = {"1.1", "1.2", "1.3"}


class UnknownLicence(Exception):
    """A name without an SPDX id."""


def _identifier(name: str) -> str:
    word = name.strip().lower()
    found = _DEBIAN_NAMES.get(word)
    if found is not None:
        return found
    parts = re.fullmatch(r"(a?gpl|lgpl|gfdl|gfdl-niv)-(\d+(?:\.\d+)*?)(?:\.0)?(\+|-only|-or-later)?", word)
    if parts is not None:
        family, version, later = parts.group(1), parts.group(2), parts.group(3) in ("+", "-or-later")
        ending = "or-later" if later else "only"
        if family.startswith("gfdl"):
            if version in _GFDL_VERSIONS:
                return f"GFDL-{version}-{'no-invariants-' if family == 'gfdl-niv' else ''}{ending}"
        elif version in _GNU[family][1]:
            return f"{_GNU[family][0]}-{version if '.' in version else version + '.0'}-{ending}"
    raise UnknownLicence(name.strip())


def _simple(text: str) -> str:
    parts = re.fullmatch(r"(\S+)\s+with\s+(?:the\s+)?(\S+)[\s-]exception", text.strip(), re.IGNORECASE)
    if parts is None:
        return _identifier(text)
    exception = _EXCEPTIONS.get(parts.group(2).lower())
    if exception is None:
        raise UnknownLicence(text.strip())
    return f"{_identifier(parts.group(1))} WITH {exception}"


def _joined(parts: list[str], operator: str) -> str:
    unique = sorted(set(parts))
    if len(unique) == 1:
        return unique[0]
    inner = [f"({part})" if operator == "AND" and " OR " in part else part for part in unique]
    return f" {operator} ".join(inner)


def spdx_expression(debian: str) -> str:
    """A DEP-5 licence as an SPDX expression: `and` binds closer than `or`, unless a comma stands before it."""
    conjuncts = re.split(r",\s+and\s+", debian.strip(), flags=re.IGNORECASE)
    results: list[str] = []
    for conjunct in conjuncts:
        alternatives = re.split(r",?\s+or\s+", conjunct.strip(), flags=re.IGNORECASE)
        results.append(
            _joined(
                [_joined([_simple(part) for part in re.split(r"\s+and\s+", one, flags=re.IGNORECASE)], "AND") for one in alternatives], "OR"
            )
        )
    return _joined(results, "AND")


def _paragraphs(text: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    current: dict[str, str] = {}
    field = ""
    for line in text.splitlines():
        if not line.strip():
            if current:
                found.append(current)
            current, field = {}, ""
        elif line[0] in " \t":
            if field:
                current[field] += "\n" + line.strip()
        elif ":" in line and not line.startswith("#"):
            name, _, value = line.partition(":")
            field = name.strip().lower()
            current[field] = value.strip()
    if current:
        found.append(current)
    return found


def debian_licence(copyright_file: Path) -> tuple[str, str]:
    """The SPDX expression of a Debian package, or NOASSERTION, and a comment that says where it is from or why there is none."""
    try:
        text = copyright_file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "NOASSERTION", "The package has no copyright file."
    paragraphs = _paragraphs(text)
    form = paragraphs[0].get("format", "").lower() if paragraphs else ""
    if "copyright-format" not in form and "dep5" not in form:
        return "NOASSERTION", "The package's copyright file is not machine-readable (DEP-5)."
    names = {
        " ".join(paragraph["license"].split("\n")[0].split())
        for index, paragraph in enumerate(paragraphs)
        if "license" in paragraph and ("files" in paragraph or index == 0)
    } - {""}
    if not names:
        return "NOASSERTION", "The package's copyright file (DEP-5) names no licence of files."
    listed = "; ".join(sorted(names))
    expressions: list[str] = []
    unknown: list[str] = []
    for name in sorted(names):
        try:
            expressions.append(spdx_expression(name))
        except UnknownLicence as reason:
            unknown.append(str(reason))
    if unknown:
        missing = "; ".join(sorted(set(unknown)))
        return "NOASSERTION", f"The package's copyright file (DEP-5) names: {listed}. Without an SPDX id: {missing}."
    return _joined(expressions, "AND"), f"From the package's copyright file (DEP-5), which names: {listed}."


def is_known_expression(expression: str) -> bool:
    """Whether an SPDX expression of packages.json is made of ids that are known here."""
    known = set(_DEBIAN_NAMES.values()) | _OTHER_IDS
    for part in re.split(r"\s+(?:AND|OR)\s+", expression.replace("(", "").replace(")", "").strip()):
        licence, _, exception = part.partition(" WITH ")
        if licence not in known or (exception and exception not in _EXCEPTIONS.values()):
            return False
    return bool(expression.strip())
