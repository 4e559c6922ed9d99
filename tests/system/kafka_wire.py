"""The few Kafka requests that a client library will not send: a record that carries no timestamp.

Client libraries stamp every record, some old or small producers do not. The batch is built by hand
and sent over a plain socket. Also the readiness question, which must not wait for anything.
"""

from __future__ import annotations

import dataclasses
import socket
import struct

NO_TIMESTAMP = -1

_PRODUCE, _METADATA = 0, 3
_PRODUCE_VERSION, _METADATA_VERSION = 8, 1  # the last versions before the compact encoding


@dataclasses.dataclass
class RawRecord:
    timestamp_ms: int
    value: bytes | None = b"v"
    key: bytes | None = None


def _crc32c_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC32C = _crc32c_table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC32C[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _varint(number: int) -> bytes:
    """Zigzag, then seven bits a byte, lowest first."""
    rest = (number << 1) ^ (number >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append((rest & 0x7F) | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _varint_bytes(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def record_batch(records: list[RawRecord]) -> bytes:
    """A version 2 record batch, uncompressed. All records without a timestamp, or none."""
    base = records[0].timestamp_ms
    body = b""
    for index, record in enumerate(records):
        fields = (
            b"\0"
            + _varint(record.timestamp_ms - base)
            + _varint(index)
            + _varint_bytes(record.key)
            + _varint_bytes(record.value)
            + _varint(0)
        )
        body += _varint(len(fields)) + fields
    newest = max(record.timestamp_ms for record in records)
    checked = struct.pack(
        ">hiqqqhii", 0, len(records) - 1, base, newest, -1, -1, -1, len(records)
    ) + body
    after_length = struct.pack(">ibI", -1, 2, crc32c(checked)) + checked
    return struct.pack(">qi", 0, len(after_length)) + after_length


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _ask(host: str, port: int, api: int, version: int, body: bytes, timeout: float) -> bytes:
    """The body of the answer."""
    request = struct.pack(">hhi", api, version, 1) + _string("system-tests") + body
    with socket.create_connection((host, port), timeout) as connection:
        connection.settimeout(timeout)
        connection.sendall(struct.pack(">i", len(request)) + request)
        (length,) = struct.unpack(">i", _receive(connection, 4))
        return _receive(connection, length)[4:]


def _receive(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        if not piece:
            raise ConnectionError("the broker closed the connection")
        data += piece
    return data


def nodes_known(host: str, port: int) -> int:
    """How many brokers this one names; 0 while it is still starting."""
    try:
        answer = _ask(host, port, _METADATA, _METADATA_VERSION, struct.pack(">i", 0), 2.0)
    except OSError:
        return 0
    (count,) = struct.unpack_from(">i", answer)
    return count


def produce(host: str, port: int, topic: str, partition: int, records: list[RawRecord]) -> int:
    """Appends the records as one batch through the partition's leader; the offset of the first."""
    batch = record_batch(records)
    body = (
        struct.pack(">hhi", -1, -1, 10_000)
        + struct.pack(">i", 1)
        + _string(topic)
        + struct.pack(">iii", 1, partition, len(batch))
        + batch
    )
    answer = _ask(host, port, _PRODUCE, _PRODUCE_VERSION, body, 10.0)
    # array of topics: name, array of partitions: index, error, base offset, …
    place = 4 + 2 + len(topic.encode()) + 4 + 4
    error, offset = struct.unpack_from(">hq", answer, place)
    if error != 0:
        raise RuntimeError(f"the broker refused the batch: topic={topic} error={error}")
    return offset
