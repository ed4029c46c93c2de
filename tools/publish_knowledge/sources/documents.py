"""What publishing works on: one document for each source file, as a value.

The text is the decoded body exactly as it stands in the file after its front matter; titles and languages are settled
before a document is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

TextKind = Literal["markdown", "plain"]

SOURCE_FILE: Final = "file"


@dataclass(frozen=True, slots=True)
class Document:
    """One item to be published.

    `source_path` is relative to the published root, with forward slashes; `item_source` is what the item's id is
    made from: `path:<source_path>`, or `id:<id>` where the front matter gives one, so that the two never meet.
    """

    source_path: str
    text: str
    title: str
    language: str
    kind: TextKind
    item_source: str
    source_type: str = SOURCE_FILE


def item_source(source_path: str, front_matter_id: str | None = None) -> str:
    """What the item id is derived from; a front matter id survives the renaming of its file."""
    return f"path:{source_path}" if front_matter_id is None else f"id:{front_matter_id}"
