"""The environment, and importing the function under any of it."""

from __future__ import annotations

import pytest

from knowledge.claims import ClaimNames
from knowledge.store.options import storage_options_from
from search_knowledge.settings import Settings, settings_from


def test_an_empty_environment_gives_safe_settings() -> None:
    safe = Settings(storage_options=storage_options_from({}))
    assert settings_from({}) == safe
    assert (safe.runtime_switch, safe.required_scope, safe.listed) == ("", "knowledge:read", True)


def test_every_variable_arrives() -> None:
    environ = {
        "LANCEDB_URI": "s3://bucket/data",
        "EMBEDDING": "local-small",
        "RUNTIME_SWITCH": "on",
        "REQUIRED_SCOPE": "kb:read",
        "OWNER_CLAIM": "user",
        "TEAMS_CLAIM": "cognito:groups",
        "SCOPE_CLAIM": "permissions",
        "CLIENT_CLAIM": "azp",
        "TIER_CLAIM": "plan",
        "TEAMS_FORM": "words",
        "TOOL_LISTING": "Hidden",
        "AWS_REGION": "eu-west-1",
        "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001",
    }
    assert settings_from(environ) == Settings(
        uri="s3://bucket/data",
        embedding="local-small",
        runtime_switch="on",
        required_scope="kb:read",
        claim_names=ClaimNames("user", "cognito:groups", "permissions", "azp", "plan", teams_are_words=True),
        listed=False,
        storage_options=storage_options_from({"AWS_REGION": "eu-west-1"}),
        in_lambda=True,
    )


@pytest.mark.parametrize(
    "name", ["REQUIRED_SCOPE", "OWNER_CLAIM", "EMBEDDING", "TOOL_LISTING", "TEAMS_FORM", "LANCEDB_URI"]
)
def test_an_empty_variable_counts_as_missing(name: str) -> None:
    assert settings_from({name: ""}) == settings_from({})
