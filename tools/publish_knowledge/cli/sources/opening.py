"""Open the sources of a command line in a temporary folder, and the options that several commands share."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from knowledge.store.options import storage_options_from
from publish_knowledge.cli.passed_over import summarize_passed_over
from publish_knowledge.cli.session import Session
from publish_knowledge.conversion.formats import FORMATS
from publish_knowledge.sources.files import KINDS, FoundFiles
from publish_knowledge.sources.languages import normalize_language
from publish_knowledge.sources.remote.fetching import Sources, Surroundings, open_sources
from publish_knowledge.sources.selection import Selection, build_selection

SOURCES: Final = "SOURCE…"
name_option: Final = click.option("--name", metavar="PATH", help="Path of the item that standard input (-) becomes.")
_PREFIX: Final = "knowledge-sources-"


@contextmanager
def open_given_sources(session: Session, texts: Sequence[str], name: str | None) -> Iterator[Sources]:
    """Sources that can be read while the block runs. Raises `click.UsageError` for an address that is none."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        options = storage_options_from(session.environ)
        surroundings = Surroundings(Path(folder), session.environ, options, sys.stdin.buffer)
        try:
            opened = open_sources(texts, surroundings, name)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        yield opened


def require_local_root(sources: Sources, root: Path | None) -> None:
    """Raise `click.UsageError` for a root of files that are fetched: their paths relate to what was fetched."""
    if root is not None and (sources.buckets or sources.has_repositories):
        raise click.UsageError("--root is for folders and files of this machine. Leave it out for other sources.")


def parse_reading(language: str | None, exclude: Sequence[str], include: Sequence[str]) -> tuple[str | None, Selection]:
    """The language tag and the patterns of a command line; raises `click.UsageError`."""
    try:
        return None if language is None else normalize_language(language), build_selection(exclude, include)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def find_sources(sources: Sources, texts: Sequence[str], root: Path | None, selection: Selection) -> FoundFiles:
    """Find the files of opened sources; raises `click.UsageError` where there is nothing, and nothing failed."""
    try:
        found = sources.find(root, selection)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if not found.files and not found.errors:
        passed = f" {summarize_passed_over(found.passed_over)}" if found.passed_over else ""
        raise click.UsageError(f"No {', '.join((*KINDS, *FORMATS))} files found in {', '.join(texts)}.{passed}")
    return found
