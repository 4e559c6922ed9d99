"""Throw-away certificates, made with the openssl program."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess


@dataclasses.dataclass
class Authority:
    """Files in PEM."""

    certificate: pathlib.Path
    key: pathlib.Path


def _openssl(*arguments: object) -> None:
    command = ["openssl", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl did not work: {' '.join(command)}\n{done.stderr}")


def make_authority(folder: pathlib.Path, name: str) -> Authority:
    made = Authority(folder / f"{name}.crt", folder / f"{name}.key")
    _openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", 30, "-subj", f"/CN={name}", "-keyout", made.key, "-out", made.certificate,
    )  # fmt: skip
    return made


def make_server_keystore(folder: pathlib.Path, authority: Authority, address: str) -> pathlib.Path:
    """Key and certificate in one file, as the broker wants them; valid for the IP address."""
    name = f"server-{address}"
    key, request, certificate, extensions, keystore = (
        folder / f"{name}.{end}" for end in ("key", "csr", "crt", "ext", "pem")
    )
    extensions.write_text(f"subjectAltName=IP:{address}\n")
    _openssl(
        "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-subj", "/CN=broker", "-keyout", key, "-out", request,
    )  # fmt: skip
    _openssl(
        "x509", "-req", "-in", request, "-CA", authority.certificate, "-CAkey", authority.key,
        "-CAcreateserial", "-days", 30, "-extfile", extensions, "-out", certificate,
    )  # fmt: skip
    keystore.write_text(key.read_text() + certificate.read_text())
    return keystore
