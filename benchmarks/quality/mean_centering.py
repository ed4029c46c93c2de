"""Measure the mean vectors of the local model over the sample base, for centering.

Run `python -m benchmarks.quality.mean_centering`; it writes the file that `knowledge.embedding.centering` reads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.quality.collections_dataset import log
from benchmarks.support.texts import load_sample_documents
from knowledge.embedding.centering import E5_FILE, Centering
from knowledge.embedding.e5 import MultilingualE5
from publish_knowledge.passages.indexed_text import build_embedded_text
from publish_knowledge.passages.splitting import split_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from publish_knowledge.sources.documents import Document

    Parts = Callable[[Document], Iterator[str]]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s*")
_MARKUP: Final = "#-* \n"
_SHORTEST: Final = 12
"""Characters of the shortest sentence that counts."""


def main() -> None:
    """Measure and save the means. Sentences stand for questions: both are short and have one subject."""
    model = MultilingualE5()
    documents = load_sample_documents()
    sentences, passages = _group_by_language(documents, _cut_sentences), _group_by_language(documents, _cut_passages)
    log(f"{_count_texts(sentences)} sentences, {_count_texts(passages)} passages, {len(passages)} languages")
    question_vectors = [
        np.concatenate([model.embed_raw_queries([text]) for text in texts]) for texts in sentences.values()
    ]
    Centering.measure(question_vectors, [model.embed_raw_passages(texts) for texts in passages.values()]).save()
    log(f"written: {E5_FILE}")


def _group_by_language(documents: Sequence[Document], parts: Parts) -> Mapping[str, Sequence[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for document in documents:
        found[document.language].extend(parts(document))
    return dict(sorted(found.items()))


def _cut_passages(document: Document) -> Iterator[str]:
    return (build_embedded_text(document.title, passage) for passage in split_text(document.text, document.kind))


def _cut_sentences(document: Document) -> Iterator[str]:
    for passage in split_text(document.text, document.kind):
        for sentence in _SENTENCE_END.split(passage.text):
            if len(sentence.strip(_MARKUP)) >= _SHORTEST:
                yield sentence.strip(_MARKUP)


def _count_texts(texts: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, texts.values()))


if __name__ == "__main__":
    main()
