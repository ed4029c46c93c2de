"""Events for the authorizer, and the effect of its answer."""

from __future__ import annotations

from typing import Any, Final

import pytest

from authorizer.app import UnauthorizedError

Json = dict[str, Any]
HOST: Final = "abc.execute-api.eu-central-1.amazonaws.com"
RESOURCE: Final = f"https://{HOST}/prod/mcp"
ARN: Final = "arn:aws:execute-api:eu-central-1:123456789012:abc/prod/POST/mcp"
UNAUTHORIZED: Final = pytest.raises(UnauthorizedError, match=r"^Unauthorized$")


def event(*authorizations: str, name: str = "Authorization") -> Json:
    """The gateway's event for a request with these Authorization headers."""
    several = {"Accept": ["*/*"]} | ({name: list(authorizations)} if authorizations else {})
    return {
        "type": "REQUEST",
        "methodArn": ARN,
        "headers": {key: values[-1] for key, values in several.items()},
        "multiValueHeaders": several,
        "requestContext": {"domainName": HOST, "stage": "prod"},
    }


def effect(answer: Json) -> str:
    statement: Json = answer["policyDocument"]["Statement"][0]
    assert (statement["Action"], statement["Resource"]) == ("execute-api:Invoke", ARN)
    return str(statement["Effect"])
