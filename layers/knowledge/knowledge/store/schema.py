"""The shape of the stored data, declared where nothing is opened.

One dataset = one marker table + one pair of tables for each scope:

`current`    all that a caller may see now; four kinds of rows
             passage   text, range, heading path, vector of the current revision of a published item
             head      one per item: state and the current revision's metadata
             history   one per revision that ever was current
             base      one per base whose state was ever set
`revisions`  append-only: the passages of every revision, published or drafted

Offsets and lengths are Unicode code points. Times are ISO 8601 in UTC, whole seconds.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from knowledge.scopes import Scope

SCHEMA_VERSION: Final = "2"
MARKER_TABLE: Final = "search_knowledge_dataset"

# Names in a table's schema metadata.
META_SCHEMA: Final = "knowledge.schema_version"
META_MODEL: Final = "knowledge.embedding_model"
META_DIMENSIONS: Final = "knowledge.embedding_dimensions"
META_CREATED: Final = "knowledge.created_at"
META_SCOPE: Final = "knowledge.scope"

META_ANALYZER: Final = "knowledge.analyzer_version"
"""Metadata of the `terms` column: the versions of the analyzer that its terms may be of, the newest last.

It is the column's and not the table's, because only a column's can be changed in place. A column without it has terms
of version 1. Two versions mean that terms are being renewed.
"""

META_CONTEXT: Final = "knowledge.embeds_context"
"""Metadata of the archive's `vector` column: "yes" where vectors are of passages with the header row of their table and
without unreadable text. In older archives those of such passages are of other texts, and are not used again."""

ANALYZER_VERSION: Final = 3
"""The newest version of the analyzer; `knowledge.search.analyzers` says what each version is."""

RowKind = Literal["passage", "head", "history", "base"]
PASSAGE: Final = "passage"
HEAD: Final = "head"
HISTORY: Final = "history"
BASE: Final = "base"

State = Literal["draft", "published", "archived"]
DRAFT: Final = "draft"
PUBLISHED: Final = "published"
ARCHIVED: Final = "archived"

ROW_ADDRESS: Final = "place"
"""The column by whose index rows are found; `head_address` and the functions beside it compute its values."""

TERMS: Final = "terms"
"""The column of `current` with the analyzed text, which the full-text index covers."""

METADATA_JSON: Final = "about"
"""The column with all that a reader needs of a row besides its state and text, so that one request fetches it."""

PASSAGE_MAX_CHARS: Final = 2_000
"""Longest passage. A reader relies on it to know which buckets a window can touch."""

BUCKET_CHARS: Final = 4_096
"""Passages are addressed by item and start // this, so that the cost of a window does not grow with the text."""

_PASSAGE_METADATA: Final = ("kind", "scope", "item_id", "revision_id", "start", "heading")
_ITEM_METADATA: Final = (
    "kind", "scope", "base_id", "item_id", "revision_id", "title", "language", "published_at",
    "source_type", "source_uri", "total_chars", "content_sha256",
)  # fmt: skip

_BUCKET_BITS: Final = 16
MAX_OFFSET: Final = BUCKET_CHARS * ((1 << _BUCKET_BITS) - 16)
"""No text is as long. Addresses of larger offsets would reach those of other items."""

# Prefixes of vector index names; the number of partitions follows. Searches in short vectors have to be refined.
EXACT_INDEX: Final = "vector_exact_"
SHORT_INDEX: Final = "vector_short_"

_DIGEST_CHARS: Final = 32
# Lance detects two writers of one row only where the key is declared; without it concurrent publishers would store an
# item twice.
_PRIMARY_KEY: Final = {"lance-schema:unenforced-primary-key": "true"}


def digest(*parts: str) -> str:
    """128-bit hex digest over a list of strings; the length prefix keeps ("a", "bc") and ("ab", "c") apart."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()[:_DIGEST_CHARS]


def content_digest(text: str) -> str:
    """`content_sha256` of a revision: hex SHA-256 of its text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def item_id(scope: Scope, base_id: str, source: str) -> str:
    """Stable id of an item: the scope is part of it, so that two teams never share one."""
    return "ki_" + digest("item", scope.name, base_id, source)


def revision_id(item: str, previous: str, fingerprint: str) -> str:
    """Immutable id of a revision: A, B, A again are three revisions, publishing A twice is one."""
    return "kr_" + digest("revision", item, previous, fingerprint)


def fingerprint(content_sha256: str, title: str, language: str, source_uri: str) -> str:
    """Digest of everything that distinguishes a revision from the one before it."""
    return digest("fingerprint", content_sha256, title, language, source_uri)


def row_key(kind: RowKind, item: str, revision: str = "", ordinal: int = 0) -> str:
    """Primary key of a row in both tables; for a base row `item` is the base's id."""
    return digest(kind, item, revision, str(ordinal))


def _first_address(*parts: str) -> int:
    return int(digest(*parts)[:12], 16) >> 1 << _BUCKET_BITS


def head_address(item: str) -> int:
    """Index address of an item's head row."""
    return _first_address(HEAD, item)


def history_address(item: str, revision: str) -> int:
    """Index address of the history row of one revision."""
    return _first_address(HISTORY, item, revision)


def base_address(base_id: str) -> int:
    """Index address of a base row."""
    return _first_address(BASE, base_id)


def current_address(item: str, start: int) -> int:
    """Index address in `current` of the passages that start in one bucket: beside the head, in one index page."""
    return _first_address(HEAD, item) + 1 + start // BUCKET_CHARS


