"""signer with a custom public suffix list, and without a list."""

import json

import pytest

from SystemTests.support.signer_process import SignerProcess, make_key

NETWORK = "adNetworks: [ { id: example123.skadnetwork, keys: [ { id: a, path: key.pem } ] } ]\n"
AD = {"version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029}


def sign(signer: SignerProcess, domain: str) -> tuple[int, dict]:
    return signer.rpc("SignSKAdNetworkWebImpression", {**AD, "sourceDomain": domain})


@pytest.fixture
def folder(tmp_path):
    make_key(tmp_path / "key.pem")
    return tmp_path


def test_a_configured_public_suffix_list_replaces_the_built_in_one(folder):
    (folder / "list.dat").write_text("// a list of tomorrow\ncom\nnewhost.com\n")
    with SignerProcess(folder, NETWORK + "webAds: { publicSuffixList: list.dat }\n") as signer:
        assert sign(signer, "site.newhost.com")[0] == 200
        status, refused = sign(signer, "newhost.com")
        assert status == 400 and "sourceDomain" in json.dumps(refused)
        # A name whose suffix is not in this list.
        assert sign(signer, "github.io")[0] == 200


def test_without_a_list_every_well_formed_name_is_signed(folder):
    with SignerProcess(folder, NETWORK + "webAds: { signing: form }\n") as signer:
        assert [sign(signer, domain)[0] for domain in ("shop.example.co.uk", "co.uk", "www.gov.uk", "co.uk.")] == [200, 200, 200, 400]


@pytest.mark.parametrize("content", [None, "", "<html>no list</html>\n"])
def test_signer_does_not_start_with_an_invalid_list(folder, content):
    if content is not None:
        (folder / "list.dat").write_text(content)
    code, words = SignerProcess(folder, NETWORK + "webAds: { publicSuffixList: list.dat }\n").end_of_start()
    assert code == 78 and "webAds.publicSuffixList" in words
