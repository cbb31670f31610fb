"""The signer's commands that create keys."""

import subprocess

from SystemTests.support.signer_process import BINARY, SignerProcess

from .signer_keys import IMPRESSION, configuration, key, verifies


def test_keygen_creates_a_key_pair_that_signs_and_never_overwrites_a_file(tmp_path):
    path = tmp_path / "a.pem"
    made = subprocess.run([BINARY, "keygen", path], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert path.stat().st_mode & 0o777 == 0o600
    assert made.stdout.startswith("-----BEGIN PUBLIC KEY-----\n") and made.stdout.endswith("-----END PUBLIC KEY-----\n")
    assert "PRIVATE" not in made.stdout + made.stderr
    printed = subprocess.run([BINARY, "pubkey", path], capture_output=True, text=True, check=True)
    openssl = subprocess.run(["openssl", "ec", "-in", path, "-pubout"], capture_output=True, text=True, check=True)
    assert printed.stdout == made.stdout == openssl.stdout
    content = path.read_bytes()
    again = subprocess.run([BINARY, "keygen", path], capture_output=True, text=True, check=False)
    assert again.returncode != 0 and "exists" in again.stderr and path.read_bytes() == content
    with SignerProcess(tmp_path, configuration(key("a"))) as signer:
        status, answer = signer.rpc("SignSKAdNetworkImpression", IMPRESSION)
        assert status == 200 and verifies(answer, made.stdout)


def test_keygen_encrypts_a_key_with_a_passphrase_without_which_it_cannot_be_read(tmp_path):
    (tmp_path / "passphrase").write_text("correct horse\n")
    (tmp_path / "passphrase").chmod(0o400)
    made = subprocess.run([BINARY, "keygen", tmp_path / "a.pem", "--passphrase-file", tmp_path / "passphrase"],
                          capture_output=True, text=True, check=True)
    assert "ENCRYPTED" in (tmp_path / "a.pem").read_text()
    without = subprocess.run([BINARY, "pubkey", tmp_path / "a.pem"], capture_output=True, text=True, check=False)
    assert without.returncode != 0 and "passphrase" in without.stderr
    with SignerProcess(tmp_path, configuration(key("a", passphraseFile="passphrase"))) as signer:
        assert verifies(signer.rpc("SignSKAdNetworkImpression", IMPRESSION)[1], made.stdout)
