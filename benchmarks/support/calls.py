"""Whose calls benchmarks make of the whole handler, and what counts as an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any


def member_of(*teams: str) -> dict[str, str]:
    """The claims of a caller who may read what these teams know."""
    return {"sub": "ana", "scope": "knowledge:read", "teams": json.dumps(teams)}


def require_answer(answer: Mapping[str, Any]) -> None:
    """Raise `RuntimeError` for a refusal or a failure: how quick one is says nothing."""
    if answer["statusCode"] != HTTPStatus.OK or '"isError":true' in answer["body"]:
        raise RuntimeError(answer["body"])
