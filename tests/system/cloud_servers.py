"""Servers of Azure's and Google's object stores. Nothing here is the program's own: requests to fill them are signed
by Microsoft's rules, written down once more."""

from __future__ import annotations

import base64
import contextlib
import email.utils
import hashlib
import hmac
import os
import pathlib
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator

from free_ports import free_ports

_START_SECONDS = 60
_ACCOUNT = "lakeaccount"
_KEY = base64.b64encode(b"a key of sixty-four bytes, as those of Azure are, for tests.....").decode()


@contextlib.contextmanager
def _process(command: list[str], port: int, folder: pathlib.Path, added: dict[str, str]) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **added}, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            end = time.monotonic() + _START_SECONDS
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < end, f"{command[0]} does not listen"
                time.sleep(0.1)
            yield
        finally:
            process.kill()
            process.wait()


def _send(request: urllib.request.Request, status: int) -> None:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
        assert answer.status == status, answer.read()


def _files(folder: pathlib.Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


class AzureServer:
    """Azurite with one container, "lake", of the account "lakeaccount"."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}/{_ACCOUNT}"
        self.key = _KEY
        self._put("/lake", {"restype": "container"}, {}, b"")

    @property
    def environment(self) -> dict[str, str]:
        return {"AZURE_STORAGE_BLOB_ENDPOINT": self.endpoint, "AZURE_STORAGE_KEY": _KEY}

    def upload(self, folder: pathlib.Path, prefix: str) -> str:
        for name, body in _files(folder):
            self.put(f"{prefix}/{name}", body)
        return f"abfss://lake@{_ACCOUNT}.dfs.core.windows.net/{prefix}"

    def put(self, name: str, body: bytes, metadata: dict[str, str] | None = None) -> None:
        headers = {f"x-ms-meta-{key}": value for key, value in (metadata or {}).items()}
        path = "/lake/" + urllib.parse.quote(name, safe="/")
        self._put(path, {}, {"x-ms-blob-type": "BlockBlob", **headers}, body)

    def _put(self, path: str, query: dict[str, str], headers: dict[str, str], body: bytes) -> None:
        headers = {
            **headers,
            "x-ms-date": email.utils.formatdate(usegmt=True),
            "x-ms-version": "2021-12-02",
        }
        length = str(len(body)) if body else ""
        fixed = ["PUT", "", "", length, "", "application/octet-stream", "", "", "", "", "", ""]
        lines = [f"{key}:{headers[key]}" for key in sorted(headers)]
        resource = f"/{_ACCOUNT}/{_ACCOUNT}{path}" + "".join(f"\n{k}:{v}" for k, v in sorted(query.items()))
        text = "\n".join([*fixed, *lines, resource])
        signature = hmac.new(base64.b64decode(_KEY), text.encode(), hashlib.sha256).digest()
        url = self.endpoint + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        request = urllib.request.Request(url, data=body, method="PUT", headers=headers)
        request.add_header("Content-Type", "application/octet-stream")
        request.add_header("Authorization", f"SharedKey {_ACCOUNT}:{base64.b64encode(signature).decode()}")
        _send(request, 201)


class GcsServer:
    """fake-gcs-server with one bucket, "lake"."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self._post("/storage/v1/b?project=tests", b'{"name":"lake"}', "application/json")

    @property
    def environment(self) -> dict[str, str]:
        return {"STORAGE_EMULATOR_HOST": self.endpoint}

    def upload(self, folder: pathlib.Path, prefix: str) -> str:
        for name, body in _files(folder):
            query = urllib.parse.urlencode({"uploadType": "media", "name": f"{prefix}/{name}"})
            self._post(f"/upload/storage/v1/b/lake/o?{query}", body, "application/octet-stream")
        return f"gs://lake/{prefix}"

    def _post(self, path: str, body: bytes, content_type: str) -> None:
        request = urllib.request.Request(self.endpoint + path, data=body, method="POST")
        request.add_header("Content-Type", content_type)
        _send(request, 200)


@contextlib.contextmanager
def azure_server(dependencies: pathlib.Path, folder: pathlib.Path) -> Iterator[AzureServer]:
    (port,) = free_ports(1)
    script = dependencies / "azurite-3.35.0/node_modules/azurite/dist/src/blob/main.js"
    command = [
        "node", str(script), "--blobHost=127.0.0.1", f"--blobPort={port}", "--inMemoryPersistence",
        "--disableTelemetry", "--silent",
    ]  # fmt: skip
    with _process(command, port, folder, {"AZURITE_ACCOUNTS": f"{_ACCOUNT}:{_KEY}"}):
        yield AzureServer(port)


@contextlib.contextmanager
def gcs_server(dependencies: pathlib.Path, folder: pathlib.Path) -> Iterator[GcsServer]:
    (port,) = free_ports(1)
    program = dependencies / "fake-gcs-server-1.54.0/fake-gcs-server"
    command = [
        str(program), "-backend=memory", "-scheme=http", "-host=127.0.0.1", f"-port={port}",
        "-log-level=error",
    ]  # fmt: skip
    with _process(command, port, folder, {}):
        yield GcsServer(port)
