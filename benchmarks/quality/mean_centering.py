"""Measure what all vectors of the local model have in common, over the sample base.

Run `python -m benchmarks.quality.mean_centering`; it writes the file that `knowledge.embedding.centering` reads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.quality.collections_dataset import say
from benchmarks.support.texts import documents_of_sample
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
"""Characters of a sentence that says something."""


def main() -> None:
    """Sentences stand for questions: both are short and say one thing."""
    model = MultilingualE5()
    documents = documents_of_sample()
    questions, passages = _by_language(documents, _sentences), _by_language(documents, _passages)
    say(f"{_count(questions)} sentences, {_count(passages)} passages, {len(passages)} languages")
    asked = [np.concatenate([model.embed_raw_queries([text]) for text in texts]) for texts in questions.values()]
    Centering.measure(asked, [model.embed_raw_passages(texts) for texts in passages.values()]).save()
    say(f"written: {E5_FILE}")


def _by_language(documents: Sequence[Document], parts: Parts) -> Mapping[str, Sequence[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for document in documents:
        found[document.language].extend(parts(document))
    return dict(sorted(found.items()))


def _passages(document: Document) -> Iterator[str]:
    return (build_embedded_text(document.title, passage) for passage in split_text(document.text, document.kind))


def _sentences(document: Document) -> Iterator[str]:
    for passage in split_text(document.text, document.kind):
        for sentence in _SENTENCE_END.split(passage.text):
            if len(sentence.strip(_MARKUP)) >= _SHORTEST:
                yield sentence.strip(_MARKUP)


def _count(texts: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, texts.values()))


if __name__ == "__main__":
    main()
