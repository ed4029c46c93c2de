"""Archives are checked before anything in them is unpacked."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.packaged import archives
from publish_knowledge.conversion.packaged.archives import open_archive
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import make_zip


def open_made(data: bytes) -> set[str]:
    with open_archive(data, "a.xml", "a made-up document (.abc)") as archive:
        return set(archive.namelist())


def test_a_document_opens() -> None:
    assert open_made(make_zip({"a.xml": b"<a/>", "b.png": b"x"})) == {"a.xml", "b.png"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7", "no readable ZIP archive"),
        (b"", "no readable ZIP archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "encrypted, or in Office's old binary format"),
        (make_zip({"b.xml": b"<a/>"}), "it has no a.xml"),
        (make_zip({"a.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a/>'}), "declares XML entities"),
        (make_zip({"a.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'.encode("utf-16-le")}), "declares XML entities"),
    ],
)
def test_what_is_no_such_document_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        open_made(data)


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1_000)
    with pytest.raises(ConversionError, match=r"It unpacks to 1,001 bytes in 1 parts"):
        open_made(make_zip({"a.xml": b" " * 1_001}))


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(make_zip({"a.xml": b"<a/>"}))
    data[6] |= 1  # in the member's own header, and in the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ConversionError, match="It is encrypted"):
        open_made(bytes(data))


def test_a_damaged_member_is_refused() -> None:
    data = make_zip({"a.xml": b"<a>some text</a>"})
    at = data.index(b"a.xml") + len(b"a.xml")
    with pytest.raises(ConversionError, match=r"a\.xml in it is damaged"):
        open_made(data[:at] + b"\xff" * 8 + data[at + 8 :])
