"""Shared by tests of the function's log and metrics."""

from __future__ import annotations

import json
from io import StringIO

from tests.support.calls import ANA, Json
from tests.support.datasets import ANA as OWNER
from tests.support.datasets import item

CANARY = "kanarienvogel"


CLAIMS: Json = {**ANA, "client_id": "desk-client", "tier": "pro"}
ITEM = item(OWNER, "notes", "pump.md")


def read_records(log: StringIO, kind: str) -> list[Json]:
    return [line[kind] for line in map(json.loads, log.getvalue().splitlines()) if line["message"] == kind]
