"""The formats that are converted: by extension of the file's name, the module that does it and what it needs."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, cast

from publish_knowledge.conversion.protocol import Converter


@dataclass(frozen=True, slots=True)
class Format:
    """A format. `module` is one below this package, `requires` the third-party packages that it imports."""

    name: str
    module: str
    requires: tuple[str, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether what it needs is installed."""
        return all(importlib.util.find_spec(name) is not None for name in self.requires)

    @property
    def remedy(self) -> str:
        """What to install for it."""
        return 'the extra `formats` (pip install "search-knowledge[formats]")'

    def load(self) -> Converter:
        """Import the converter, and the libraries with it."""
        module = importlib.import_module(f"publish_knowledge.conversion.{self.module}")
        return cast("Converter", module.convert)


_HTML: Final = ("html_to_markdown", "lxml")
_WEB_PAGE: Final = Format("HTML", "html", _HTML)

FORMATS: Final[dict[str, Format]] = {
    ".html": _WEB_PAGE,
    ".htm": _WEB_PAGE,
    ".xhtml": _WEB_PAGE,
    ".docx": Format("Word", "packaged.docx", ("mammoth", *_HTML)),
    ".xlsx": Format("Excel", "packaged.xlsx", ("openpyxl",)),
    ".csv": Format("CSV", "delimited"),
    ".tsv": Format("TSV", "delimited"),
    ".pptx": Format("PowerPoint", "packaged.pptx", ("pptx", "lxml")),
    ".epub": Format("EPUB", "packaged.epub", _HTML),
    ".ipynb": Format("Jupyter", "notebook"),
    ".rst": Format("reStructuredText", "rest", ("docutils", *_HTML)),
    ".eml": Format("E-mail", "mail", _HTML),
}
"""Formats by extension, in lower case."""


def find_format(path: str) -> Format | None:
    """The format of a file by its extension, in either case; `None` for one that is not converted."""
    return FORMATS.get(PurePosixPath(path).suffix.lower())
