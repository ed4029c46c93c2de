"""HTML to Markdown: the main content of a page, without navigation."""

from __future__ import annotations

import codecs
import re
from typing import Any, Final

import html_to_markdown
import lxml.etree
import lxml.html

from publish_knowledge.conversion.protocol import ConversionError, Converted

MAX_DEPTH: Final = 200
"""Elements within each other that are converted; deeper ones come from a fault."""

_META_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
_META_BYTES: Final = 4_096
_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]{0,200}\?>")
_PREFORMATTED: Final = ("pre", "textarea")
_BREAKS: Final = re.compile(r"[ \t]*[\r\n]\s*")
_MAIN: Final = ("//main", "//*[@role='main']", "//article")
_NOISE: Final = (
    "//nav | //aside | //script | //style | //template | //noscript | //svg | //iframe | //form | //button"
    " | //body/div[@title='header'] | //body/div[@title='footer']"  # of LibreOffice
    " | //*[@role='navigation'] | //*[@role='search'] | //*[@aria-hidden='true'] | //*[@hidden]"
    " | //a[contains(concat(' ', normalize-space(@class), ' '), ' headerlink ')]"
)
_PAGE_FRAME: Final = "/html/body//header[not(ancestor::article)] | /html/body//footer"
_OPTIONS: Final[dict[str, Any]] = {
    "heading_style": "atx",
    "bullets": "-",
    "extract_metadata": False,
    "br_in_tables": True,
    "compact_tables": True,
    "code_block_style": "backticks",
    "newline_style": "backslash",
    "inline_data_media": "alt_text_only",
    "max_depth": MAX_DEPTH,
}


def convert(data: bytes) -> Converted:
    """Convert a page: `<main>` where there is exactly one, else the body without what frames it."""
    return convert_markup(decode_markup(data))


def convert_markup(markup: str) -> Converted:
    """Convert decoded HTML; raises `ConversionError`."""
    page = _parse(markup)
    title = " ".join((page.findtext(".//title") or "").split())
    language = page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    for element in page.xpath(_NOISE):
        _remove(element)
    _mend_lists(page)
    _join_lines(page)
    return Converted(to_markdown(_find_main(page)), title, language.strip())


def to_markdown(element: lxml.html.HtmlElement) -> str:
    """Markdown of an element and what is in it."""
    markup = lxml.html.tostring(element, encoding="unicode", with_tail=False)
    result = html_to_markdown.convert(markup, html_to_markdown.ConversionOptions(**_OPTIONS))
    text = result.content or ""
    return f"{text.strip()}\n" if text.strip() else ""


def decode_markup(data: bytes) -> str:
    """Text of a page, by its byte-order mark, as UTF-8, or by the encoding that it declares."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        declared = _META_CHARSET.search(data[:_META_BYTES])
    try:
        return data.decode(declared[1].decode("ascii") if declared else "ascii")
    except (LookupError, UnicodeDecodeError):
        raise ConversionError("It is neither UTF-8 nor in the encoding that it declares. Save it as UTF-8.") from None


def _parse(markup: str) -> lxml.html.HtmlElement:
    if not markup.strip():
        raise ConversionError("It is empty. Write its text, or remove the file.")
    parser = lxml.html.HTMLParser(no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        return lxml.html.document_fromstring(_DECLARATION.sub("", markup.replace("\0", "")), parser=parser)
    except (lxml.etree.ParserError, lxml.etree.XMLSyntaxError) as error:
        raise ConversionError(f"It cannot be read as HTML ({error}). Check what is in it.") from None


def _find_main(page: lxml.html.HtmlElement) -> lxml.html.HtmlElement:
    for path in _MAIN:
        found = [one for one in page.xpath(path) if one.text_content().strip()]
        if len(found) == 1:
            return found[0]
    for element in page.xpath(_PAGE_FRAME):
        _remove(element)
    body = page.find("body")
    return page if body is None else body


def _mend_lists(page: lxml.html.HtmlElement) -> None:
    """Put a list that stands directly in a list into the item before it, as browsers show it."""
    for inner in page.xpath("//ul/ul | //ul/ol | //ol/ul | //ol/ol"):
        before = inner.getprevious()
        if before is not None and before.tag == "li":
            before.append(inner)


def _join_lines(page: lxml.html.HtmlElement) -> None:
    """Make line breaks of the markup spaces: between words they mean nothing, except in preformatted text."""
    for element in page.iter():
        is_kept = element.tag in _PREFORMATTED or next(element.iterancestors(*_PREFORMATTED), None) is not None
        if element.text and not is_kept:
            element.text = _BREAKS.sub(" ", element.text)
        if element.tail and next(element.iterancestors(*_PREFORMATTED), None) is None:
            element.tail = _BREAKS.sub(" ", element.tail)


def _remove(element: lxml.html.HtmlElement) -> None:
    if element.getparent() is not None:
        element.drop_tree()
