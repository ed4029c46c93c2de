"""haiku.rag as a worker of `rivals`: `FOLDER ENDPOINT` on the command line, and the passages as its first request.

It runs in `.venv-rivals`. The passages are the project's own, so that only the search differs.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, Final

from docling_core.types.doc.document import DoclingDocument
from haiku.rag.client import DocumentImport, HaikuRAG
from haiku.rag.config import AppConfig
from haiku.rag.store.models.chunk import Chunk

from benchmarks.rivals.worker import serve

DIMENSIONS: Final = 384


def build_configuration(endpoint: str) -> AppConfig:
    """Return the defaults but for the embedding model: the project's, behind an OpenAI-compatible endpoint."""
    model = {
        "provider": "openai",
        "name": "multilingual-e5-small",
        "vector_dim": DIMENSIONS,
        "base_url": endpoint,
        "api_key": "none",
        "query_prefix": "query: ",
        "document_prefix": "passage: ",
    }
    return AppConfig.model_validate({"embeddings": {"model": model}})


class Database:
    """An open database of haiku.rag on an event loop of its own."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        self._runner = asyncio.Runner()
        self._client: Any = HaikuRAG(folder / "rival.lancedb", config=build_configuration(endpoint), create=True)
        self._runner.run(self._client.__aenter__())

    def handle(self, request: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Import documents, or answer a question with the documents of its chunks, best first."""
        if "documents" in request:
            return self._runner.run(self._import(request["documents"]))
        return self._runner.run(self._search(request["query"], request["limit"]))

    async def _import(self, documents: dict[str, list[dict[str, Any]]]) -> int:
        made = [_build_document(uri, passages) for uri, passages in documents.items()]
        return len(await self._client.import_documents(made))

    async def _search(self, query: str, limit: int) -> list[str]:
        found = await self._client.search(query, limit=limit)
        return list(dict.fromkeys(one.document_uri for one in found))


def _build_document(uri: str, passages: list[dict[str, Any]]) -> DocumentImport:
    text = DoclingDocument(name=uri)
    for passage in passages:
        text.add_text(label="text", text=passage["text"])
    chunks = [
        Chunk(content=passage["text"], order=order, metadata={"headings": passage["headings"]})
        for order, passage in enumerate(passages)
    ]
    return DocumentImport(docling_document=text, chunks=chunks, uri=uri, title=passages[0]["title"])


if __name__ == "__main__":
    serve(Database(Path(sys.argv[1]), sys.argv[2]).handle)
