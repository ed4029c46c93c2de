"""The test collections: documents, questions and qrels of one folder each, and the recorded figures."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from knowledge.scopes import Scope
from knowledge.store.schema import item_id
from publish_knowledge.evaluation.qrels import QrelsError, read_qrels
from publish_knowledge.evaluation.runs import JudgedQuery
from publish_knowledge.passages.markdown_blocks import TextKind
from publish_knowledge.sources.documents import Document, derive_item_source

BASELINES: Final = Path(__file__).with_name("baselines.json")
DOCUMENTS: Final = "docs.jsonl"

_PLAIN: Final = ("belebele", "cranfield", "faquad", "jsquad", "xquad")
"""Collections of paragraphs; the others are pieces of Markdown."""


@dataclass(frozen=True, slots=True)
class Collection:
    """One collection, to be published as the base of its name."""

    name: str
    documents: tuple[Document, ...]
    queries: tuple[tuple[str, str, Mapping[str, int]], ...]
    """Id, text, and grades by source path."""

    def judge_queries(self, scope: Scope, base_id: str) -> list[JudgedQuery]:
        """Return the questions with grades by the ids that the documents have in a base."""
        return [
            JudgedQuery(
                name, text, {item_id(scope, base_id, derive_item_source(path)): grade for path, grade in grades.items()}
            )
            for name, text, grades in self.queries
        ]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Recorded figures of a collection: nDCG@10 by setting."""

    name: str
    language: str
    analyzer: str
    figures: Mapping[str, float]

    @property
    def monolingual(self) -> bool:
        """Whether questions and texts share their language."""
        return self.language != "x2en"


@cache
def read_baselines() -> dict[str, Baseline]:
    """Read the recorded figures by collection, in the order of the table."""
    table: dict[str, Any] = json.loads(BASELINES.read_text(encoding="utf-8"))
    names = table["columns"][3:]
    return {
        name: Baseline(name, language, analyzer, dict(zip(names, figures, strict=True)))
        for name, language, analyzer, *figures in table["collections"]
    }


def make_empty_baseline(name: str) -> Baseline:
    """Return a baseline without figures, for a collection that has none."""
    return Baseline(name, "", "", defaultdict(lambda: math.nan))


def read_collection(folder: Path, prefix: str = "") -> Collection:
    """Read a collection's folder; `prefix` goes before every source path. Raises `QrelsError`."""
    kind: TextKind = "plain" if folder.name.startswith(_PLAIN) else "markdown"
    documents = []
    for line in (folder / DOCUMENTS).read_text(encoding="utf-8").split("\n"):
        if line.strip():
            record = json.loads(line)
            path = prefix + record["id"]
            # An item's title is never empty in a published folder, but these texts have none to be found by.
            documents.append(
                Document(
                    path, record["text"], record["title"], record.get("lang", "und"), kind, derive_item_source(path)
                )
            )
    qrels = read_qrels(folder)
    unknown = set(qrels.documents()) - {document.source_path.removeprefix(prefix) for document in documents}
    if unknown:
        raise QrelsError(f"{folder.name} judges documents that it does not have, such as {min(unknown)}.")
    queries = tuple(
        (query.id, query.text, {prefix + path: grade for path, grade in query.grades.items()})
        for query in qrels.queries
    )
    return Collection(folder.name, tuple(documents), queries)
