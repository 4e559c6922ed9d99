"""A real S3 API server (moto) that checks signatures and permissions, and a proxy that spoils it."""

from __future__ import annotations

import dataclasses
import http.client
import http.server
import json
import logging
import pathlib
import threading
from collections.abc import Callable

import boto3
import moto.settings
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line a request otherwise

HOST = "127.0.0.1"
REGION = "eu-west-1"
BUCKET = "lake"


@dataclasses.dataclass(frozen=True)
class Credentials:
    key_id: str
    secret: str
    token: str | None = None  # of temporary ones

    def environment(self) -> dict[str, str]:
        found = {"AWS_ACCESS_KEY_ID": self.key_id, "AWS_SECRET_ACCESS_KEY": self.secret}
        return {**found, "AWS_SESSION_TOKEN": self.token} if self.token else found


class S3Server:
    """One bucket and its queues, one user who may do everything with them and one who may do nothing. moto keeps its
    state per process, so there is one of these."""

    def __init__(self) -> None:
        moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")  # until the users are there
        self._server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
        self._server.start()
        self.host, self.port = self._server.get_host_and_port()
        self.endpoint = f"http://{self.host}:{self.port}"
        anybody = Credentials("any", "any")
        self._client("s3", anybody).create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        iam = self._client("iam", anybody)
        self.reader = self._make_user(iam, "reader", ["s3:*", "sqs:*", "sts:AssumeRole"])
        self.stranger = self._make_user(iam, "stranger", ["iam:GetUser"])
        self.role, self.session = self._assume_role(iam, anybody)
        moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
        self._s3 = self._client("s3", self.reader)

    def stop(self) -> None:
        self._server.stop()

    def environment(self, credentials: Credentials | None = None) -> dict[str, str]:
        """What a program needs to find the server and be let in."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": REGION,
            **(credentials or self.reader).environment(),
        }

    def upload(self, folder: pathlib.Path, prefix: str) -> str:
        """Every file below the folder; the table's URI."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = f"{prefix}/{path.relative_to(folder).as_posix()}"
                self._s3.put_object(Bucket=BUCKET, Key=name, Body=path.read_bytes())
        return f"s3://{BUCKET}/{prefix}"

    def tell(self, queue: str) -> str:
        """What comes about in the bucket is told to a new queue from now on, and no more to others;
        its URL."""
        sqs = self._client("sqs", self.reader)
        url = sqs.create_queue(QueueName=queue)["QueueUrl"]
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        rule = {"QueueArn": found["Attributes"]["QueueArn"], "Events": ["s3:ObjectCreated:*"]}
        self._s3.put_bucket_notification_configuration(
            Bucket=BUCKET, NotificationConfiguration={"QueueConfigurations": [rule]}
        )
        return url

    def count_messages(self, url: str) -> int:
        """Those that wait, and those that were received and are not deleted."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self._client("sqs", self.reader).get_queue_attributes(QueueUrl=url, AttributeNames=names)
        return sum(int(found["Attributes"][name]) for name in names)

    def put(self, name: str, body: bytes) -> None:
        self._s3.put_object(Bucket=BUCKET, Key=name, Body=body)

    def names(self) -> list[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return [each["Key"] for page in pages for each in page.get("Contents", [])]

    def _assume_role(self, iam, credentials: Credentials) -> tuple[str, Credentials]:
        anyone = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
        trust = json.dumps({"Version": "2012-10-17", "Statement": [anyone]})
        role = iam.create_role(RoleName="reading", AssumeRolePolicyDocument=trust)["Role"]
        iam.put_role_policy(RoleName="reading", PolicyName="all", PolicyDocument=_policy(["s3:*"]))
        given = self._client("sts", credentials).assume_role(
            RoleArn=role["Arn"], RoleSessionName="tests"
        )["Credentials"]
        return role["Arn"], Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])

    def _client(self, service: str, credentials: Credentials):
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=credentials.key_id,
            aws_secret_access_key=credentials.secret,
        )

    def _make_user(self, iam, name: str, actions: list[str]) -> Credentials:
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=_policy(actions))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return Credentials(key["AccessKeyId"], key["SecretAccessKey"])


def _policy(actions: list[str]) -> str:
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


class FaultProxy:
    """Passes requests on to the server, except those its rule spoils. Also counts them.

    `rule` is given the number of the request, from 1, and its path; it returns None to pass the
    request on or a status to answer instead.
    """

    def __init__(
        self,
        server: S3Server,
        rule: Callable[[int, str], int | None],
        delay_seconds: float = 0.0,
    ) -> None:
        self._rule = rule
        self._delay_seconds = delay_seconds
        self._target = (server.host, server.port)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.requests: list[str] = []
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                proxy._answer(self)

            do_HEAD = do_PUT = do_POST = do_DELETE = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._listener = http.server.ThreadingHTTPServer((HOST, 0), Handler)
        self._listener.daemon_threads = True
        self.endpoint = f"http://{HOST}:{self._listener.server_address[1]}"
        self._thread = threading.Thread(target=self._listener.serve_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> FaultProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()

    def _answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.requests.append(handler.path)
            number = len(self.requests)
        status = self._rule(number, handler.path)
        if self._delay_seconds:
            self._closing.wait(self._delay_seconds)
        if status is not None:
            code = b"PermanentRedirect" if status < 400 else b"SlowDown"
            body = b"<Error><Code>%b</Code><Message>Not here or not now</Message></Error>" % code
            handler.send_response(status)
            handler.send_header("Content-Type", "application/xml")
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        self._pass_on(handler)

    def _pass_on(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(length)
        upstream = http.client.HTTPConnection(*self._target, timeout=30)
        try:
            # The signature covers the Host header, so everything is passed as it came.
            upstream.putrequest(
                handler.command, handler.path, skip_host=True, skip_accept_encoding=True
            )
            for name, word in handler.headers.items():
                upstream.putheader(name, word)
            upstream.endheaders(body)
            answer = upstream.getresponse()
            content = answer.read()
        finally:
            upstream.close()
        handler.send_response(answer.status)
        for name, word in answer.getheaders():
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                handler.send_header(name, word)
        told = answer.getheader("Content-Length") if handler.command == "HEAD" else None
        handler.send_header("Content-Length", told or str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