def archive_address(item: str, revision: str, start: int) -> int:
    """Index address in `revisions` of a revision's passages that start in one bucket; neighbours are adjacent."""
    return _first_address(PASSAGE, item, revision) + start // BUCKET_CHARS


def metadata_json(row: Mapping[str, Any]) -> str:
    """Value of a row's `METADATA_JSON` column. The state is not in it, because it alone is updated in place."""
    names = _PASSAGE_METADATA if row["kind"] == PASSAGE else _ITEM_METADATA
    return json.dumps({name: row.get(name) for name in names}, ensure_ascii=False, separators=(",", ":"))


def earliest_start(start: int) -> int:
    """Smallest start of a passage that can reach `start`."""
    return max(0, start - PASSAGE_MAX_CHARS + 1)


# The order is the order on disk. Columns that are read together are adjacent and apart from the bulky ones, because a
# storage read that skips less than 64 kB fetches what it skips.
def _labels() -> list[pa.Field]:
    return [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("scope", pa.string(), nullable=False),
        pa.field("base_id", pa.string(), nullable=False),
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("revision_id", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("language", pa.string()),
        pa.field("source_type", pa.string()),
        pa.field("source_uri", pa.string()),
        pa.field("total_chars", pa.int64()),
        pa.field("content_sha256", pa.string()),
        pa.field("previous_id", pa.string()),
        pa.field("fingerprint", pa.string()),
    ]


def _content(dimensions: int, vector_metadata: Mapping[str, str] | None = None) -> list[pa.Field]:
    return [
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field(ROW_ADDRESS, pa.int64(), nullable=False),
        pa.field("key", pa.string(), nullable=False, metadata=_PRIMARY_KEY),
        # Half precision: half the bytes of every scan, cosine error below 0.001, and restore copies it unchanged.
        pa.field("vector", pa.list_(pa.float16(), dimensions), metadata=vector_metadata),
        pa.field("heading", pa.string()),
        pa.field(METADATA_JSON, pa.string()),
        pa.field("text", pa.string()),
    ]


def current_schema(
    scope: Scope, model: str, dimensions: int, analyzer_versions: Sequence[int] = (ANALYZER_VERSION,)
) -> pa.Schema:
    """Arrow schema of a scope's `current` table. `terms` is the analyzed text that the full-text index covers."""
    state = [
        pa.field("state", pa.string()),
        pa.field("sequence", pa.int64()),
        pa.field("published_at", pa.string()),
    ]
    terms = pa.field(TERMS, pa.string(), metadata={META_ANALYZER: format_analyzer_versions(analyzer_versions)})
    fields = [*_labels(), *state, *_content(dimensions), terms]
    return pa.schema(fields, metadata=_metadata(model, dimensions, scope))


def revisions_schema(scope: Scope, model: str, dimensions: int) -> pa.Schema:
    """Arrow schema of a scope's `revisions` table."""
    fields = [*_labels(), pa.field("created_at", pa.string()), *_content(dimensions, {META_CONTEXT: "yes"})]
    return pa.schema(fields, metadata=_metadata(model, dimensions, scope))


def marker_schema(model: str, dimensions: int, created_at: str) -> pa.Schema:
    """Arrow schema of the dataset marker: an empty table whose metadata describes the dataset."""
    metadata = {**_metadata(model, dimensions, None), META_CREATED: created_at}
    return pa.schema([pa.field("key", pa.string())], metadata=metadata)


def read_metadata(schema: pa.Schema) -> dict[str, str]:
    """Metadata of a table's schema, as text."""
    return {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}


def read_analyzer_versions(schema: pa.Schema) -> tuple[int, ...]:
    """Versions that the terms of a `current` table may be of, ascending; empty where the metadata is no such list."""
    field = schema.field(TERMS) if TERMS in schema.names else None
    text = ((field.metadata if field else None) or {}).get(META_ANALYZER.encode(), b"1")
    numbers = text.decode("ascii", "replace").split()
    return tuple(sorted({int(number) for number in numbers})) if all(map(str.isdecimal, numbers)) else ()


def embeds_context(schema: pa.Schema) -> bool:
    """Whether the vectors of an archive are of passages with the context that is embedded today."""
    return META_CONTEXT.encode() in (schema.field("vector").metadata or {})


def knows_analyzers(versions: Sequence[int]) -> bool:
    """Whether terms of these versions can be searched and written by this code."""
    return bool(versions) and all(1 <= version <= ANALYZER_VERSION for version in versions)


def format_analyzer_versions(versions: Iterable[int]) -> str:
    """Value of `META_ANALYZER`."""
    return " ".join(map(str, sorted(versions)))


class Mismatch(NamedTuple):
    """A metadata entry that differs; `found` is `None` where the table has no such entry."""

    name: str
    found: str | None
    expected: str


def find_mismatch(metadata: Mapping[str, str], model: str, dimensions: int) -> Mismatch | None:
    """The first entry of a table's metadata that differs from this schema version or embedding model, if any."""
    for name, expected in _metadata(model, dimensions, None).items():
        if metadata.get(name) != expected:
            return Mismatch(name, metadata.get(name), expected)
    return None


def _metadata(model: str, dimensions: int, scope: Scope | None) -> dict[str, str]:
    metadata = {META_SCHEMA: SCHEMA_VERSION, META_MODEL: model, META_DIMENSIONS: str(dimensions)}
    return metadata if scope is None else {**metadata, META_SCOPE: scope.name}
