"""Documents of several writers, converted as a worker would, and made up in memory."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from publish_knowledge.conversion.formats import FORMATS
from publish_knowledge.conversion.protocol import Converted

FILES: Final = Path(__file__).parent.parent / "publish_knowledge" / "conversion" / "files"
"""One handbook as several programs write it, and `handbook.txt`, what it should become."""

_LIST_ITEM: Final = re.compile(r"^( *(?:-|\d+\.) .*)\n\n(?= *(?:-|\d+\.) )", re.MULTILINE)


def convert_file(name: str) -> Converted:
    """Convert one of `FILES`."""
    return convert_bytes(Path(name).suffix, (FILES / name).read_bytes())


def convert_bytes(extension: str, data: bytes) -> Converted:
    """Convert in this process."""
    return FORMATS[extension].load()(data)


def read_handbook() -> str:
    """What the handbook should become."""
    return (FILES / "handbook.txt").read_text().strip() + "\n"


def tighten_lists(text: str) -> str:
    """Without the blank lines between items, which some writers make paragraphs."""
    return _LIST_ITEM.sub(r"\1\n", text)


def make_zip(members: Mapping[str, bytes]) -> bytes:
    """A ZIP archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()
