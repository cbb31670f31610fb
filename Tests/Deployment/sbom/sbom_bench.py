"""A folder with all input of Deploy/sbom/generate."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SBOM = ROOT / "Deploy" / "sbom"



PINNED: dict[str, Any] = json.loads((SBOM / "packages.json").read_text())
CREATED = "2026-11-24T02:00:00Z"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LIBRARIES = PINNED["debianLibraries"]["services"]
STATUS = "\n".join(
    [
        "Package: base-files\nStatus: install ok installed\nArchitecture: amd64\nVersion: 12.4+deb12u12\nDepends: awk\n",
        "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n",
        ("Package: mawk\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.3.4\nProvides: awk\n"
        "Pre-Depends: libc6 (>= 2.34)\nDescription: pattern\n with a line: that looks like a field\n"),
        ("Package: odd++\nStatus: install ok installed\nArchitecture: all\nSource: odd (2:1.0~rc1)\nVersion: 2:1.0~rc1+b1\n"
        "Depends: nothing-here | libc6:any, missing\n"),
    ]
    + [f"Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0\n" for name in LIBRARIES]
)
DEP5 = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"


def workspace(packages: list[dict[str, Any]]) -> dict[str, Any]:
    """workspace-state.json as SwiftPM writes it."""
    return {
        "object": {
            "dependencies": [
                {
                    "packageRef": {"identity": one["identity"], "location": one["url"], "name": one["name"], "kind": "remoteSourceControl"},
                    "state": {"name": "sourceControlCheckout", "checkoutState": {"revision": one["revision"], "version": one["version"]}},
                }
                for one in packages
            ]
        },
        "version": 7,
    }


class Bench:
    """A folder with all input of the generator."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packages: list[dict[str, Any]] = copy.deepcopy(PINNED["swiftPackages"])
        self.status = folder / "status"
        self.status.write_text(STATUS)
        self.doc = folder / "doc"
        self.executable = folder / "signer"
        self.executable.write_bytes(b"an executable")
        self.doc.mkdir()
        self.write_copyright(
            "mawk", DEP5 + "Files: *\nCopyright: a\nLicense: GPL-2\n\nFiles: b\nCopyright: c\nLicense: Expat or BSD-3-clause\n"
        )
        self.write_copyright(
            "odd++", DEP5 + "Files: *\nCopyright: a\nLicense: GPL-2+ and own-words\n\nFiles: d\nCopyright: e\nLicense: ISC\n"
        )
        self.write_copyright("libc6", "This is no machine-readable file.\n")

    def write_copyright(self, package: str, text: str) -> None:
        (self.doc / package).mkdir(exist_ok=True)
        (self.doc / package / "copyright").write_text(text)

    def resolved(self, content: dict[str, Any] | None = None) -> Path:
        path = self.folder / "resolved.json"
        path.write_text(json.dumps(content if content is not None else workspace(self.packages)))
        return path

    def run(
        self, *more: str, out: str = "out.json", service: str = "signer", script: Path = SBOM / "generate"
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(script), "--service", service, "--dpkg-status", str(self.status), "--doc-root", str(self.doc)]
        command += ["--swift-packages", str(self.folder / "resolved.json"), "--version", "0.2.0", "--commit", COMMIT, "--created", CREATED]
        command += ["--executable", str(self.executable), "--out", str(self.folder / out), *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def document(self, *more: str, service: str = "signer") -> dict[str, Any]:
        self.resolved()
        done = self.run(*more, service=service)
        assert done.returncode == 0, done.stderr
        return json.loads((self.folder / "out.json").read_text())


def assert_valid_spdx(path: Path) -> None:
    """Checks a document with SPDX' own tools, including its licence ids."""
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    assert [one.validation_message for one in validate_full_spdx_document(parse_file(str(path)), "SPDX-2.3")] == []
