"""Documents that are ZIP archives, checked before any library unpacks them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Final

from publish_knowledge.conversion.protocol import ConversionError

MAX_UNPACKED_BYTES: Final = 200 * 1024 * 1024
"""A million cells have about 50 MB of XML. Python's zipfile never unpacks more of a member than it declares."""

MAX_MEMBERS: Final = 10_000

_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"
_PROLOG_BYTES: Final = 4_096
_ENTITIES: Final = re.compile(rb"<!ENTITY|<\x00!\x00E\x00N\x00T")
_ENCRYPTED: Final = 0x1


def open_archive(data: bytes, required: str, name: str) -> zipfile.ZipFile:
    """Open a document of the format `name`, which has a member `required`; raises `ConversionError`."""
    if data.startswith(_OLD_OFFICE):
        raise ConversionError("It is encrypted, or in Office's old binary format. Save it again without a password.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        raise ConversionError(
            f"It is not {name}: no readable ZIP archive. Check its extension, or save it again."
        ) from None
    members = archive.infolist()
    _check_size(members)
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise ConversionError("It is encrypted. Save it again without a password.")
    if required not in archive.NameToInfo:
        raise ConversionError(f"It is not {name}: it has no {required}. Check its extension, or save it again.")
    _check_entities(archive, members)
    return archive


def _check_size(members: list[zipfile.ZipInfo]) -> None:
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED_BYTES or len(members) > MAX_MEMBERS:
        raise ConversionError(
            f"It unpacks to {unpacked:,} bytes in {len(members):,} parts; {MAX_UNPACKED_BYTES:,} and {MAX_MEMBERS:,} "
            "are the limits. Split it into several files."
        )


def _check_entities(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
    for member in members:
        if not member.filename.lower().endswith((".xml", ".rels", ".opf", ".ncx", ".xhtml")):
            continue
        try:
            with archive.open(member) as part:
                prolog = part.read(_PROLOG_BYTES)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, OSError) as error:
            raise ConversionError(f"{member.filename} in it is damaged ({error}). Save it again.") from None
        if _ENTITIES.search(prolog):
            raise ConversionError(f"{member.filename} in it declares XML entities, which are not read. Save it again.")
