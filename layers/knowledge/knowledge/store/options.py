"""Where a dataset is and how LanceDB reaches it. Imports no LanceDB, so that settings can be read without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_STORAGE_VARIABLES: Final = {
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
}
# The library's defaults retry for minutes; a call has seconds.
_TIME_LIMITS: Final = {
    "connect_timeout": "3s",
    "timeout": "10s",
    "client_max_retries": "2",
    "client_retry_timeout": "8",
}


def is_local(uri: str) -> bool:
    """Whether a URI is a path of the file system."""
    return "://" not in uri


def normalize_uri(uri: str) -> str:
    """Make a path absolute: LanceDB takes a relative one that begins with "db" for its cloud. Other URIs stay."""
    return str(Path(uri).expanduser().absolute()) if is_local(uri) else uri


def can_connect(uri: str) -> bool:
    """Whether connecting creates nothing: LanceDB would create a missing folder, and hide a mistyped path."""
    return not is_local(uri) or Path(uri).is_dir()


def storage_options_from(environ: Mapping[str, str]) -> dict[str, str]:
    """LanceDB storage options for the standard AWS variables; credentials are found by the library itself."""
    options = dict(_TIME_LIMITS)
    for option, names in _STORAGE_VARIABLES.items():
        found = next((environ[name] for name in names if environ.get(name)), None)
        if found:
            options[option] = found
    if options.get("endpoint", "").startswith("http://"):
        options["allow_http"] = "true"
    return options
