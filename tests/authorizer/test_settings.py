"""The authorizer's settings, and what it does with wrong ones."""

from __future__ import annotations

import pytest

from authorizer.settings import Settings, UsageKeys, is_secure, settings_from
from knowledge.claims import ClaimNames


def test_an_issuer_is_enough() -> None:
    assert settings_from({"ISSUER": "https://auth.example.com"}) == Settings("https://auth.example.com")


def test_empty_variables_count_as_missing() -> None:
    names = ("RESOURCE_URL", "REQUIRED_SCOPE", "AUDIENCES", "CLIENT_IDS", "OWNER_KEYS", "TIER_KEYS", "TEAMS_CLAIM")
    given = dict.fromkeys(names, "")
    assert settings_from({"ISSUER": "https://auth.example.com", **given}) == Settings("https://auth.example.com")


def test_everything_can_be_set() -> None:
    given = {
        "ISSUER": "https://auth.example.com/realm",
        "RESOURCE_URL": "https://mcp.example.com/mcp",
        "REQUIRED_SCOPE": "kb.read",
        "AUDIENCES": "one, two,",
        "CLIENT_IDS": "app",
        "OWNER_KEYS": '{"ana": "key of ana"}',
        "TIER_KEYS": '{"free": "key of free"}',
        "OWNER_CLAIM": "owner",
        "TEAMS_CLAIM": "groups",
        "TEAMS_FORM": "words",
        "SCOPE_CLAIM": "permissions",
        "CLIENT_CLAIM": "app",
        "TIER_CLAIM": "plan",
        "USAGE_KEY_CLAIM": "key",
    }
    assert settings_from(given) == Settings(
        issuer="https://auth.example.com/realm",
        resource="https://mcp.example.com/mcp",
        audiences=frozenset({"one", "two"}),
        client_ids=frozenset({"app"}),
        required_scope="kb.read",
        claim_names=ClaimNames("owner", "groups", "permissions", "app", "plan", "key", teams_are_words=True),
        usage_keys=UsageKeys({"ana": "key of ana"}, {"free": "key of free"}),
    )


@pytest.mark.parametrize(
    ("url", "secure"),
    [
        ("https://auth.example.com", True),
        ("http://127.0.0.1:8080/realm", True),
        ("http://localhost", True),
        ("http://auth.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("", False),
    ],
)
def test_keys_come_over_tls_or_from_this_machine(url: str, secure: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_secure(url) is secure
