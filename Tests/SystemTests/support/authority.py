"""Certificates for one test, created with the openssl command."""

import pathlib
import subprocess
import uuid


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Authority:
    """A certificate authority for one test."""

    def __init__(self, folder: pathlib.Path, name: str) -> None:
        self.folder, self.certificate, self.key = folder, folder / f"{name}.pem", folder / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", f"/CN={name}",
                "-keyout", str(self.key), "-out", str(self.certificate))

    def issue(self, name: str, alternative: str, certificate: pathlib.Path | None = None, key: pathlib.Path | None = None,
              days: int = 10) -> tuple[pathlib.Path, pathlib.Path]:
        certificate, key = certificate or self.folder / f"{name}.pem", key or self.folder / f"{name}.key"
        fresh = self.folder / uuid.uuid4().hex
        request, extension = fresh.with_suffix(".csr"), fresh.with_suffix(".ext")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", str(fresh.with_suffix(".key")), "-out", str(request))
        extension.write_text(f"subjectAltName={alternative}\n")
        openssl("x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(self.key), "-days", str(days),
                "-extfile", str(extension), "-out", str(fresh.with_suffix(".pem")))
        fresh.with_suffix(".key").chmod(0o600)
        fresh.with_suffix(".key").rename(key)
        fresh.with_suffix(".pem").rename(certificate)
        return certificate, key
