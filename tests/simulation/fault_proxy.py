"""A proxy in front of the S3 server that spoils what is asked of some tables. Run as a process of its own:

    python fault_proxy.py UPSTREAM_PORT

prints "READY PORT"; then each line of its standard input is a JSON object of table to mode, which replaces the rules.
It ends when its input does.

| mode | what the client gets |
|---|---|
| 503 | SlowDown |
| slow | the right answer, 3 s late |
| silent | a connection that stays open and says nothing |
| cut | of a listing: the first half, then the end of the connection |
| torn | of a listing: the first half, as if it were the whole body |
| no_token | of a listing: IsTruncated says there is more, and no token how to get it |
| short | of a listing: IsTruncated says that this is all, and half of the entries are missing |
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

HOST = "127.0.0.1"
SLOW_SECONDS = 3.0
TABLE = re.compile(r"\b(t\d{3})\b")
ENTRY = re.compile(rb"<Contents>.*?</Contents>", re.DOTALL)
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
LISTING_MODES = ("cut", "torn", "no_token", "short")


def spoil_listing(mode: str, body: bytes) -> bytes:
    """The body that is sent instead; for "cut" only half of it will be."""
    if mode == "torn":
        return body[: len(body) // 2]
    if mode == "no_token":
        return body.replace(b"<IsTruncated>false<", b"<IsTruncated>true<")
    if mode == "short":
        entries = ENTRY.findall(body)
        for entry in entries[len(entries) // 2 :]:
            body = body.replace(entry, b"")
    return body


class Proxy:
    def __init__(self, upstream_port: int) -> None:
        self._upstream_port = upstream_port
        self._rules: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._serving: set[asyncio.Task] = set()  # the loop alone does not keep them

    def set_rules(self, rules: dict[str, str]) -> None:
        self._rules = rules
        self._changed.set()
        self._changed = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = None
        self._serving.add(asyncio.current_task())
        try:
            while head := await _read_head(reader):
                if upstream is None:
                    upstream = await asyncio.open_connection(HOST, self._upstream_port)
                body = await reader.readexactly(_length_of(head))
                if not await self._answer(head, body, upstream, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._serving.discard(asyncio.current_task())
            writer.close()
            if upstream:
                upstream[1].close()

    async def _answer(self, head: bytes, body: bytes, upstream: tuple, writer: asyncio.StreamWriter) -> bool:
        """False when the connection is to end."""
        request = head.split(b"\r\n", 1)[0].decode("latin-1")
        table = TABLE.search(request)
        mode = self._rules.get(table[1]) if table else None
        if mode == "503":
            writer.write(_response(b"HTTP/1.1 503 Slow Down", b"Content-Type: application/xml\r\n", SLOW_DOWN))
            await writer.drain()
            return True
        if mode == "silent":
            while self._rules.get(table[1]) == "silent":
                await self._changed.wait()
            return False
        if mode == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        upstream[1].write(head + body)
        status, headers, content = await _read_answer(upstream[0], is_head=request.startswith("HEAD"))
        is_listing = "list-type=2" in request
        if is_listing and mode in LISTING_MODES:
            content = spoil_listing(mode, content)
        answer = _response(status, headers, content)
        if is_listing and mode == "cut":
            writer.write(answer[: -len(content) // 2])
            await writer.drain()
            return False
        writer.write(answer)
        await writer.drain()
        return True


async def _read_head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def _length_of(head: bytes) -> int:
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return int(found[1]) if found else 0


async def _read_answer(reader: asyncio.StreamReader, is_head: bool) -> tuple[bytes, bytes, bytes]:
    """Status line, headers without those of the length, body."""
    head = await reader.readuntil(b"\r\n\r\n")
    status, _, rest = head.partition(b"\r\n")
    kept = [line for line in rest.split(b"\r\n") if line]
    is_chunked = any(line.lower().startswith(b"transfer-encoding: chunked") for line in kept)
    lengths = (b"content-length:", b"transfer-encoding:", b"connection:", b"keep-alive:")
    headers = b"".join(line + b"\r\n" for line in kept if not line.lower().startswith(lengths))
    if is_head or status.split(b" ")[1] in (b"204", b"304"):
        return status, headers, b""
    if not is_chunked:
        return status, headers, await reader.readexactly(_length_of(head))
    content = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        content += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return status, headers, content


def _response(status: bytes, headers: bytes, content: bytes) -> bytes:
    return status + b"\r\n" + headers + b"Content-Length: %d\r\n\r\n" % len(content) + content


async def main() -> None:
    proxy = Proxy(int(sys.argv[1]))
    server = await asyncio.start_server(proxy.serve, HOST, 0, limit=1 << 20)
    print("READY", server.sockets[0].getsockname()[1], flush=True)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
    )
    while line := await commands.readline():
        proxy.set_rules(json.loads(line))


if __name__ == "__main__":
    asyncio.run(main())
