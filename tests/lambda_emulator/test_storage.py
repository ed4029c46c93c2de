"""The S3 server beside the emulated function."""

from __future__ import annotations

from urllib.error import URLError
from urllib.request import urlopen

import pytest

from lambda_emulator.storage import BUCKET, s3_server


def test_the_s3_server_has_one_empty_bucket_and_ends() -> None:
    with s3_server() as settings:
        bucket = f"{settings['AWS_ENDPOINT_URL']}/{BUCKET}"
        with urlopen(bucket, timeout=10) as listed:  # noqa: S310 - http, on this machine
            body = listed.read()
    assert b"<Name>knowledge</Name>" in body
    assert b"<Contents>" not in body
    with pytest.raises(URLError, match="refused"):
        urlopen(bucket, timeout=10)  # noqa: S310 - as above
