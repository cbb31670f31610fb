"""Usage of attributionctl: profiles, exit codes, terminals, completion, checks of a configuration."""

import json
import os
import pty
import select
import signal
import stat
import subprocess

import pytest

from .command import EXECUTABLE, ctl, ctl_json, environment
from .steps import GENUINE


def on_terminal(system, *words, **more: str) -> tuple[int, str]:
    """A command whose streams are a terminal: its exit code, and the output on the terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(EXECUTABLE, [str(EXECUTABLE), *map(str, words)], {"TERM": "xterm", **environment(system, **more)})
    text = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode()


# --- usage -----------------------------------------------------------------------------------------------------------------------

def test_flags_override_the_environment_both_override_profiles_and_no_profile_shows_its_token(system, tmp_path):
    own = {"ATTRIBUTIONCTL_PROFILES": str(tmp_path / "folder" / "profiles.yaml")}
    address = system.url("Verifier")
    assert ctl(system, "profiles", **own).stderr.startswith("There is no profile")
    done = ctl(system, "profiles", "set", "one", "--url", f"verifier={address}", "--token-file", system.data / "token", **own)
    assert done.returncode == 0, done
    assert stat.S_IMODE((tmp_path / "folder" / "profiles.yaml").stat().st_mode) == 0o600
    assert ctl(system, "queues", **own).returncode == 0
    kept = ctl(system, "profiles", "set", "two", "--url", "verifier=http://127.0.0.1:1", "--token-stdin", stdin="a-secret-token", **own)
    assert kept.returncode == 0 and "a-secret-token" not in kept.stdout + kept.stderr
    assert "a-secret-token" in (tmp_path / "folder" / "profiles.yaml").read_text()
    for words in (["list"], ["show", "--profile", "two"]):
        for output in ("table", "json", "yaml"):
            assert "a-secret-token" not in ctl(system, "profiles", *words, "-o", output, **own).stdout
    away = ctl(system, "queues", "--profile", "two", **own)
    assert away.returncode == 69 and "127.0.0.1:1" in away.stderr and "doctor" in away.stderr, away
    # The environment overrides the profile, flags override both.
    assert (
        ctl(system, "queues", ATTRIBUTIONCTL_PROFILE="two", ATTRIBUTIONCTL_VERIFIER_URL=address, ATTRIBUTIONCTL_TOKEN=system.token, **own).returncode
        == 0
    )
    assert ctl(system, "queues", "--url", "verifier=http://127.0.0.1:1", **own).returncode == 69
    before = (tmp_path / "folder" / "profiles.yaml").read_text()
    for word in ("use", "remove"):
        assert ctl(system, "profiles", word, "two", "--dry-run", **own).stdout.startswith("would be")
        assert (tmp_path / "folder" / "profiles.yaml").read_text() == before
    assert ctl(system, "profiles", "use", "two", **own).returncode == 0
    assert ctl(system, "queues", **own).returncode == 69
    near = ctl(system, "queues", "--profile", "tvo", **own)
    assert near.returncode == 78 and "Did you mean two?" in near.stderr, near
    assert ctl(system, "profiles", "remove", "two", **own).returncode == 0
    (tmp_path / "folder" / "profiles.yaml").chmod(0o644)
    open_file = ctl(system, "queues", **own)
    assert open_file.returncode == 78 and "others may read" in open_file.stderr and "chmod 600" in open_file.stderr, open_file


def test_each_kind_of_failure_has_its_exit_code(system, tmp_path):
    (tmp_path / "token").write_text("a token of nobody")
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "open").write_text("0123456789abcdef")
    (tmp_path / "open").chmod(0o644)
    (tmp_path / "nobody").write_text("nobody-at-all")
    (tmp_path / "nobody").chmod(0o600)
    refused = ctl(system, "queues", "--token-file", tmp_path / "nobody")
    assert refused.returncode == 77 and "does not know this token" in refused.stderr, refused
    assert "nobody-at-all" not in refused.stdout + refused.stderr
    assert ctl(system, "queues", "--token-file", tmp_path / "open").returncode == 78
    assert ctl(system, "queues", "--token-file", tmp_path / "none").returncode == 78
    # Another service at the address.
    other = ctl(system, "queues", "--url", f"verifier={system.url('Signer')}")
    assert other.returncode == 70 and "does not know this method" in other.stderr, other
    assert ctl(system, "queues", "pause", "inbox").returncode == 64
    assert ctl(system, "nothing").returncode == 64
    assert ctl(system, "queues", "--url", "verifier=nowhere").returncode == 64
    assert ctl(system, "queues", ATTRIBUTIONCTL_OUTPUT="xml").returncode == 78
    assert ctl(system, "--help").returncode == 0 and ctl(system, "--version").stdout.startswith("attributionctl ")


def test_colours_and_progress_are_shown_only_on_a_terminal(system):
    code, text = on_terminal(system, "queues")
    assert code == 0 and "\x1b[32mworking" in text, text
    assert "\x1b" not in on_terminal(system, "queues", NO_COLOR="1")[1]
    assert "\x1b" not in on_terminal(system, "queues", TERM="dumb")[1]
    assert "\x1b" not in ctl(system, "queues").stdout
    many = json.dumps(json.loads(GENUINE.read_text())) + "\n"
    path = system.data / "many.jsonl"
    path.write_text(many * 400)
    code, text = on_terminal(system, "verify", path, "--brief", "-o", "json")
    assert code == 0 and "/400 inputs" in text and "[#" in text, text[:300]
    done = ctl(system, "verify", path, "--brief", "-o", "json")
    assert done.stderr == "", done.stderr[:300]
    path.unlink()


# The typed text, and the completions that the shell must offer.
TYPED = [
    ("dead-letters re", {"replay"}), ("queues pause in", {"intake"}), ("queues list --profile lo", {"local"}), ("profiles use lo", {"local"}),
    ("dead-letters list --queue se", {"sessions"}), ("recover start --environment Sa", {"Sandbox"}), ("config check --only sig", {"signer"}),
    ("events export --format cs", {"csv"}), ("events tail --type attribution.web", set()),
]


def completed_by_bash(script: str, typed: str) -> str:
    return script + f"""
