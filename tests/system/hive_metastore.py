"""A Hive Metastore of the tests' own (4.0.1, Derby inside), on a free port of loopback; and what it says."""

from __future__ import annotations

import pathlib
import socket
import struct
import subprocess

from free_ports import free_ports
from waiting import wait_until

START_SECONDS_MAX = 120
_OPENED = ("java.lang", "java.net", "java.util", "java.util.concurrent", "java.nio")


class HiveMetastore:
    """Runs from construction until stop(). With the folder and the port of one that was stopped: the same again."""

    def __init__(self, dependencies: pathlib.Path, folder: pathlib.Path, port: int = 0) -> None:
        server = dependencies / "hive-metastore-4.0.1"
        assert (server / ".complete").is_file(), f"no {server}: run scripts/bootstrap --tests"
        folder.mkdir(exist_ok=True)
        settings = {
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/db;create=true",
            "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
            "metastore.warehouse.dir": f"file://{folder}/warehouse",
            "metastore.schema.verification": "false",
            "datanucleus.schema.autoCreateAll": "true",
            "metastore.thrift.bind.host": "127.0.0.1",
            "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
            "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
        }
        words = (f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items())
        (folder / "metastore-site.xml").write_text(f"<configuration>{''.join(words)}</configuration>")
        opened = [word for package in _OPENED for word in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")]
        self.port = port or free_ports(1)[0]
        self._log = folder / "log"
        self._process = subprocess.Popen(
            ["java", "-Xmx512m", *opened, "-cp", f"{folder}:{server}/hadoop/*:{server}/libs/*",
             "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(self.port)],
            cwd=folder, stdout=self._log.open("wb"), stderr=subprocess.STDOUT,
        )  # fmt: skip
        wait_until(self._is_ready, "the metastore", START_SECONDS_MAX, step=0.2)

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()[-4000:]
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def uri(self) -> str:
        return f"thrift://127.0.0.1:{self.port}"

    def partitions(self, database: str, table: str) -> list[str] | None:
        """Their names, ascending, by get_partition_names of hive_metastore.thrift in Thrift's binary protocol; None for
        an exception, as a table that it does not know is answered."""
        words = b"".join(struct.pack(">bhI", 11, number, len(text)) + text for number, text in
                         ((1, database.encode()), (2, table.encode())))  # fmt: skip
        arguments = words + struct.pack(">bhh", 6, 3, -1) + b"\0"
        name = b"get_partition_names"
        with socket.create_connection(("127.0.0.1", self.port), 30) as connection, connection.makefile("rb") as answer:
            connection.sendall(struct.pack(">II", 0x80010001, len(name)) + name + struct.pack(">I", 1) + arguments)
            _, length = struct.unpack(">II", answer.read(8))
            answer.read(length + 4)
            kind, field = struct.unpack(">bh", answer.read(3))
            if (kind, field) != (15, 0):
                return None
            _, count = struct.unpack(">bI", answer.read(5))
            return sorted(answer.read(struct.unpack(">I", answer.read(4))[0]).decode() for _ in range(count))

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
