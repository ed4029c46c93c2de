"""Word documents to Markdown: styles are headings, notes and comments included."""

from __future__ import annotations

import io
import zipfile
from typing import Final
from xml.parsers.expat import ExpatError

import lxml.etree
import mammoth

from publish_knowledge.conversion.html import convert_markup
from publish_knowledge.conversion.packaged.archives import open_archive
from publish_knowledge.conversion.protocol import ConversionError, Converted

_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
r[style-name='Verbatim Char'] => code
r[style-name='HTML Code'] => code
"""
_STYLE_PART: Final = "word/styles.xml"
_WORD: Final = {"namespaces": {"w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main"}}
_PROPERTIES: Final = "docProps/core.xml"
_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"
_LANGUAGE: Final = "{http://purl.org/dc/elements/1.1/}language"


def convert(data: bytes) -> Converted:
    """Convert a Word document; pictures are left out."""
    with open_archive(data, "word/document.xml", "a Word document (.docx)") as archive:
        title, language = read_properties(archive.read(_PROPERTIES)) if _PROPERTIES in archive.NameToInfo else ("", "")
        slim = _slim_down(archive)
    try:
        result = mammoth.convert_to_html(
            io.BytesIO(slim), style_map=_STYLES, convert_image=mammoth.images.img_element(lambda _image: {})
        )
    except (ExpatError, KeyError, ValueError, AttributeError, IndexError, TypeError) as error:
        raise ConversionError(
            f"It is damaged ({type(error).__name__}: {error}). Open it in Word and save it again."
        ) from None
    if not result.value.strip():
        raise ConversionError("It has no text. Write its text, or remove the file.")
    return Converted(convert_markup(f"<main>{result.value}</main>").text, title, language)


def _slim_down(archive: zipfile.ZipFile) -> bytes:
    """The same document without pictures and without the looks of styles, which take most of the time to parse."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as slim:
        for name in archive.namelist():
            if name.endswith((".xml", ".rels")) and not name.startswith("word/theme/"):
                slim.writestr(name, strip_styles(archive.read(name)) if name == _STYLE_PART else archive.read(name))
    return data.getvalue()


def strip_styles(xml: bytes) -> bytes:
    """Styles with their names and paragraph properties alone."""
    try:
        root = lxml.etree.fromstring(xml, lxml.etree.XMLParser(resolve_entities=False, no_network=True))
    except lxml.etree.XMLSyntaxError:
        return xml
    for element in root.xpath("w:docDefaults | w:latentStyles | w:style/*[not(self::w:name or self::w:pPr)]", **_WORD):
        element.getparent().remove(element)
    return bytes(lxml.etree.tostring(root))


def read_properties(xml: bytes) -> tuple[str, str]:
    """Title and language of a document's core properties, "" where they are not said."""
    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = lxml.etree.fromstring(xml, parser)
    except lxml.etree.XMLSyntaxError:
        return "", ""
    return " ".join((root.findtext(_TITLE) or "").split()), (root.findtext(_LANGUAGE) or "").strip()
