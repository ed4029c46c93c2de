"""The function's settings: one value, read from the environment by the composition root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from knowledge.claims import ClaimNames, claim_names_from
from knowledge.embedding.providers import LOCAL
from knowledge.store.options import storage_options_from
from search_knowledge.startup import LAMBDA_MARK

DEFAULT_REQUIRED_SCOPE: Final = "knowledge:read"
_HIDDEN: Final = "hidden"


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of the function.

    A missing or unreadable value never allows more: `runtime_switch` is off unless it is `on`, and an empty
    `required_scope` in the environment means the default one. No metrics are written without a namespace for them.
    """

    uri: str = ""
    embedding: str = LOCAL
    runtime_switch: str = ""
    required_scope: str = DEFAULT_REQUIRED_SCOPE
    claim_names: ClaimNames = field(default_factory=ClaimNames)
    listed: bool = True
    storage_options: Mapping[str, str] = field(default_factory=dict)
    metrics_namespace: str = ""
    in_lambda: bool = False


def settings_from(environ: Mapping[str, str]) -> Settings:
    """Read the settings from environment variables; empty ones count as missing. Raises nothing."""
    given = {name: value for name, value in environ.items() if value}
    return Settings(
        uri=given.get("LANCEDB_URI", ""),
        embedding=given.get("EMBEDDING", LOCAL),
        runtime_switch=given.get("RUNTIME_SWITCH", ""),
        required_scope=given.get("REQUIRED_SCOPE", DEFAULT_REQUIRED_SCOPE),
        claim_names=claim_names_from(given),
        listed=given.get("TOOL_LISTING", "").strip().lower() != _HIDDEN,
        storage_options=storage_options_from(given),
        metrics_namespace=given.get("POWERTOOLS_METRICS_NAMESPACE", ""),
        in_lambda=LAMBDA_MARK in given,
    )
