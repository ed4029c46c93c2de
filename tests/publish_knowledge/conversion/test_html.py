"""Pages become Markdown: main content, tables, code and lists; navigation is left out."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.html import MAX_DEPTH, convert, decode_markup
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import convert_file, read_handbook, tighten_lists


def page(body: str, head: str = "") -> str:
    return convert(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode()).text


def test_a_page_of_pandoc_becomes_the_handbook() -> None:
    converted = convert_file("pandoc.html")
    assert converted.text == read_handbook()
    assert (converted.title, converted.language) == ("Bicycle handbook - Riders", "en")


def test_a_page_of_libreoffice_becomes_the_handbook_but_for_levels_of_lists() -> None:
    expected = read_handbook().replace("  - ", "- ").replace("`unlock 42`", "unlock 42")
    assert tighten_lists(convert_file("libreoffice.html").text) == expected


def test_only_the_main_content_is_taken() -> None:
    body = "<header>Site</header><nav>Home</nav><main><h1>Oil</h1><p>Every 200 km.</p></main><footer>Imprint</footer>"
    assert page(body) == "# Oil\n\nEvery 200 km.\n"


def test_without_a_main_element_the_frame_of_the_page_is_left_out() -> None:
    body = "<header>Site</header><div><h1>Oil</h1><p>Often.</p></div><script>x()</script><footer>Imprint</footer>"
    assert page(body) == "# Oil\n\nOften.\n"


def test_of_several_articles_all_are_taken() -> None:
    assert page("<article>One.</article><article>Two.</article>") == "One.\n\nTwo.\n"


def test_links_to_headings_and_what_is_hidden_are_left_out() -> None:
    body = '<h2>Oil<a class="headerlink" href="#oil">¶</a></h2><p hidden>Never</p><p>Often.</p>'
    assert page(body) == "## Oil\n\nOften.\n"


def test_code_keeps_its_lines_and_language() -> None:
    body = '<pre><code class="language-python">def f():\n    return 1\n</code></pre>'
    assert page(body) == "```python\ndef f():\n    return 1\n```\n"


def test_lines_of_the_markup_mean_nothing_in_a_paragraph() -> None:
    assert page("<p>Use unlock\n   42 <b>on\nthe</b> lock.</p>") == "Use unlock 42 **on the** lock.\n"


def test_a_list_that_stands_directly_in_a_list_is_nested() -> None:
    assert page("<ul><li>tyres</li><ul><li>tread</li></ul><li>lights</li></ul>") == "- tyres\n  - tread\n- lights\n"


def test_cells_keep_their_borders_and_breaks() -> None:
    body = "<table><tr><th>A</th><th>B</th></tr><tr><td>x | y</td><td>one<br>two</td></tr></table>"
    assert page(body) == "| A | B |\n| --- | --- |\n| x \\| y | one<br>two |\n"


def test_pictures_in_the_page_are_left_out() -> None:
    assert page('<p>See <img src="data:image/png;base64,iVBORw0KGgo=" alt="the chain">.</p>') == "See the chain.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_are_known_by_their_marks(encoding: str) -> None:
    assert decode_markup("<p>naïve</p>".encode(encoding)) == "<p>naïve</p>"


def test_a_declared_encoding_is_used_where_the_page_is_not_utf_8() -> None:
    page = '<meta charset="iso-8859-1"><p>naïve</p>'
    assert decode_markup(page.encode("iso-8859-1")) == page


@pytest.mark.parametrize("data", [b"<p>na\xefve</p>", b'<meta charset="nonsense"><p>na\xefve</p>'])
def test_an_unknown_encoding_is_refused(data: bytes) -> None:
    with pytest.raises(ConversionError, match="Save it as UTF-8"):
        decode_markup(data)


def test_an_empty_page_is_refused() -> None:
    with pytest.raises(ConversionError, match="It is empty"):
        convert(b" \n")


def test_very_deep_pages_end() -> None:
    depth = 20 * MAX_DEPTH
    assert isinstance(page("<div>" * depth + "deep" + "</div>" * depth), str)
