"""EPUB books to Markdown: the chapters of the spine, in order."""

from __future__ import annotations

import posixpath
import zipfile
from typing import Any, Final
from urllib.parse import unquote

import lxml.etree

from publish_knowledge.conversion.html import convert_markup, decode_markup
from publish_knowledge.conversion.packaged.archives import open_archive
from publish_knowledge.conversion.protocol import ConversionError, Converted

_CONTAINER: Final = "META-INF/container.xml"
_NAMES: Final = {
    "container": "urn:oasis:names:tc:opendocument:xmlns:container",
    "opf": "http://www.idpf.org/2007/opf",
    "dc": "http://purl.org/dc/elements/1.1/",
}


def convert(data: bytes) -> Converted:
    """Convert the chapters that the spine lists, its navigation and cover left out where they have no text."""
    with open_archive(data, _CONTAINER, "an EPUB book (.epub)") as archive:
        if "META-INF/encryption.xml" in archive.NameToInfo and "META-INF/rights.xml" in archive.NameToInfo:
            raise ConversionError("It is protected by DRM. Open it where it was bought.")
        try:
            path = str(_parse(archive.read(_CONTAINER)).find(".//container:rootfile", _NAMES).get("full-path"))
            package = _parse(archive.read(path))
            chapters = [_convert_chapter(archive, name) for name in _list_chapters(package, posixpath.dirname(path))]
        except (lxml.etree.XMLSyntaxError, KeyError, AttributeError, zipfile.BadZipFile) as error:
            raise ConversionError(f"It is damaged ({type(error).__name__}: {error}). Save it again.") from None
    text = "\n".join(filter(None, chapters))
    if not text:
        raise ConversionError("It has no text. Write its chapters, or remove the file.")
    title, language = (package.findtext(f".//dc:{name}", "", _NAMES).strip() for name in ("title", "language"))
    return Converted(text, " ".join(title.split()), language)


def _parse(xml: bytes) -> Any:  # noqa: ANN401 - lxml has no types
    return lxml.etree.fromstring(xml, lxml.etree.XMLParser(resolve_entities=False, no_network=True))


def _list_chapters(package: Any, folder: str) -> list[str]:  # noqa: ANN401 - as above
    items = {item.get("id"): item for item in package.findall(".//opf:manifest/opf:item", _NAMES)}
    spine = [items[reference.get("idref")] for reference in package.findall(".//opf:spine/opf:itemref", _NAMES)]
    chapters = [item for item in spine if "nav" not in (item.get("properties") or "").split()]
    return [posixpath.normpath(posixpath.join(folder, unquote(item.get("href")))) for item in chapters]


def _convert_chapter(archive: zipfile.ZipFile, name: str) -> str:
    markup = decode_markup(archive.read(name))
    return convert_markup(markup).text if markup.strip() else ""
