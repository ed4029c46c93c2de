"""Load files as documents, with title and language; unusable files are reported one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from publish_knowledge.passages.markdown_blocks import shorten_title
from publish_knowledge.passages.titles import derive_title, find_title
from publish_knowledge.sources.decoding import decode_text
from publish_knowledge.sources.documents import Document, derive_item_source
from publish_knowledge.sources.file_errors import FileError, UnusableFileError
from publish_knowledge.sources.files import FoundFiles, SourceFile
from publish_knowledge.sources.front_matter import FrontMatter, parse_front_matter
from publish_knowledge.sources.languages import detect_language
from publish_knowledge.sources.opening import read_bytes
from publish_knowledge.sources.search import explain_failure

MAX_BYTES: Final = 20 * 1024 * 1024
"""Four times the longest text that benchmarks publish; a larger file is rarely one text."""

_NAMED: Final = 3
"""Files listed in the message about a shared id; more would hide its end."""


IdSource = Literal["front-matter", "path"]
"""From what items are identified: `id` in the front matter where there is one, or the path alone."""


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """The documents of a batch and the files left out, both ordered by path; `folders` as in `FoundFiles`.

    `warnings` are about files that are published nevertheless, or that hold no text. `unread` are the paths of files
    that are there without being documents.
    """

    documents: tuple[Document, ...]
    errors: tuple[FileError, ...]
    folders: tuple[str, ...] = ("",)
    warnings: tuple[FileError, ...] = ()
    unread: frozenset[str] = frozenset()


def load_documents(found: FoundFiles, language: str | None = None, ids: IdSource = "front-matter") -> LoadedFiles:
    """Read every file; `language` is a tag for texts that declare none."""
    documents: list[Document] = []
    errors, warnings = list(found.errors), list[FileError]()
    for source in found.files:
        try:
            declared = _read(source, ids)
            warnings += (FileError(source.path, warning) for warning in declared.warnings)
            if not declared.body.strip():
                warnings.append(FileError(source.path, "It has front matter and no text: it is not published."))
            else:
                documents.append(_build_document(source, declared, language))
        except UnusableFileError as error:
            errors.append(FileError(source.path, str(error)))
    ambiguous = _find_shared_ids(documents)
    errors += (FileError(path, reason) for path, reason in ambiguous.items())
    unique = tuple(document for document in documents if document.source_path not in ambiguous)
    unread = {source.path for source in found.files} - {document.source_path for document in unique}
    return LoadedFiles(
        unique,
        tuple(sorted(errors, key=lambda error: error.path)),
        found.folders,
        tuple(sorted(warnings, key=lambda warning: warning.path)),
        frozenset((*unread, *(error.path for error in errors))),
    )


def _read(source: SourceFile, ids: IdSource) -> FrontMatter:
    try:
        data = read_bytes(source.boundary, source.parts, MAX_BYTES)
    except OSError as error:
        raise UnusableFileError(explain_failure(error)) from None
    return parse_front_matter(decode_text(data), reads_id=ids == "front-matter")


def _build_document(source: SourceFile, declared: FrontMatter, language: str | None) -> Document:
    folders = (source.root.name, *PurePosixPath(source.path).parts[:-1])
    heading = find_title(declared.body) if source.kind == "markdown" else ""
    return Document(
        source_path=source.path,
        text=declared.body,
        title=shorten_title(declared.title or "") or heading or derive_title(source.path),
        language=declared.language or language or detect_language(declared.body, folders),
        kind=source.kind,
        item_source=derive_item_source(source.path, declared.id),
        draft=declared.draft,
    )


def _find_shared_ids(documents: Iterable[Document]) -> dict[str, str]:
    """Reasons by path: an id that several files claim is ambiguous, so none of them is published."""
    claims: defaultdict[str, list[str]] = defaultdict(list)
    for document in documents:
        claims[document.item_source].append(document.source_path)
    return {
        path: _explain_shared_id(source.removeprefix("id:"), [other for other in paths if other != path])
        for source, paths in claims.items()
        if len(paths) > 1
        for path in paths
    }


def _explain_shared_id(identity: str, others: list[str]) -> str:
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return (
        f"Its id “{identity}” is also claimed by {', '.join(others[:_NAMED])}{more}. Give each file an id of its own, "
        "or use --ids path, which identifies all files by their paths."
    )
