"""A repository for one release, with a script instead of the container engine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
# The interpreter itself, because the start script of a version manager would take longer than the tests.
INTERPRETER = os.path.realpath(sys.executable)
SERVICES = ["signer", "verifier", "ingest", "notification-recovery", "asa-token-broker"]
IMAGES = [*SERVICES, "setup", "attributionctl", "simulator"]
VERSION_FILE = "Shared/ServiceRuntime/Lifecycle/BuildInformation.swift"
# Replaces docker and podman, and records how it was called. The variable FAULTS changes what it says about an image.
ENGINE = r"""#!PYTHON -ISB
import hashlib, json, os, pathlib, sys
state = pathlib.Path(os.environ["ENGINE_STATE"])
faults = json.loads(os.environ.get("FAULTS", "{}"))
engine, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
with (state / "calls").open("a") as file:
    file.write(json.dumps([engine, *words]) + "\n")

def image_of(word):
    return json.loads((state / word.removeprefix("container-").removeprefix("sha256:")).read_text())

def executable(image):
    content = ("executable " + image["name"]).encode()
    return content + bytes(image["faults"].get("executable", 0))

if words[0] == "info":
    sys.exit(1 if engine in faults.get("silent", []) else 0)
if words[0] == "build":
    options = {}
    arguments = {}
    for index, word in enumerate(words):
        if word == "--build-arg":
            name, _, value = words[index + 1].partition("=")
            arguments[name] = value
        elif word.startswith("--"):
            options[word] = words[index + 1]
    name = options["--target"]
    if faults.get("build") == name:
        print("step 7 failed", file=sys.stderr)
        sys.exit(1)
    context = pathlib.Path(words[-1])
    files = sorted(str(path.relative_to(context)) for path in context.rglob("*") if path.is_file())
    made = hashlib.sha256(name.encode()).hexdigest()
    content = {"name": name, "id": made, "arguments": arguments, "files": files, "faults": faults.get(name, {})}
    (state / made).write_text(json.dumps(content))
    pathlib.Path(options["--iidfile"]).write_text("sha256:" + made)
elif words[:2] == ["image", "inspect"]:
    image = image_of(words[2])
    name, given, own = image["name"], image["arguments"], image["faults"]
    labels = {"title": name, "version": given["VERSION"], "revision": given["COMMIT"], "created": given["CREATED"]}
    labels["licenses"] = "Apache-2.0"
    labels |= own.get("labels", {})
    config = {"Labels": {"org.opencontainers.image." + key: value for key, value in labels.items()}}
    config["User"] = own.get("user", "" if name == "setup" else "10001:10001")
    config["Entrypoint"] = own.get("entry", ["/usr/local/bin/" + name])
    layers = ["sha256:base", "sha256:" + name]
    told = {"Id": image["id"], "Digest": "sha256:d" + image["id"][1:], "Config": config, "RootFS": {"Layers": layers}}
    print(json.dumps([told | {"Size": 81_000_000}]))
elif words[0] == "history":
    image = image_of(words[-1])
    own = image["faults"].get("layer", 1_000_000)
    steps = [("ENTRYPOINT x", 0), ("COPY executable", own), ("LABEL a=b", 0), ("ADD rootfs", 80_000_000)]
    if engine == "podman":
        print(json.dumps([{"id": "x", "size": size, "CreatedBy": made} for made, size in steps]))
    else:
        for made, size in steps:
            print(json.dumps({"ID": "x", "Size": str(size), "CreatedBy": made}))
elif words[0] == "create":
    print("container-" + words[-1].removeprefix("sha256:"))
