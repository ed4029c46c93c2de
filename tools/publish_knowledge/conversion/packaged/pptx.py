"""Slides to Markdown: a heading for each, its text and tables, and the speaker's notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import lxml.etree
import pptx
from pptx.exc import PythonPptxError
from pptx.util import Length

from publish_knowledge.conversion.packaged.archives import open_archive
from publish_knowledge.conversion.protocol import ConversionError, Converted
from publish_knowledge.conversion.tables import format_table


def convert(data: bytes) -> Converted:
    """Convert the slides in order, hidden ones left out."""
    open_archive(data, "ppt/presentation.xml", "a PowerPoint presentation (.pptx)").close()
    try:
        deck = pptx.Presentation(io.BytesIO(data))
        slides = [text for number, slide in enumerate(deck.slides, start=1) for text in _convert_slide(slide, number)]
    except (PythonPptxError, lxml.etree.LxmlError, KeyError, ValueError, AttributeError, TypeError) as error:
        reason = f"It is damaged ({type(error).__name__}: {error}). Open it in PowerPoint and save it again."
        raise ConversionError(reason) from None
    if not slides:
        raise ConversionError("It has no text. Write its slides, or remove the file.")
    return Converted("\n\n".join(slides) + "\n", " ".join((deck.core_properties.title or "").split()))


def _convert_slide(slide: Any, number: int) -> Iterator[str]:  # noqa: ANN401 - python-pptx has no types
    if slide.element.get("show") == "0":
        return
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None else ""
    shapes = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
    blocks = [block for shape in _order(shapes) for block in _convert_shape(shape) if block]
    notes = slide.notes_slide.notes_text_frame.text.strip() if slide.has_notes_slide else ""
    if heading or blocks or notes:
        yield f"## Slide {number}: {heading}" if heading else f"## Slide {number}"
        yield from blocks
        if notes:
            yield f"Notes: {notes}"


def _order(shapes: Iterable[Any]) -> list[Any]:
    """Shapes as they are read: from the top, then from the left; one without a place keeps its layout's."""
    return sorted(shapes, key=lambda shape: (shape.top or Length(0), shape.left or Length(0)))


def _convert_shape(shape: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    if hasattr(shape, "shapes"):
        for inner in _order(shape.shapes):
            yield from _convert_shape(inner)
    elif getattr(shape, "has_table", False):
        yield format_table([cell.text for cell in row.cells] for row in shape.table.rows).strip()
    elif shape.has_text_frame:
        yield _convert_paragraphs(shape)


def _convert_paragraphs(shape: Any) -> str:  # noqa: ANN401 - as above
    """Paragraphs of a placeholder are a list, with levels; those of a text box are text."""
    paragraphs = [(part.level, " ".join(part.text.split())) for part in shape.text_frame.paragraphs]
    written = [(level, text) for level, text in paragraphs if text]
    if shape.is_placeholder and len(written) > 1:
        return "\n".join(f"{'  ' * level}- {text}" for level, text in written)
    return "\n\n".join(text for _, text in written)
