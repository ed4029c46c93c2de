"""E-mails to Markdown: subject, sender, date, and the text."""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage
from typing import Final

from publish_knowledge.conversion.html import convert_markup
from publish_knowledge.conversion.protocol import ConversionError, Converted

_HEADERS: Final = ("From", "To", "Cc", "Date")


def convert(data: bytes) -> Converted:
    """Convert the plain text, or the HTML where there is none; attachments are named."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not message.keys():
        raise ConversionError("It is not an e-mail (.eml): it has no headers. Check its extension, or save it again.")
    subject = _read_header(message, "Subject")
    headers = [f"{name}: {value}" for name in _HEADERS if (value := _read_header(message, name))]
    names = [name for part in message.iter_attachments() if (name := part.get_filename())]
    attachments = [f"Attachments: {', '.join(names)}"] if names else []
    blocks = [f"# {subject}" if subject else "", "\\\n".join(headers), _read_text(message), *attachments]
    return Converted("\n\n".join(filter(None, blocks)) + "\n", subject)


def _read_header(message: EmailMessage, name: str) -> str:
    return " ".join(str(message.get(name, "")).split())


def _read_text(message: EmailMessage) -> str:
    body = message.get_body(("plain", "html"))
    try:
        content = "" if body is None else str(body.get_content())
    except (LookupError, KeyError) as error:
        raise ConversionError(f"Its text cannot be decoded ({error}). Save it again as UTF-8.") from None
    if not content.strip():
        raise ConversionError("It has no text. Write its text, or remove the file.")
    is_html = body is not None and body.get_content_type() == "text/html"
    text = convert_markup(content).text if is_html else content.replace("\r\n", "\n")
    return text.strip("\n")
