"""Word documents of several writers become Markdown."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.packaged.docx import convert, read_properties, strip_styles
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import convert_file, make_zip, read_handbook

_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


@pytest.mark.parametrize("name", ["pandoc.docx", "libreoffice.docx"])
def test_documents_of_pandoc_and_libreoffice_become_the_handbook(name: str) -> None:
    expected = read_handbook()
    # LibreOffice writes the style of code in a line under a name of its own.
    expected = expected if name.startswith("pandoc") else expected.replace("`unlock 42`", "unlock 42")
    assert convert_file(name).text == expected


def test_a_document_of_python_docx_keeps_headings_lists_and_tables() -> None:
    expected = read_handbook().partition("\nUse `unlock")[0].replace("  - ", "- ")
    assert convert_file("python-docx.docx").text == f"{expected}\nUse unlock 42 on the lock.\n"


def test_a_damaged_document_is_refused() -> None:
    with pytest.raises(ConversionError, match="save it again"):
        convert(make_zip({"word/document.xml": b"<w:document>", "[Content_Types].xml": b"<Types/>"}))


def test_another_archive_is_no_document() -> None:
    with pytest.raises(ConversionError, match=r"It is not a Word document \(\.docx\): it has no word/document\.xml"):
        convert(make_zip({"readme.txt": b"text"}))


def test_properties_that_cannot_be_read_are_none() -> None:
    assert read_properties(b"<broken") == ("", "")


def test_a_document_without_text_is_refused() -> None:
    relations = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'  # noqa: E501 - one element
    types = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    document = f"<w:document {_NAMESPACE}><w:body/></w:document>".encode()
    with pytest.raises(ConversionError, match="It has no text"):
        convert(make_zip({"[Content_Types].xml": types, "_rels/.rels": relations, "word/document.xml": document}))


def test_styles_that_cannot_be_read_stay_as_they_are() -> None:
    assert strip_styles(b"<broken") == b"<broken"


def test_of_styles_names_and_paragraphs_stay() -> None:
    style = f"<w:styles {_NAMESPACE}><w:style><w:name/><w:pPr/><w:rPr/></w:style><w:latentStyles/></w:styles>".encode()
    expected = f"<w:styles {_NAMESPACE}><w:style><w:name/><w:pPr/></w:style></w:styles>".encode()
    assert strip_styles(style) == expected
