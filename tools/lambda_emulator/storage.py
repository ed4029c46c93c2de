"""An S3 server on this machine (moto's), in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.error import URLError
from urllib.request import Request, urlopen

from lambda_emulator.sandbox import free_ports

START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 5.0
BUCKET: Final = "knowledge"
REGION: Final = "us-east-1"


class StorageError(RuntimeError):
    """The S3 server did not start."""


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Run a server with one empty bucket; the settings that lead AWS libraries to it. It is gone afterwards."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - ours
    try:
        _make_bucket(f"http://127.0.0.1:{port}/{BUCKET}")
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
        }
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def _make_bucket(url: str) -> None:
    request = Request(url, method="PUT", headers={"Authorization": f"AWS4-HMAC-SHA256 Credential=x/1/{REGION}/s3/x"})  # noqa: S310 - http, on this machine
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            urlopen(request, timeout=5).close()  # noqa: S310 - as above
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return
    raise StorageError("the S3 server did not start")
