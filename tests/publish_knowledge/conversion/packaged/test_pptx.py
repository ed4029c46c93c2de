"""Slides become headings, text, tables and notes."""

from __future__ import annotations

import io

import pptx
import pytest
from pptx.util import Inches

from publish_knowledge.conversion.packaged.pptx import convert
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import convert_file, make_zip


def make_deck() -> bytes:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Oil"
    first.placeholders[1].text_frame.text = "Often"
    inner = first.placeholders[1].text_frame.add_paragraph()
    inner.text, inner.level = "every 200 km", 1
    first.notes_slide.notes_text_frame.text = "Show the chain."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    lower = second.shapes.add_textbox(Inches(1), Inches(4), Inches(2), Inches(1))
    lower.text_frame.text = "Below"
    table = second.shapes.add_table(2, 1, Inches(1), Inches(2), Inches(2), Inches(1)).table
    table.cell(0, 0).text, table.cell(1, 0).text = "Tool", "Hex key"
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(5), Inches(2), Inches(1)).text_frame.text = "Grouped"
    hidden = deck.slides.add_slide(deck.slide_layouts[6])
    hidden.element.set("show", "0")
    data = io.BytesIO()
    deck.save(data)
    return data.getvalue()


def test_slides_have_text_tables_and_notes_from_top_to_bottom() -> None:
    assert convert(make_deck()).text == (
        "## Slide 1: Oil\n\n- Often\n  - every 200 km\n\nNotes: Show the chain.\n\n"
        "## Slide 2\n\n| Tool |\n| --- |\n| Hex key |\n\nBelow\n\nGrouped\n"
    )


def test_slides_of_pandoc_have_headings_lists_and_tables() -> None:
    text = convert_file("pandoc.pptx").text
    assert text.startswith("## Slide 1: Bicycle handbook\n")
    assert "| Hex key | 5 mm | 3.50 |" in text
    assert "- tyres\n  - pressure\n  - tread\n- lights\n" in text


def test_a_deck_without_slides_is_refused() -> None:
    data = io.BytesIO()
    pptx.Presentation().save(data)
    with pytest.raises(ConversionError, match="It has no text"):
        convert(data.getvalue())


def test_a_damaged_deck_is_refused() -> None:
    with pytest.raises(ConversionError, match="It is damaged"):
        convert(make_zip({"ppt/presentation.xml": b"<p", "[Content_Types].xml": b"<Types/>"}))
