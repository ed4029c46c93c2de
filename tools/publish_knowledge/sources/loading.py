"""From files to documents: what each says, its title and its language; what cannot be used is told, file by file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from publish_knowledge.passages.markdown_blocks import find_first_heading, shorten_title
from publish_knowledge.sources import decoding
from publish_knowledge.sources import front_matter as frontmatter
from publish_knowledge.sources.documents import Document, item_source
from publish_knowledge.sources.file_errors import Problem, UnusableFileError
from publish_knowledge.sources.files import Source, Sources
from publish_knowledge.sources.languages import language_of

MAX_BYTES: Final = 20 * 1024 * 1024
"""Four times the longest text the product is measured with; what is larger is rarely one text."""

_NAMED: Final = 3
"""Files named in the message about a shared id; more would hide its end."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The documents of a batch, in the order of their paths; what was left out; below which paths it was looked."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]
    folders: tuple[str, ...] = ("",)


def load(sources: Sources, language: str | None = None) -> Loaded:
    """Read every file; `language` is a tag for texts that declare none."""
    documents: list[Document] = []
    problems = list(sources.problems)
    for source in sources.files:
        try:
            documents.append(_document(source, language))
        except UnusableFileError as error:
            problems.append(Problem(source.path, str(error)))
    shared = _sharing_an_id(documents)
    problems += (Problem(path, reason) for path, reason in shared.items())
    unique = tuple(document for document in documents if document.source_path not in shared)
    return Loaded(unique, tuple(sorted(problems, key=lambda problem: problem.path)), sources.folders)


def _document(source: Source, language: str | None) -> Document:
    declared = frontmatter.parse(decoding.decode(_read(source.file)))
    folders = (source.root.name, *PurePosixPath(source.path).parts[:-1])
    heading = find_first_heading(declared.body) if source.kind == "markdown" else ""
    return Document(
        source_path=source.path,
        text=declared.body,
        title=shorten_title(declared.title or "") or heading or PurePosixPath(source.path).stem,
        language=declared.language or language or language_of(declared.body, folders),
        kind=source.kind,
        item_source=item_source(source.path, declared.id),
    )


def _read(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise UnusableFileError("It is not a regular file, or a link that leads nowhere.")
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise UnusableFileError(f"It has {size:,} bytes; {MAX_BYTES:,} is the limit. Split it into several files.")
        return file.read_bytes()
    except OSError as error:
        raise UnusableFileError(f"It cannot be read: {error.strerror or error}.") from None


def _sharing_an_id(documents: Iterable[Document]) -> dict[str, str]:
    """Reasons by path: which of several files an id belongs to cannot be known, so none of them is taken."""
    claims: defaultdict[str, list[str]] = defaultdict(list)
    for document in documents:
        claims[document.item_source].append(document.source_path)
    return {
        path: _shared(source.removeprefix("id:"), [other for other in paths if other != path])
        for source, paths in claims.items()
        if len(paths) > 1
        for path in paths
    }


def _shared(identity: str, others: list[str]) -> str:
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return (
        f"Its id “{identity}” is also claimed by {', '.join(others[:_NAMED])}{more}. Give each file an id of its own."
    )
