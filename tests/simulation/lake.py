"""Where the tables lie: an S3 server (s3rver) behind the fault proxy, or a local folder; and Hudi timelines in it."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

import boto3
from botocore.config import Config

from fleet import BUCKETS, Plan
from free_ports import free_ports
from hudi_table import Commit, commit_files, properties_file
from waiting import wait_until

HOST = "127.0.0.1"
REGION = "eu-west-1"
KEY_ID = SECRET = "S3RVER"  # the keys it is built with
START_SECONDS_MAX = 60
INSTANTS_KEPT = 8  # older ones are taken off the timeline, as Hudi's archiving does


class S3:
    """s3rver and the proxy, each a process. Writers go to the server itself, the daemon through the proxy."""

    def __init__(self, dependencies: pathlib.Path, folder: pathlib.Path) -> None:
        script = dependencies / "s3rver-3.7.1/node_modules/s3rver/bin/s3rver.js"
        assert script.is_file(), f"no {script}: run scripts/bootstrap --tests"
        (port,) = free_ports(1)
        command = ["node", script, f"--directory={folder}", f"--address={HOST}", f"--port={port}"]
        command += ["--no-vhost-buckets", "--silent"]
        for number in range(BUCKETS):
            command += ["--configure-bucket", f"lake{number}"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._server = subprocess.Popen(command, **quiet)
        self._client = boto3.client(
            "s3",
            endpoint_url=f"http://{HOST}:{port}",
            region_name=REGION,
            aws_access_key_id=KEY_ID,
            aws_secret_access_key=SECRET,
            config=Config(
                max_pool_connections=16,
                read_timeout=30,
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
            ),
        )
        wait_until(self._answers, "s3rver to answer", START_SECONDS_MAX, step=0.2)
        self._proxy = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("fault_proxy.py"), str(port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        ready = self._proxy.stdout.readline().split()
        self.endpoint = f"http://{HOST}:{ready[1]}"

    def _answers(self) -> bool:
        assert self._server.poll() is None, "s3rver ended"
        try:
            self._client.list_buckets()
            return True
        except Exception:  # noqa: BLE001 - whatever it is, it is not there yet
            return False

    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION}

    def put(self, bucket: str, key: str, body: bytes) -> None:
        self._client.put_object(Bucket=bucket, Key=key, Body=body)

    def delete(self, bucket: str, keys: Sequence[str]) -> None:
        for key in keys:
            self._client.delete_object(Bucket=bucket, Key=key)

    def spoil(self, rules: Mapping[str, str]) -> None:
        """Table to mode (fault_proxy.py); replaces the rules before."""
        self._proxy.stdin.write(json.dumps(dict(rules)) + "\n")
        self._proxy.stdin.flush()

    def stop(self) -> None:
        for process in (self._proxy, self._server):
            process.kill()
            process.wait()


class TableWriter:
    """One table. One thread at a time."""

    def __init__(self, plan: Plan, s3: S3, folder: pathlib.Path) -> None:
        self._s3 = s3
        self._bucket = plan.bucket
        self._name = plan.name
        self._folder = folder / plan.name
        self._instants: list[tuple[bool, list[str]]] = []  # has a checkpoint, names of its files; oldest first
        self._last_ms = 0
        self.uri = f"s3://{plan.bucket}/{plan.name}" if plan.bucket else str(self._folder)
        zone = b"hoodie.table.timeline.timezone=UTC\n"
        self._put("hoodie.properties", properties_file("COPY_ON_WRITE", plan.name) + zone)

    def commit(self, checkpoint: str | None) -> tuple[str, float, float]:
        """The instant, and the moments between which it came to be seen."""
        self._last_ms = max(self._last_ms + 1, int(time.time() * 1000))
        seconds, millis = divmod(self._last_ms, 1000)
        instant = time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds)) + f"{millis:03d}"
        files = commit_files(Commit(checkpoint), instant)
        *before, (last, body) = files
        for name, content in before:
            self._put(name, content)
        asked = time.time()
        self._put(last, body)
        done = time.time()
        self._instants.append((checkpoint is not None, [name for name, _ in files]))
        while len(self._instants) > INSTANTS_KEPT and any(has for has, _ in self._instants[1:]):
            self._delete(self._instants.pop(0)[1])
        return instant, asked, done

    def _put(self, name: str, body: bytes) -> None:
        if self._bucket:
            self._s3.put(self._bucket, f"{self._name}/.hoodie/{name}", body)
            return
        meta = self._folder / ".hoodie"
        meta.mkdir(parents=True, exist_ok=True)
        # Whole or not at all, as on any store that Hudi trusts.
        unfinished = self._folder / "unfinished"
        unfinished.write_bytes(body)
        os.replace(unfinished, meta / name)

    def _delete(self, names: Sequence[str]) -> None:
        if self._bucket:
            self._s3.delete(self._bucket, [f"{self._name}/.hoodie/{name}" for name in reversed(names)])
            return
        for name in reversed(names):
            (self._folder / ".hoodie" / name).unlink()
