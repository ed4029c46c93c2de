"""Notebooks become their texts, code and outputs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from publish_knowledge.conversion.notebook import MAX_OUTPUT_CHARS, convert
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import FILES, convert_file


def convert_cells(*cells: dict[str, Any]) -> str:
    notebook = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}
    return convert(json.dumps(notebook).encode()).text


def test_a_notebook_of_pandoc_has_its_text_as_it_is() -> None:
    cells = json.loads((FILES / "pandoc.ipynb").read_text())["cells"]
    expected = "\n\n".join("".join(cell["source"]).strip("\n") for cell in cells)
    assert convert_file("pandoc.ipynb").text == f"{expected}\n"


def test_code_and_what_it_printed_are_fenced() -> None:
    outputs = [
        {"output_type": "stream", "text": ["\x1b[31mfour\x1b[0m\n"]},
        {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
        {"output_type": "execute_result", "data": {"text/plain": "x" * 3_000}},
    ]
    text = convert_cells(
        {"cell_type": "markdown", "source": ["# Sums\n", "Two and two."]},
        {"cell_type": "code", "source": "print('```')\n", "outputs": outputs},
    )
    code = "````python\nprint('```')\n````"
    assert text == f"# Sums\nTwo and two.\n\n{code}\n\n```\nfour\n```\n\n```\n{'x' * MAX_OUTPUT_CHARS}\n```\n"


def test_cells_of_the_third_format_are_read() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["1 + 1"]}]}], "nbformat": 3}
    assert convert(json.dumps(old).encode()).text == "```\n1 + 1\n```\n"


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"cells": [1]}', b'{"worksheets": []}'])
def test_another_file_is_no_notebook(data: bytes) -> None:
    with pytest.raises(ConversionError, match="It is not a Jupyter notebook"):
        convert(data)


def test_a_notebook_without_text_is_refused() -> None:
    with pytest.raises(ConversionError, match="It has no text"):
        convert(b'{"cells": []}')
