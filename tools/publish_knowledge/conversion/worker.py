"""A process that converts documents, one after the other, below its own limit of memory.

A request is a line of JSON with the extension and the number of bytes, then these bytes; an answer is a line of JSON.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from typing import BinaryIO, Final

from publish_knowledge.conversion.formats import FORMATS
from publish_knowledge.conversion.protocol import ConversionError

MAX_MEMORY_BYTES: Final = 1_200 * 1024 * 1024
"""Address space of a worker: three times what a workbook of a million cells takes."""

MAX_TEXT_CHARS: Final = 20_000_000
"""As long as the longest text that is published as it is."""


def convert(extension: str, data: bytes) -> dict[str, str]:
    """Convert one document; the answer has `error` where it cannot be."""
    try:
        converted = FORMATS[extension].load()(data)
    except ConversionError as error:
        return {"error": str(error)}
    except (MemoryError, RecursionError):
        return {"error": "Converting it takes too much memory. Split it into several files."}
    except Exception as error:  # noqa: BLE001 - a library fails in its own ways at a damaged file, and others go on
        return {"error": f"It cannot be converted ({type(error).__name__}). It may be damaged: save it again."}
    if len(converted.text) > MAX_TEXT_CHARS:
        return {"error": f"Its text is longer than {MAX_TEXT_CHARS:,} characters. Split it into several files."}
    if not converted.text.strip():
        return {"error": "It has no text. Write its text, or remove the file."}
    return {"text": converted.text, "title": converted.title, "language": converted.language}


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while line := requests.readline():
        request = json.loads(line)
        answer = convert(request["extension"], requests.read(request["bytes"]))
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def main() -> None:
    """Serve on standard input and output, which no library may write to."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    answers, sys.stdout = sys.stdout, sys.stderr
    serve(sys.stdin.buffer, answers.buffer)


if __name__ == "__main__":
    main()
