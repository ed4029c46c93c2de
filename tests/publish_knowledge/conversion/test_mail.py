"""E-mails become subject, headers and text."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from publish_knowledge.conversion.mail import convert
from publish_knowledge.conversion.protocol import ConversionError

HEADERS = "# Öl für die Kette\n\nFrom: Ana <ana@example.com>\\\nTo: ben@example.com\n\n"


def make_mail(text: str = "", html: str = "", attachment: str = "") -> bytes:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Öl für die Kette", "Ana <ana@example.com>", "ben@example.com"
    if text:
        mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    if attachment:
        mail.add_attachment(b"1", maintype="application", subtype="pdf", filename=attachment)
    return mail.as_bytes()


def test_the_plain_text_is_taken_and_attachments_are_named() -> None:
    converted = convert(make_mail("Alle 200 km.\n\nGrüße\n", "<p>Anders</p>", "rechnung.pdf"))
    assert converted.text == f"{HEADERS}Alle 200 km.\n\nGrüße\n\nAttachments: rechnung.pdf\n"
    assert converted.title == "Öl für die Kette"


def test_without_plain_text_the_html_is_converted() -> None:
    assert convert(make_mail(html="<p>Alle <b>200</b> km.</p>")).text == f"{HEADERS}Alle **200** km.\n"


def test_other_encodings_are_decoded() -> None:
    mail = b"Subject: Oil\nContent-Type: text/plain; charset=iso-8859-1\n\nna\xefve\n"
    assert convert(mail).text == "# Oil\n\nnaïve\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "It is not an e-mail"),
        (b"Subject: Oil\n\n", "It has no text"),
        (b"Subject: Oil\nContent-Type: text/plain; charset=nonsense\n\ntext\n", "cannot be decoded"),
    ],
)
def test_what_has_no_text_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert(data)
