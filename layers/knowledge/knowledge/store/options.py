"""How LanceDB reaches a dataset's storage; apart from `dataset`, so that settings can be read without LanceDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_STORAGE_VARIABLES: Final = {
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
}
# The library's own defaults retry for minutes; a call has seconds.
_PATIENCE: Final = {"connect_timeout": "3s", "timeout": "10s", "client_max_retries": "2", "client_retry_timeout": "8"}


def storage_options_from(environ: Mapping[str, str]) -> dict[str, str]:
    """LanceDB storage options for the standard AWS variables; credentials are found by the library itself."""
    options = dict(_PATIENCE)
    for option, names in _STORAGE_VARIABLES.items():
        found = next((environ[name] for name in names if environ.get(name)), None)
        if found:
            options[option] = found
    if options.get("endpoint", "").startswith("http://"):
        options["allow_http"] = "true"
    return options
