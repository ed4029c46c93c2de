"""Load files as documents, with title and language; unusable files are reported one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from publish_knowledge.passages.markdown_blocks import find_first_heading, shorten_title
from publish_knowledge.sources.decoding import decode_text
from publish_knowledge.sources.documents import Document, derive_item_source
from publish_knowledge.sources.file_errors import FileError, UnusableFileError
from publish_knowledge.sources.files import FoundFiles, SourceFile
from publish_knowledge.sources.front_matter import parse_front_matter
from publish_knowledge.sources.languages import detect_language

MAX_BYTES: Final = 20 * 1024 * 1024
"""Four times the longest text that benchmarks publish; a larger file is rarely one text."""

_NAMED: Final = 3
"""Files listed in the message about a shared id; more would hide its end."""


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """The documents of a batch and the files left out, both ordered by path; `folders` as in `FoundFiles`."""

    documents: tuple[Document, ...]
    errors: tuple[FileError, ...]
    folders: tuple[str, ...] = ("",)


def load_documents(found: FoundFiles, language: str | None = None) -> LoadedFiles:
    """Read every file; `language` is a tag for texts that declare none."""
    documents: list[Document] = []
    errors = list(found.errors)
    for source in found.files:
        try:
            documents.append(_load_document(source, language))
        except UnusableFileError as error:
            errors.append(FileError(source.path, str(error)))
    ambiguous = _find_shared_ids(documents)
    errors += (FileError(path, reason) for path, reason in ambiguous.items())
    unique = tuple(document for document in documents if document.source_path not in ambiguous)
    return LoadedFiles(unique, tuple(sorted(errors, key=lambda error: error.path)), found.folders)


def _load_document(source: SourceFile, language: str | None) -> Document:
    declared = parse_front_matter(decode_text(_read_file(source.file)))
    folders = (source.root.name, *PurePosixPath(source.path).parts[:-1])
    heading = find_first_heading(declared.body) if source.kind == "markdown" else ""
    return Document(
        source_path=source.path,
        text=declared.body,
        title=shorten_title(declared.title or "") or heading or PurePosixPath(source.path).stem,
        language=declared.language or language or detect_language(declared.body, folders),
        kind=source.kind,
        item_source=derive_item_source(source.path, declared.id),
    )


def _read_file(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise UnusableFileError("It is not a regular file, or a link that leads nowhere.")
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise UnusableFileError(f"It has {size:,} bytes; {MAX_BYTES:,} is the limit. Split it into several files.")
        return file.read_bytes()
    except OSError as error:
        raise UnusableFileError(f"It cannot be read: {error.strerror or error}.") from None


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
        f"Its id “{identity}” is also claimed by {', '.join(others[:_NAMED])}{more}. Give each file an id of its own."
    )
