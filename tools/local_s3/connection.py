"""How clients reach a server of this package: as LanceDB's storage options, and as AWS variables of a process."""

from __future__ import annotations

from typing import Final

REGION: Final = "eu-west-1"
KEY: Final = "testing"
"""Access key and secret alike: neither server checks a signature."""


def storage_options(endpoint: str) -> dict[str, str]:
    """LanceDB's storage options for a server at `http://…`."""
    return {
        "endpoint": endpoint,
        "allow_http": "true",
        "region": REGION,
        "aws_access_key_id": KEY,
        "aws_secret_access_key": KEY,
    }


def environment(endpoint: str) -> dict[str, str]:
    """The standard AWS variables for a server at `http://…`."""
    return {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": KEY,
    }
