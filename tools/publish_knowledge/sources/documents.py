"""Documents, which publishing works on: one for each source file, as a value.

The text is the decoded body, exactly as it is in the file after its front matter; title and language are known before
a document is created.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from publish_knowledge.passages.markdown_blocks import TextKind

SOURCE_FILE: Final = "file"


@dataclass(frozen=True, slots=True)
class Original:
    """What a converted document was before: the digest of its bytes, and the language that the user gave for it."""

    sha256: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One item to publish.

    `source_path` is relative to the published root, with forward slashes. The item's id is derived from `item_source`:
    `path:<source_path>`, or `id:<id>` where the front matter has one, so that the two never collide. `draft` is the
    field of its front matter that makes it a draft, as `draft: true`. `item_id` names the item, where that is decided
    already. `original` is `None` where the file itself is text.
    """

    source_path: str
    text: str
    title: str
    language: str
    kind: TextKind
    item_source: str
    source_type: str = SOURCE_FILE
    draft: str | None = None
    item_id: str | None = None
    original: Original | None = None


def normalize_path(path: str) -> str:
    """A path as items are identified by it: systems differ in the Unicode form that they give file names."""
    return unicodedata.normalize("NFC", path)


def derive_item_source(source_path: str, front_matter_id: str | None = None) -> str:
    """The source of an item's id; an id in the front matter survives the renaming of its file."""
    return f"path:{source_path}" if front_matter_id is None else f"id:{front_matter_id}"