COMP_WORDS=(attributionctl {typed}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); COMP_LINE="attributionctl {typed}"; COMP_POINT=${{#COMP_LINE}}
_attributionctl attributionctl "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"; printf '%s\\n' "${{COMPREPLY[@]}}" END
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_completes_commands_options_and_values(system, shell, tmp_path):
    """Asks each real shell, with the completion script, for the completions of the typed text."""
    script = subprocess.run([EXECUTABLE, "--generate-completion-script", shell], capture_output=True, text=True, timeout=60, check=False)
    assert script.returncode == 0 and "dead-letters" in script.stdout
    own = {**environment(system), "PATH": f"{EXECUTABLE.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "ZDOTDIR": str(tmp_path)}
    if shell == "bash":
        for typed, offered in TYPED:
            found = subprocess.run(
                ["bash"], input=completed_by_bash(script.stdout, typed), text=True, capture_output=True, env=own, timeout=60, check=False
            )
            assert set(found.stdout.split()) - {"END"} == offered and "END" in found.stdout, (typed, found)
        return
    # The other shells complete only at a terminal. Ctrl-G makes them print the current line.
    line = tmp_path / "line"
    if shell == "zsh":
        (tmp_path / "_attributionctl").write_text(script.stdout)
        (tmp_path / ".zshrc").write_text(
            "fpath=($ZDOTDIR $fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; "
            f"tell() {{ print -r -- $BUFFER > {line}.new; mv {line}.new {line} }}; zle -N tell; bindkey '^G' tell\n")
        command = ["zsh", "-d", "-i"]
    else:
        folder = tmp_path / ".config" / "fish" / "completions"
        folder.mkdir(parents=True)
        (folder / "attributionctl.fish").write_text(script.stdout)
        # Without this folder, fish reads all manual pages at its first start.
        (tmp_path / ".local" / "share" / "fish" / "generated_completions").mkdir(parents=True)
        command = ["fish", "--private", "-C", f"bind \\cg 'commandline > {line}.new; mv {line}.new {line}'"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, {**own, "TERM": "xterm"})
    output = b""

    def line_after(keys: str) -> str:
        """The line after the keys were processed; the terminal is read meanwhile, so that the shell can write."""
        nonlocal output
        line.unlink(missing_ok=True)
        os.write(terminal, keys.encode() + b"\x07")
        for _ in range(600):
            if line.exists():
                return line.read_text().strip()
            if select.select([terminal], [], [], 0.1)[0]:
                output += os.read(terminal, 65536)
        raise AssertionError((shell, keys, output[-1000:]))

    try:
        for typed, offered in TYPED:
            words = typed.rsplit(" ", 1)
            completed = " ".join(["attributionctl", words[0], *(offered or {words[1]})])
            assert line_after(f"\x15attributionctl {typed}\t") == completed, output[-1000:]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


# --- configuration -------------------------------------------------------------------------------------------------------------

def test_config_check_reports_every_fault_of_a_configuration_with_its_line(system, tmp_path):
    right = ctl(None, "config", "check", system.data / "configuration.yaml")
    assert right.returncode == 0 and "no mistake" in right.stdout and right.stderr == "", right
    path = tmp_path / "configuration.yaml"

    def check(text: str, *words, code: int = 78) -> list[dict]:
        path.write_text(text)
        return ctl_json(None, "config", "check", path, *words, code=code)["problems"]

    [one] = check("queues:\n  lease: 0s\n")
    assert (one["line"], one["column"], one["place"], one["level"]) == (2, 10, "queues.lease", "error")
    # All faults, of the file and of single services.
    several = check("queues:\n  lease: 0s\nadServices:\n  timeout: 50s\nappStore:\n  rootCertificates: [none.pem]\n  gapPatience: x\n")
    assert [(one["line"], one["place"].removesuffix("[0]")) for one in several] == [
        (2, "queues.lease"), (4, "adServices.timeout"), (6, "appStore.rootCertificates"), (7, "appStore.gapPatience")], several
    [one] = check("queues:\n  lease: [\n")
    assert one["line"] == 3 and "YAML" in one["reason"], one
    unknown = check("queues:\n  leese: 30s\nadNetwork: []\n", code=0)
    assert [(one["line"], one["suggestion"], one["level"]) for one in unknown] == [(2, "lease", "warning"), (3, "adNetworks", "warning")]
    check("queues:\n  leese: 30s\n", "--strict")
    # Faults that single services find: signer a missing key, ingest a strategy, the broker a contradiction, verifier a root.
    for text, key, line in (
            ("adNetworks:\n  - id: a.skadnetwork\n    keys:\n      - { id: k, path: none.pem, state: active }\n", "adNetworks[0].keys[0]", 4),
            ("apps:\n  - bundleId: a\n    environments: [Sandbox]\n    consentRouting: { strategy: other }\n", "apps[0].consentRouting.strategy", 4),
            ("adServices:\n  timeout: 50s\n", "adServices.timeout", 2),
            ("appStore:\n  rootCertificates: [none.pem]\n", "appStore.rootCertificates", 2),
            ("recovery:\n  rates: { nothing: 1 }\n", "recovery.rates.nothing", 2)):
        found = check(text)
        assert found and all(one["line"] == line and one["place"].startswith(key) for one in found), (text, found)
    assert check("adServices:\n  timeout: 50s\n", "--only", "signer", code=0) == []
    shown = ctl(None, "config", "check", path)
    assert shown.stdout.startswith(f"{path}:2:12: error: adServices.timeout: "), shown
    assert ctl(None, "config", "check", tmp_path / "none").returncode == 66
    alone = ctl(None, "config", "check", system.data / "configuration.yaml", "--executables", tmp_path)
    assert alone.returncode == 0 and "not checked" in alone.stderr, alone
