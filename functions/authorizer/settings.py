"""The authorizer's settings: one value, read from the environment by the composition root."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from knowledge.claims import ClaimNames, claim_names_from

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class UsageKeys:
    """Values of the gateway's API keys, by owner id and by tier. An unknown tier is the free one."""

    by_owner: Mapping[str, str] = field(default_factory=dict)
    by_tier: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of the authorizer.

    `resource` is the URL that a token must name as its audience; empty means the address at which the gateway was
    called. `client_ids` are accepted in place of an audience from tokens that have none.
    """

    issuer: str
    resource: str = ""
    audiences: frozenset[str] = frozenset()
    client_ids: frozenset[str] = frozenset()
    required_scope: str = "knowledge:read"
    claim_names: ClaimNames = field(default_factory=ClaimNames)
    usage_keys: UsageKeys = field(default_factory=UsageKeys)


def settings_from(environ: Mapping[str, str]) -> Settings:
    """Read the settings from environment variables; empty ones count as missing. Raises `ValueError`."""
    given = {name: value for name, value in environ.items() if value}
    usual = Settings("")
    return Settings(
        issuer=_issuer(given.get("ISSUER", "")),
        resource=given.get("RESOURCE_URL", ""),
        audiences=_split_list(given.get("AUDIENCES", "")),
        client_ids=_split_list(given.get("CLIENT_IDS", "")),
        required_scope=given.get("REQUIRED_SCOPE", usual.required_scope),
        claim_names=claim_names_from(given),
        usage_keys=UsageKeys(_keys(given, "OWNER_KEYS"), _keys(given, "TIER_KEYS")),
    )


def is_secure(url: str) -> bool:
    """Whether keys may be fetched from a URL: over TLS, or from this machine."""
    parts = urlsplit(url)
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    )


def _issuer(url: str) -> str:
    if not is_secure(url):
        raise ValueError("ISSUER must be the https URL that the tokens' iss claim has")
    return url


def _split_list(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, text.split(","))))


def _keys(given: Mapping[str, str], name: str) -> Mapping[str, str]:
    found = json.loads(given.get(name, "{}"))
    if isinstance(found, dict) and all(isinstance(value, str) for value in found.values()):
        return found
    msg = f"{name} must be a JSON object from names to API key values"
    raise ValueError(msg)
