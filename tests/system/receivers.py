"""Where a daemon sends its values: real receivers as children, and servers that keep what they get."""

from __future__ import annotations

import contextlib
import http.server
import json
import pathlib
import re
import socket
import ssl
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator

from prometheus_client.parser import text_string_to_metric_families

from free_ports import free_ports
from waiting import wait_until

START_SECONDS_MAX = 60


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def samples_of(text: str) -> dict[tuple[str, str], float]:
    """Of Prometheus' text, by name and pipeline; of a series with more labels, the last."""
    return {
        (sample.name, sample.labels.get("pipeline", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@contextlib.contextmanager
def running(command: Callable[[int], list[str]], folder: pathlib.Path, ready: str) -> Iterator[str]:
    """A server on a free port, as its URL, once GET `ready` is answered. `command` is asked for the
    words with a port; another one when somebody was quicker."""
    for attempt in range(5):
        (port,) = free_ports(1)
        log = folder / f"receiver-{attempt}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command(port), stdout=output, stderr=subprocess.STDOUT, cwd=folder
            )
        url = f"http://127.0.0.1:{port}"

        def answers() -> bool:
            if process.poll() is not None:
                return True
            try:
                fetch(url + ready)
                return True
            except OSError:
                return False

        try:
            wait_until(answers, f"the receiver: {log.read_text()}", START_SECONDS_MAX)
            if process.poll() is None:
                yield url
                return
        finally:
            process.kill()
            process.wait()
    raise AssertionError(f"the receiver ended: {log.read_text()}")


def pushgateway(dependencies: pathlib.Path, folder: pathlib.Path):
    program = str(dependencies / "prometheus-receivers-1.5/prometheus-pushgateway")
    return running(
        lambda port: [program, f"--web.listen-address=127.0.0.1:{port}", "--web.enable-admin-api"],
        folder,
        "/-/ready",
    )


def node_exporter(dependencies: pathlib.Path, folder: pathlib.Path, collected: pathlib.Path):
    program = str(dependencies / "prometheus-receivers-1.5/prometheus-node-exporter")
    return running(
        lambda port: [
            program,
            f"--web.listen-address=127.0.0.1:{port}",
            "--collector.disable-defaults",
            "--collector.textfile",
            f"--collector.textfile.directory={collected}",
        ],
        folder,
        "/metrics",
    )


def prometheus(dependencies: pathlib.Path, folder: pathlib.Path, target: str):
    """Scrapes http://`target`/metrics once a second."""
    config = folder / "prometheus.yml"
    config.write_text(
        "global: { scrape_interval: 1s }\n"
        f"scrape_configs: [ {{ job_name: t, static_configs: [ {{ targets: [ '{target}' ] }} ] }} ]\n"
    )
    program = str(dependencies / "prometheus-2.42.0/prometheus")
    return running(
        lambda port: [
            program,
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        folder,
        "/-/ready",
    )


def query(url: str, expression: str) -> list[dict]:
    """The result of an instant query of Prometheus."""
    answer = json.loads(fetch(f"{url}/api/v1/query?query={urllib.parse.quote(expression)}"))
    assert answer["status"] == "success", answer
    return answer["data"]["result"]


class Hook:
    """An HTTP server that keeps every request. `status` is what it answers; None: nothing at all, for
    as long as the test runs."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.status: int | None = 200
        self.answer = b""
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self._ends = threading.Event()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                headers = {name.lower(): value for name, value in self.headers.items()}
                hook.requests.append((self.command, self.path, headers, body))
                status = hook.status
                if status is None:
                    hook._ends.wait()
                    return
                self.send_response(status)
                self.send_header("Content-Length", str(len(hook.answer)))
                self.end_headers()
                self.wfile.write(hook.answer)

            do_PUT = do_POST
            do_DELETE = do_POST
            do_GET = do_POST

            def do_HEAD(self) -> None:
                hook.requests.append((self.command, self.path, dict(self.headers), b""))
                self.send_response(hook.status or 200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            # Shakes hands when it reads first, in the thread of the connection.
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._server.shutdown()
        self._server.server_close()

    def bodies(self) -> list[dict]:
        return [json.loads(body) for _, _, _, body in self.requests]


@contextlib.contextmanager
def statsd_exporter(program: pathlib.Path, folder: pathlib.Path) -> Iterator[tuple[str, int]]:
    """Its URL and the UDP port it listens on."""
    with contextlib.ExitStack() as stack:
        probe = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        probe.bind(("127.0.0.1", 0))
        udp = probe.getsockname()[1]
    with running(
        lambda port: [
            str(program),
            f"--web.listen-address=127.0.0.1:{port}",
            f"--statsd.listen-udp=127.0.0.1:{udp}",
            "--statsd.listen-tcp=",
        ],
        folder,
        "/metrics",
    ) as url:
        yield url, udp


@contextlib.contextmanager
def statsd_server(
    folder_of_packages: pathlib.Path, folder: pathlib.Path
) -> Iterator[tuple[Callable[[], dict[str, float]], int]]:
    """StatsD's own server: what asks it for its gauges, and the UDP port it listens on."""
    for attempt in range(5):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            udp = probe.getsockname()[1]
        (tcp,) = free_ports(1)
        config = folder / "statsd.js"
        config.write_text(
            f'{{ port: {udp}, address: "127.0.0.1", mgmt_port: {tcp}, mgmt_address: "127.0.0.1",\n'
            '  backends: ["./backends/console"] }\n'
        )
        log = folder / f"statsd-{attempt}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["node", folder_of_packages / "node_modules/statsd/stats.js", config],
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder_of_packages / "node_modules/statsd",
            )

        def gauges() -> dict[str, float]:
            with socket.create_connection(("127.0.0.1", tcp), timeout=30) as asking:
                asking.sendall(b"gauges\n")
                text = b""
                while not text.endswith(b"END\n\n"):
                    piece = asking.recv(65536)
                    assert piece, text
                    text += piece
            # An object as JavaScript prints it.
            pairs = re.findall(r"'([^']+)': ([-+.e0-9]+)", text.decode())
            return {name: float(value) for name, value in pairs}

        def answers() -> bool:
            if process.poll() is not None:
                return True
            try:
                gauges()
                return True
            except OSError:
                return False

        try:
            wait_until(answers, f"StatsD: {log.read_text()}", START_SECONDS_MAX)
            if process.poll() is None:
                yield gauges, udp
                return
        finally:
            process.kill()
            process.wait()
    raise AssertionError(f"StatsD ended: {log.read_text()}")
