"""Deploy/release: what it refuses, what it checks of the images, and what it leaves behind. The engine is played; no image is built."""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The interpreter itself: one that a version manager stands before takes longer to start than all that is tested here.
INTERPRETER = os.path.realpath(sys.executable)
SERVICES = ["signer", "verifier", "ingest", "notification-recovery", "asa-token-broker"]
IMAGES = [*SERVICES, "setup", "attributionctl", "simulator"]
VERSION_FILE = "Shared/ServiceRuntime/Lifecycle/BuildInformation.swift"

# Plays docker and podman. FAULTS changes what it answers of an image; what it was asked is written down.
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
    sys.exit(f"not played: {words}")
"""
CHANGELOG = "# Changelog\n\n## [0.2.0] - 2026-11-24\n\n### Added\n\n- Something.\n\n## [0.1.0] - 2026-11-23\n\n- The first.\n"


class Repository:
    """A repository with what Deploy/release takes, and a played engine on the PATH."""

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
        for name in ("Deploy/release", "Deploy/lib.sh", "Deploy/sbom/check-images"):
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


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


# What passes


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_release(repository: Repository, engine: str) -> None:
    repository.write(".data/key.pem", "a secret that git does not know")
    done = repository.release("--engine", engine, "--", "--network", "host")
    assert done.returncode == 0, done.stdout + done.stderr
    commit = repository.git("rev-parse", "HEAD")

    assert (repository.state / "tested").read_text() == "tested\n"
    builds = [call for call in repository.calls() if call[1] == "build"]
    assert [call[call.index("--target") + 1] for call in builds] == IMAGES
    assert all({"VERSION=0.2.0", f"COMMIT={commit}", "EXECUTABLES=built", "host"} <= set(call) for call in builds)
    assert all(("docker" in call[1:]) == (engine == "podman") for call in builds), "--format docker is podman's alone"
    built = json.loads((repository.state / hashlib.sha256(b"signer").hexdigest()).read_text())
    assert "CHANGELOG.md" in built["files"] and not any(".data" in name or name.startswith(".git/") for name in built["files"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", built["arguments"]["CREATED"])

    folder = repository.path / "release" / "0.2.0"
    assert {one.name for one in folder.iterdir()} == {"images.json", "SHA256SUMS", *(f"{name}.spdx.json" for name in SERVICES)}
    assert subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=False).returncode == 0
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == 6
    report = json.loads((folder / "images.json").read_text())
    assert (report["version"], report["commit"]) == ("0.2.0", commit)
    assert [one["name"] for one in report["images"]] == [f"apple-attribution/{name}" for name in IMAGES]
    assert all(re.fullmatch("[0-9a-f]{64}", one["id"]) and one["digest"].startswith("sha256:") for one in report["images"])
    assert report["servicesTogether"] == 80_000_000 + 5 * 1_000_000
    assert report["allTogether"] == 80_000_000 + 8 * 1_000_000

    assert repository.image_tags() == [f"apple-attribution/{name}:0.2.0 {name}" for name in IMAGES]
    assert repository.git("cat-file", "-t", "v0.2.0") == "tag"
    assert repository.git("rev-parse", "v0.2.0^{commit}") == commit
    assert hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest() in repository.git("tag", "-l", "--format=%(contents)", "v0.2.0")
    order = [call[1] for call in repository.calls()]
    assert order.index("tag") > max(index for index, word in enumerate(order) if word in ("build", "run", "cp"))
    assert not any(word in order for word in ("push", "login"))
    assert repository.git("status", "--porcelain") == ""


def test_without_tests_nothing_is_tagged(repository: Repository) -> None:
    done = repository.release("--skip-tests")
    assert done.returncode == 0, done.stderr
    assert not (repository.state / "tested").exists()
    repository.assert_nothing_tagged()
    assert (repository.path / "release" / "0.2.0-untested" / "images.json").is_file()
    assert not (repository.path / "release" / "0.2.0").exists()


def test_takes_the_engine_that_answers(repository: Repository) -> None:
    assert repository.release("--skip-tests", faults={"silent": ["docker"]}).returncode == 0
    assert {call[0] for call in repository.calls() if call[1] != "info"} == {"podman"}


def test_help(repository: Repository) -> None:
    done = repository.release("--help")
    assert done.returncode == 0 and done.stdout.startswith("Usage: Deploy/release")
    assert repository.calls() == []


# What is refused before anything is built


@pytest.mark.parametrize("change", ["changed", "added", "unknown"])
def test_refuses_a_tree_that_is_not_clean(repository: Repository, change: str) -> None:
    repository.write("CHANGELOG.md" if change == "changed" else "new", CHANGELOG + "\n")
    if change == "added":
        repository.git("add", "new")
    repository.assert_refused("the tree is not clean")


@pytest.mark.parametrize(
    "text, says",
    [
        ("# Changelog\n\n## [0.1.0] - 2026-11-23\n\n- The first.\n", "has no section '## [0.2.0]"),
        (CHANGELOG.replace("0.2.0] - 2026-11-24", "Unreleased]"), "has no section '## [0.2.0]"),
        (CHANGELOG.replace("2026-11-24", "Unreleased"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("2026-11-24", "tomorrow"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("2026-11-24", "2026-13-24"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("] - 2026-11-24", "]"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("[0.2.0]", "[0.2.01]"), "has no section '## [0.2.0]"),
        (CHANGELOG.replace("## [0.2.0]", "### [0.2.0]"), "version 0.2.0 without a date"),
        (CHANGELOG.replace("- Something.\n", ""), "says nothing of version 0.2.0"),
    ],
)
def test_refuses_a_version_that_the_changelog_does_not_have(repository: Repository, text: str, says: str) -> None:
    repository.write("CHANGELOG.md", text)
    repository.commit()
    repository.assert_refused(says)


@pytest.mark.parametrize(
    "line", ["", 'public static let version = "next"', 'public static let version = "0.2"', '// static let version = "0.2.0"']
)
def test_refuses_a_source_without_a_version(repository: Repository, line: str) -> None:
    repository.write(VERSION_FILE, f"enum BuildInformation {{\n  {line}\n}}\n")
    repository.commit()
    repository.assert_refused("names no semantic version")


def test_refuses_a_tag_that_exists(repository: Repository) -> None:
    repository.git("tag", "v0.2.0")
    done = repository.release()
    assert done.returncode != 0 and "the tag v0.2.0 exists already" in done.stderr
    assert repository.calls() == [] and repository.image_tags() == []


def test_a_branch_of_the_tags_name_is_no_tag(repository: Repository) -> None:
    repository.git("branch", "v0.2.0")
    assert repository.release("--skip-tests").returncode == 0


def test_refuses_a_folder_that_git_would_take_in(repository: Repository) -> None:
    repository.write(".gitignore", ".data/\n")
    repository.commit()
    repository.assert_refused("release/ is not in .gitignore")


@pytest.mark.parametrize(
    "options, says",
    [
        (["--engine", "kubectl"], "unknown engine kubectl"),
        (["--engine"], "--engine needs a name"),
        (["--push"], "unknown option --push"),
    ],
)
def test_refuses_other_options(repository: Repository, options: list[str], says: str) -> None:
    repository.assert_refused(says, *options)


def test_refuses_when_no_engine_answers(repository: Repository) -> None:
    repository.assert_refused("neither docker nor podman answers", faults={"silent": ["docker", "podman"]})
    repository.assert_refused("docker does not answer", "--engine", "docker", faults={"silent": ["docker"]})


# What is refused later


def test_failed_tests_end_it(repository: Repository) -> None:
    repository.write("Deploy/test", "#!/bin/sh\nexit 1\n", mode=0o755)
    repository.commit()
    repository.assert_refused("the tests failed")


def test_failed_build_ends_it(repository: Repository) -> None:
    done = repository.release(faults={"build": "ingest"})
    assert done.returncode != 0 and "the image ingest was not built" in done.stderr and "step 7 failed" in done.stderr
    repository.assert_nothing_tagged()


@pytest.mark.parametrize("script", ["echo changed >CHANGELOG.md", "git commit --quiet --allow-empty --message other"])
def test_a_tree_that_changes_meanwhile_is_not_tagged(repository: Repository, script: str) -> None:
    repository.write("Deploy/test", f"#!/bin/sh\n{script}\n", mode=0o755)
    repository.commit()
    done = repository.release()
    assert done.returncode != 0
    repository.assert_nothing_tagged()


def test_images_that_are_not_fit_are_not_tagged(repository: Repository) -> None:
    faults = {
        "signer": {"user": "", "executable": 48_000_000},
        "verifier": {"absent": ["/usr/share/sbom/verifier.spdx.json"]},
        "ingest": {"absent": ["/usr/local/bin/ingest"]},
        "simulator": {"user": "root"},
        "setup": {"labels": {"revision": ""}},
    }
    done = repository.release(faults=faults)
    assert done.returncode != 0 and "nothing is tagged" in done.stderr
    for says in (
        "signer: it runs as root",
        "signer: its executable has 48000017 bytes",
        "verifier: no SBOM inside",
        "ingest: no executable inside",
        "simulator: it runs as root",
        "setup: label org.opencontainers.image.revision",
    ):
        assert f"error: {says}" in done.stderr
    repository.assert_nothing_tagged()
    assert not (repository.path / "release").exists()


# Sizes


def check_images() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("check_images", str(ROOT / "Deploy" / "sbom" / "check-images"))
    specification = importlib.util.spec_from_loader("check_images", loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["check_images"] = module
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = written
    return module


IMAGES_CHECK = check_images()


COMMIT = "0123456789abcdef0123456789abcdef01234567"
CREATED = "2026-11-24T02:00:00Z"


def collect(folder: Path, name: str, labels: dict[str, str] | None = None, config: dict[str, Any] | None = None, **other: Any) -> None:
    """What Deploy/release collects of one image."""
    own = folder / name
    own.mkdir()
    named = {"title": name, "version": "0.2.0", "revision": COMMIT, "created": CREATED, "licenses": "Apache-2.0"} | (labels or {})
    settings = {"User": "" if name == "setup" else "10001", "Entrypoint": [f"/usr/local/bin/{name}"]} | (config or {})
    settings["Labels"] = {"org.opencontainers.image." + key: value for key, value in named.items()}
    (own / "inspect.json").write_text(json.dumps([{"Id": name, "Config": settings, "RootFS": {"Layers": ["base", name]}}]))
    (own / "history.json").write_text(
        json.dumps([{"size": other.get("layer", 1_000_000), "CreatedBy": "COPY"}, {"size": 80_000_000, "CreatedBy": "ADD"}])
    )
    if name not in SERVICES:
        return
    content = bytes(other.get("executable", 10))
    (own / "executable").write_bytes(content)
    (own / "version.txt").write_text(other.get("printed", f"{name} 0.2.0 (commit {COMMIT[:12]}, release build)\n"))
    package = {"SPDXID": f"SPDXRef-Service-{name}", "versionInfo": "0.2.0", "sourceInfo": f"Built from commit {COMMIT}."}
    package["checksums"] = [{"algorithm": "SHA256", "checksumValue": other.get("sha256", hashlib.sha256(content).hexdigest())}]
    (own / "sbom.spdx.json").write_text(json.dumps({"spdxVersion": "SPDX-2.3", "packages": [package]}))


def judged(folder: Path, **changed: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    for name in IMAGES:
        collect(folder, name, **changed.get(name, {}))
    return IMAGES_CHECK.judge(folder, "0.2.0", COMMIT, CREATED)


@pytest.mark.parametrize(
    "change, says",
    [
        ({"config": {"User": "0"}}, "signer: it runs as 0"),
        ({"labels": {"version": "0.1.0"}}, "signer: label org.opencontainers.image.version is '0.1.0'"),
        ({"labels": {"created": ""}}, "signer: label org.opencontainers.image.created"),
        ({"labels": {"licenses": "MIT"}}, "signer: label org.opencontainers.image.licenses"),
        ({"labels": {"title": "verifier"}}, "signer: label org.opencontainers.image.title"),
        ({"config": {"Entrypoint": ["/bin/sh", "-c", "signer"]}}, "signer: its entry point is"),
        ({"sha256": "0" * 64}, "signer: its SBOM has SHA-256"),
        ({"printed": "signer 0.2.0 (commit unknown, release build)"}, "signer: --version prints"),
        ({"printed": "signer 0.2.0 (commit 0123456789ab_modified, release build)"}, "signer: --version prints"),
        ({"printed": f"signer 0.2.0 (commit {COMMIT[:12]}, debug build)"}, "signer: --version prints"),
        ({"printed": f"signer 0.1.0 (commit {COMMIT[:12]}, release build)"}, "signer: --version prints"),
        ({"printed": "signer 0.2.0 (commit ba9876543210, release build)"}, "signer: --version prints"),
        ({"printed": ""}, "signer: --version prints"),
        ({"executable": 48_000_001}, "signer: its executable has 48000001 bytes"),
        ({"layer": 316_000_001}, "together, more than 400000000"),
    ],
)
def test_faults_of_an_image(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    faults, _ = judged(tmp_path, signer=change)
    assert len(faults) == 1 and says in faults[0]


def test_exactly_at_the_limits(tmp_path: Path) -> None:
    faults, report = judged(tmp_path, signer={"executable": 48_000_000, "layer": 316_000_000}, setup={"layer": 90_000_000})
    assert faults == []
    assert (report["servicesTogether"], report["allTogether"]) == (400_000_000, 492_000_000)


def test_an_image_that_was_not_collected(tmp_path: Path) -> None:
    for name in IMAGES[1:]:
        collect(tmp_path, name)
    faults, _ = IMAGES_CHECK.judge(tmp_path, "0.2.0", COMMIT, CREATED)
    assert len(faults) == 1 and faults[0].startswith("signer: cannot tell what it is made of")


def history(*steps: tuple[int, str]) -> list[Any]:
    """Steps from the oldest on."""
    return IMAGES_CHECK.read_history(json.dumps([{"size": size, "CreatedBy": made} for size, made in reversed(steps)]))


def test_layers_are_counted_once() -> None:
    images = {
        "a": [("sha256:base", 100), ("sha256:runtime", 20), ("sha256:a", 3)],
        "b": [("sha256:base", 100), ("sha256:runtime", 20), ("sha256:b", 4)],
        "c": [("sha256:other", 7), ("sha256:a", 3)],
    }
    assert IMAGES_CHECK.total_size(images) == 134
    images["c"][1] = ("sha256:a", 5)
    with pytest.raises(IMAGES_CHECK.Unclear):
        IMAGES_CHECK.total_size(images)


def test_podmans_history() -> None:
    text = json.dumps([{"id": "b", "size": 5, "CreatedBy": "COPY"}, {"id": "a", "size": 70, "CreatedBy": "ADD"}])
    sizes = IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y"]}, "Size": 75}, IMAGES_CHECK.read_history(text))
    assert sizes == [("x", 70), ("y", 5)]


def test_dockers_history() -> None:
    text = '{"Size":"0","CreatedBy":"USER 10001"}\n{"Size":"5","CreatedBy":"COPY a b # buildkit"}\n{"Size":"70","CreatedBy":"ADD"}\n'
    sizes = IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y"]}}, IMAGES_CHECK.read_history(text))
    assert sizes == [("x", 70), ("y", 5)]


def test_sizes_for_people_are_refused() -> None:
    with pytest.raises(IMAGES_CHECK.Unclear):
        IMAGES_CHECK.read_history('{"Size":"74.8MB","CreatedBy":"ADD"}')


def test_marks_tell_an_empty_layer_from_a_step_without_one() -> None:
    steps = history((70, "ADD"), (0, "RUN true"), (0, "LABEL a=b"), (5, "COPY"))
    marks = [{}, {}, {"empty_layer": True}, {}]
    inspected = {"RootFS": {"Layers": ["x", "nothing", "y"]}, "History": marks}
    assert IMAGES_CHECK.layer_sizes(inspected, steps) == [("x", 70), ("nothing", 0), ("y", 5)]
    del inspected["History"]
    assert IMAGES_CHECK.layer_sizes(inspected, steps) == [("x", 70), ("nothing", 0), ("y", 5)]


def test_what_cannot_be_brought_together_is_refused() -> None:
    with pytest.raises(IMAGES_CHECK.Unclear, match="3 layers, but 2 steps"):
        IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y", "z"]}}, history((70, "ADD"), (5, "COPY")))


def test_a_history_that_says_too_little_is_refused() -> None:
    with pytest.raises(IMAGES_CHECK.Unclear, match="the engine says 90000000"):
        IMAGES_CHECK.layer_sizes({"RootFS": {"Layers": ["x", "y"]}, "Size": 90_000_000}, history((1, "ADD"), (5_000_000, "COPY")))
    compressed = {"RootFS": {"Layers": ["x"]}, "Size": 30_000_000}
    assert IMAGES_CHECK.layer_sizes(compressed, history((90_000_000, "ADD"))) == [("x", 90_000_000)]


# What others write


def test_the_generators_lists_are_what_is_checked(tmp_path: Path) -> None:
    libraries = json.loads((ROOT / "Deploy" / "sbom" / "packages.json").read_text())["debianLibraries"]["services"]
    (tmp_path / "status").write_text("\n".join(f"Package: {name}\nVersion: 1\nArchitecture: amd64\n" for name in libraries))
    (tmp_path / "executable").write_bytes(b"x")
    command = [sys.executable, str(ROOT / "Deploy/sbom/generate"), "--service", "signer", "--dpkg-status", "status", "--doc-root", "."]
    command += ["--swift-packages", str(ROOT / "Deploy/sbom/packages.json"), "--version", "0.2.0", "--commit", COMMIT]
    subprocess.run([*command, "--executable", "executable", "--out", "out"], cwd=tmp_path, check=True, timeout=60)
    sha256 = hashlib.sha256(b"x").hexdigest()
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.2.0", COMMIT, sha256) == []
    assert IMAGES_CHECK.sbom_faults("verifier", tmp_path / "out", "0.2.0", COMMIT, sha256) != []
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.3.0", COMMIT, sha256) != []
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.2.0", "f" * 40, sha256) != []
    assert IMAGES_CHECK.sbom_faults("signer", tmp_path / "out", "0.2.0", COMMIT, "f" * 64) != []


def test_the_dockerfile_has_what_is_released() -> None:
    text = (ROOT / "Deploy" / "Dockerfile").read_text()
    assert set(IMAGES) <= set(re.findall(r"(?m)^FROM \S+ AS (\S+)$", text))
    assert {"VERSION", "COMMIT", "CREATED", "EXECUTABLES"} <= set(re.findall(r"(?m)^ARG (\w+)", text))
    for name in SERVICES:
        assert f"/sbom/{name}.spdx.json /usr/share/sbom/" in text
    assert set(IMAGES_CHECK.SERVICES) | set(IMAGES_CHECK.OTHERS) == set(IMAGES)


def test_the_changelog_has_the_version_of_the_source() -> None:
    version = re.search(r'public static let version = "([^"]+)"', (ROOT / VERSION_FILE).read_text())
    assert version is not None
    headings = re.findall(r"(?m)^## \[([^\]]+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text())
    assert headings[0][0] == version.group(1)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d|Unreleased", date) for _, date in headings)
    assert "Unreleased" not in [date for _, date in headings[1:]], "only the newest version may be unreleased"
