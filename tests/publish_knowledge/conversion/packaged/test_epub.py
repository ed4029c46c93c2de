"""Books become their chapters, in the order of the spine."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.packaged.epub import convert
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import convert_file, make_zip, read_handbook

CONTAINER = b"""<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>"""
PACKAGE = b"""<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>Chain
 care</dc:title><dc:language>en</dc:language></metadata>
<manifest><item id="a" href="a%20b.xhtml"/><item id="b" href="../b.xhtml"/>
<item id="n" href="n.xhtml" properties="nav"/></manifest>
<spine><itemref idref="n"/><itemref idref="b"/><itemref idref="a"/></spine></package>"""
MEMBERS = {
    "META-INF/container.xml": CONTAINER,
    "in/book.opf": PACKAGE,
    "in/a b.xhtml": b'<?xml version="1.0" encoding="utf-8"?><html><body><h1>Two</h1></body></html>',
    "b.xhtml": b"<html><body><h1>One</h1></body></html>",
    "in/n.xhtml": b"<html><body>Contents</body></html>",
}


def test_chapters_come_in_the_order_of_the_spine() -> None:
    converted = convert(make_zip(MEMBERS))
    assert (converted.text, converted.title, converted.language) == ("# One\n\n# Two\n", "Chain care", "en")


def test_a_book_of_pandoc_becomes_the_handbook() -> None:
    assert convert_file("pandoc.epub").text == read_handbook()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"in/book.opf": b"<package"}, "It is damaged"),
        ({"META-INF/container.xml": b"<container/>"}, "It is damaged"),
        ({"META-INF/encryption.xml": b"", "META-INF/rights.xml": b""}, "protected by DRM"),
        ({"b.xhtml": b"", "in/a b.xhtml": b" "}, "It has no text"),
    ],
)
def test_a_book_that_cannot_be_read_is_refused(changes: dict[str, bytes], reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert(make_zip(MEMBERS | changes))