elif words[0] == "cp":
    container, _, path = words[1].partition(":")
    image = image_of(container)
    own = image["faults"]
    if path in own.get("absent", []):
        sys.exit(1)
    if path.startswith("/usr/local/bin/"):
        pathlib.Path(words[2]).write_bytes(executable(image))
    else:
        sha256 = own.get("sha256", hashlib.sha256(executable(image)).hexdigest())
        package = {"SPDXID": "SPDXRef-Service-" + image["name"], "versionInfo": image["arguments"]["VERSION"]}
        package["sourceInfo"] = "Built from commit " + image["arguments"]["COMMIT"]
        package["checksums"] = [{"algorithm": "SHA256", "checksumValue": sha256}]
        pathlib.Path(words[2]).write_text(json.dumps({"spdxVersion": "SPDX-2.3", "packages": [package]}))
elif words[0] == "run":
    image = image_of(words[-2])
    given = image["arguments"]
    print(image["faults"].get("version", f"{image['name']} {given['VERSION']} (commit {given['COMMIT'][:12]}, release build)"))
elif words[0] == "tag":
    with (state / "tags").open("a") as file:
        file.write(f"{words[2]} {image_of(words[1])['name']}\n")
elif words[0] != "rm":
    sys.exit(f"not simulated: {words}")
"""
CHANGELOG = "# Changelog\n\n## [0.2.0] - 2026-11-24\n\n### Added\n\n- Something.\n\n## [0.1.0] - 2026-11-23\n\n- The first.\n"


class Repository:
    """A repository with the requirements of Deploy/release, and a simulated engine on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "repository"
        self.state = folder / "state"
        binaries = folder / "bin"
        for one in (self.path, self.state, binaries):
            one.mkdir()
        for engine in ("docker", "podman"):
            (binaries / engine).write_text(ENGINE.replace("PYTHON", INTERPRETER, 1))
            (binaries / engine).chmod(0o755)
        self.environment = {
            "PATH": f"{binaries}:{os.environ['PATH']}",
            "HOME": str(folder),
            "ENGINE_STATE": str(self.state),
            "LC_ALL": "C.UTF-8",
        }
        self.environment |= {"GIT_CONFIG_GLOBAL": str(folder / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1", "TMPDIR": str(folder)}
        (folder / "gitconfig").write_text("[user]\nname = Release\nemail = release@example.com\n[init]\ndefaultBranch = main\n")
        for name in ("Deploy/release", "Deploy/release_version.py", "Deploy/lib.sh", "Deploy/sbom/check-images"):
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.path / name)
        self.write("Deploy/test", '#!/bin/sh\necho tested >>"$ENGINE_STATE/tested"\n', mode=0o755)
        self.write("Deploy/Dockerfile", "FROM scratch\n")
        self.write("CHANGELOG.md", CHANGELOG)
        self.write(VERSION_FILE, 'public enum BuildInformation {\n  public static let version = "0.2.0"\n}\n')
        self.write(".gitignore", "/release/\n.data/\n__pycache__/\n")
        self.git("init", "--quiet")
        self.commit()

    def write(self, name: str, text: str, mode: int = 0o644) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.path, env=self.environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "state")

    def release(self, *options: str, faults: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
        environment = self.environment | {"FAULTS": json.dumps(faults or {})}
        return subprocess.run(["Deploy/release", *options], cwd=self.path, env=environment, capture_output=True, text=True, timeout=120, check=False)

    def calls(self) -> list[list[str]]:
        file = self.state / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def image_tags(self) -> list[str]:
        file = self.state / "tags"
        return file.read_text().splitlines() if file.exists() else []

    def assert_nothing_tagged(self) -> None:
        assert self.image_tags() == [] and not any("tag" in call[1] or "--tag" in call or "-t" in call for call in self.calls())
        assert self.git("tag") in ("", "v0.2.0-kept")

    def assert_refused(self, says: str, *options: str, built: bool = False, faults: dict[str, Any] | None = None) -> None:
        done = self.release(*options, faults=faults)
        assert done.returncode != 0 and says in done.stderr, done.stdout + done.stderr
        self.assert_nothing_tagged()
        assert any(call[1] == "build" for call in self.calls()) == built
        assert not (self.path / "release" / "0.2.0").exists()




CREATED = "2026-11-24T02:00:00Z"
