"""The tool's definition: name, description, schemas, annotations, listing metadata.

The output schema has one object at its root and one alternative for each of the four forms, because some clients check
every structured result against it, errors included.
"""

from __future__ import annotations

from typing import Any, Final

from knowledge.errors import ERROR, UNAVAILABLE, KnowledgeError
from knowledge.requests import MAX_RESULTS, MODES
from knowledge.results import READ_TYPE, SEARCH_TYPE

NAME: Final = "search_knowledge"
TITLE: Final = "Search published knowledge"
VERSION: Final = "0.1.0"

INSTRUCTIONS: Final = (
    "One read-only tool, search_knowledge: ranked search over the published knowledge you may see, and exact reads of "
    "one item or one of its revisions."
)

DESCRIPTION: Final = """\
Find and read published knowledge: the documents that you and your teams have published. Read-only. Two shapes; never \
mix them.

1. Search a topic: give `query`, optionally `knowledge_base_id`, `max_results`, `mode`, `alpha`. Ranks the current \
revision of every published item you may see and returns excerpts with ids, source, citation and reference. An empty \
list means that nothing matched. A result is never a historical revision.
2. Read one exact item: give `knowledge_item_id` from a result or a reference, and no `query`. Add \
`knowledge_revision_id` to read one exact, pinned revision. If `content_truncated` is true, page on: call again with \
the ids and the `offset` of `continuation`, and choose `limit_chars` to fit your context.

Cite `source.citation` or `reference`. Not for recalling memories or earlier conversations, and not for creating, \
publishing, updating or archiving anything."""

META: Final = {"surface": "advanced", "min_tier": "free", "hidden_but_callable": True}
"""Listing metadata. The operator's gateway decides who may call: the tool checks no tier."""

_ID: Final = {"type": "string", "minLength": 1}
_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_MEASURED: Final = {"type": ["number", "null"]}
_RANK: Final = {"type": ["integer", "null"], "minimum": 1}


def output_schema() -> dict[str, Any]:
    """JSON Schema of every structured result."""
    forms = (_search_schema(), _read_schema(), _failure_schema(ERROR), _failure_schema(UNAVAILABLE))
    return {"type": "object", "properties": {"type": _TEXT}, "required": ["type"], "oneOf": list(forms)}


def _search_schema() -> dict[str, Any]:
    weights = {"anyOf": [{"type": "null"}, _closed_object(lexical=_SHARE, semantic=_SHARE)]}
    results = {"type": "array", "maxItems": MAX_RESULTS, "items": _result_schema()}
    return _closed_object(type={"const": SEARCH_TYPE}, mode={"enum": list(MODES)}, weights=weights, results=results)


def _result_schema() -> dict[str, Any]:
    scores = _closed_object(
        score=_SHARE, lexical=_MEASURED, semantic=_MEASURED, lexical_rank=_RANK, semantic_rank=_RANK
    )
    return _closed_object(**_identity_properties(), excerpt=_TEXT, excerpt_offset=_COUNT, scores=scores)


def _read_schema() -> dict[str, Any]:
    following = _closed_object(knowledge_item_id=_ID, knowledge_revision_id=_ID, offset=_COUNT)
    return _closed_object(
        type={"const": READ_TYPE},
        **_identity_properties(),
        is_current={"type": "boolean"},
        content=_TEXT,
        content_offset=_COUNT,
        content_limit={"type": "integer", "minimum": 1},
        content_total_chars=_COUNT,
        content_truncated={"type": "boolean"},
        content_sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"},
        continuation={"anyOf": [{"type": "null"}, following]},
    )


def _identity_properties() -> dict[str, Any]:
    """The fields that a search result and a read share."""
    return {
        "knowledge_base_id": _ID,
        "knowledge_item_id": _ID,
        "knowledge_revision_id": _ID,
        "scope": {"enum": ["owner", "team"]},
        "owner_id": {"type": ["string", "null"]},
        "team_id": {"type": ["string", "null"]},
        "title": _TEXT,
        "language": _TEXT,
        "published_at": _TEXT,
        "locator": _TEXT,
        "source": _closed_object(type=_TEXT, uri=_TEXT, citation=_TEXT),
        "reference": {"type": "string", "pattern": "^knowledge://"},
    }


def _failure_schema(envelope: str) -> dict[str, Any]:
    codes = sorted({kind.code for kind in KnowledgeError.__subclasses__() if kind.envelope == envelope})
    error = _closed_object(
        code={"enum": codes},
        message=_TEXT,
        field={"type": ["string", "null"]},
        retryable={"type": "boolean"},
    )
    return _closed_object(type={"const": envelope}, error=error)


def _closed_object(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - schemas are plain JSON values
    """An object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
