"""Shared by tests of the engine layer and of built packages: files, a native library, a front module."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import lazy_imports
from engine_build.files import ELF_MACHINES

LAZY_IMPORTS: Final = Path(lazy_imports.__file__)
FRONT: Final = '''"""A shop."""

from shop.tills import (
    Till,
    Drawer as Box,
)
from .goods import Apple
from json import dumps

Chest = Box

def weigh(what: Apple) -> Till: ...
'''


def write_files(folder: Path, *paths: str, data: bytes = b"data") -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def make_library(architecture: str) -> bytes:
    """The first bytes of a native library."""
    return b"\x7fELF\x02\x01\x01" + bytes(11) + ELF_MACHINES[architecture].to_bytes(2, "little") + bytes(44)
