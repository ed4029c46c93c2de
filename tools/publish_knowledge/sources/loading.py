"""Load files as documents, with title and language; unusable files are reported one by one."""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Final, Literal

from publish_knowledge.conversion.formats import find_format
from publish_knowledge.conversion.processes import ConversionPool
from publish_knowledge.conversion.protocol import ConversionError
from publish_knowledge.passages.markdown_blocks import shorten_title
from publish_knowledge.passages.titles import derive_title, find_title
from publish_knowledge.sources.decoding import decode_text
from publish_knowledge.sources.documents import Document, Original, derive_item_source
from publish_knowledge.sources.file_errors import FileError, UnusableFileError
from publish_knowledge.sources.files import FoundFiles, SourceFile
from publish_knowledge.sources.front_matter import FrontMatter, parse_front_matter
from publish_knowledge.sources.languages import detect_language, normalize_language
from publish_knowledge.sources.opening import read_bytes
from publish_knowledge.sources.search import explain_failure

MAX_BYTES: Final = 20 * 1024 * 1024
"""Four times the longest text that benchmarks publish; a larger file is rarely one text."""

MAX_CONVERTED_BYTES: Final = 64 * 1024 * 1024
"""Of a file that is converted: pictures in it count, and both processes hold it."""

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
    for source, read in _read_all(found.files, ids):
        try:
            declared, original = read()
            warnings += (FileError(source.path, warning) for warning in declared.warnings)
            if not declared.body.strip():
                warnings.append(FileError(source.path, "It has front matter and no text: it is not published."))
            else:
                documents.append(_build_document(source, declared, original, language))
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


_Read = tuple[FrontMatter, str]
"""What is declared, and the digest of the bytes it was converted from, "" where it was not."""


def _read_all(files: Sequence[SourceFile], ids: IdSource) -> Iterator[tuple[SourceFile, Callable[[], _Read]]]:
    """Each file with what reads it, in order; conversions run ahead, as many as there are processors."""
    with ConversionPool() as pool:
        pending: deque[tuple[SourceFile, Callable[[], _Read]]] = deque()
        for source in files:
            is_converted = find_format(source.path) is not None
            pending.append(
                (source, pool.submit(_convert, pool, source) if is_converted else partial(_read, source, ids))
            )
            if len(pending) > pool.workers:
                yield pending.popleft()
        yield from pending


def _read(source: SourceFile, ids: IdSource) -> _Read:
    return parse_front_matter(decode_text(_read_bytes(source, MAX_BYTES)), reads_id=ids == "front-matter"), ""


def _convert(pool: ConversionPool, source: SourceFile) -> _Read:
    data = _read_bytes(source, MAX_CONVERTED_BYTES)
    try:
        converted = pool.convert(PurePosixPath(source.path).suffix.lower(), data)
    except ConversionError as error:
        raise UnusableFileError(str(error)) from None
    # Front matter is a matter of text files: a rule at the top of a page is not the beginning of one.
    declared = FrontMatter(converted.text, title=converted.title, language=_read_language(converted.language))
    return declared, hashlib.sha256(data).hexdigest()


def _read_language(tag: str) -> str | None:
    """The language that a converted file declares; one that is no language code is not worth a warning."""
    try:
        return normalize_language(tag)
    except ValueError:
        return None


def _read_bytes(source: SourceFile, limit: int) -> bytes:
    try:
        return read_bytes(source.boundary, source.parts, limit)
    except OSError as error:
        raise UnusableFileError(explain_failure(error)) from None


def _build_document(source: SourceFile, declared: FrontMatter, original: str, language: str | None) -> Document:
    folders = (source.root.name, *PurePosixPath(source.path).parts[:-1])
    heading = find_title(declared.body) if source.kind == "markdown" else ""
    return Document(
        source_path=source.path,
        text=declared.body,
        title=_choose_title(declared, heading, is_converted=bool(original)) or derive_title(source.path),
        language=declared.language or language or detect_language(declared.body, folders),
        kind=source.kind,
        item_source=derive_item_source(source.path, declared.id),
        draft=declared.draft,
        original=Original(original, language or "") if original else None,
    )


def _choose_title(declared: FrontMatter, heading: str, *, is_converted: bool) -> str:
    """Front matter is written on purpose; the properties of a file are often a template's, or name the site too."""
    title = shorten_title(declared.title or "")
    return heading or title if is_converted else title or heading


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
