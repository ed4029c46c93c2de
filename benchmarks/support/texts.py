"""Made-up texts, questions and vectors with the statistics of real ones: those of the sample base in `examples/`.

Texts are composed of its words, as often as they occur, half of them from one passage, so that each has a topic.
Vectors are the passages' own, with seeded noise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from knowledge.embedding.base import Vectors
from knowledge.embedding.providers import LOCAL, provider
from publish_knowledge.embedding.cache import VectorCache
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.embedding.fast_e5.provider import select_passage_provider
from publish_knowledge.passages.indexed_text import build_embedded_text
from publish_knowledge.passages.splitting import Passage, split_text
from publish_knowledge.sources.documents import Document
from publish_knowledge.sources.files import find_files
from publish_knowledge.sources.loading import load_documents

_EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples/knowledge"
_UNSPACED: Final = frozenset({"ja", "zh"})
_PIECE: Final = re.compile(r"[^。、！？\s]+[。、！？]?")

_WORDS: Final = (40, 120)
"""Fewest and most words of a passage: 250 to 750 characters of English."""
_PIECES: Final = (6, 20)
"""The same for scripts without blanks, in pieces between marks."""
_ASKED: Final = (3, 8)

_RARE: Final = 1 / 30
"""Share of words that get a number, so that a larger scope has more distinct words, as real ones have."""
_RARE_NUMBERS: Final = 1_000_000

_OTHER: Final = 0.35
_NOISE: Final = 0.4
"""Weights of another topic's vector and of a random direction, added to a topic's own."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One passage of the sample base: its words in order, and its vector of shape (dimensions,)."""

    title: str
    heading: str
    language: str
    words: tuple[str, ...]
    vector: Vectors

    @property
    def spaced(self) -> bool:
        """Whether blanks stand between words."""
        return self.language not in _UNSPACED

    def joined(self, words: Sequence[str]) -> str:
        """A text of these words."""
        return (" " if self.spaced else "").join(words)


@dataclass(frozen=True, slots=True)
class Sample:
    """All topics, and each language's words as often as they occur. `embedding` names the provider of the vectors."""

    embedding: str
    topics: tuple[Topic, ...]
    words: Mapping[str, Sequence[str]]

    def text(self, topic: Topic, drawn: random.Random) -> str:
        """A passage's text: half of the topic's words, half of its language's."""
        count = drawn.randint(*(_WORDS if topic.spaced else _PIECES))
        half = count // 2
        words = drawn.choices(topic.words, k=half) + drawn.choices(self.words[topic.language], k=count - half)
        drawn.shuffle(words)
        return topic.joined([_rare(word, drawn) if drawn.random() < _RARE else word for word in words]) + "\n"

    def question(self, drawn: random.Random) -> str:
        """Some words in a row from a topic, and one more; without blanks one piece."""
        topic = drawn.choice(self.topics)
        if not topic.spaced:
            return drawn.choice(topic.words)
        size = drawn.randint(*_ASKED)
        start = drawn.randrange(max(1, len(topic.words) - size))
        return topic.joined([*topic.words[start : start + size], drawn.choice(topic.words)])

    def vector(self, topic: Topic, drawn: np.random.Generator) -> Vectors:
        """Shape (dimensions,), of length 1: near the topic's own."""
        other = self.topics[drawn.integers(len(self.topics))].vector
        noise = drawn.standard_normal(len(topic.vector)) / len(topic.vector) ** 0.5
        found = topic.vector + _OTHER * other + _NOISE * noise
        return np.asarray(found / np.linalg.norm(found), dtype=np.float32)


def questions(folder: Path, count: int, seed: int = 0, embedding: str = LOCAL) -> list[str]:
    """Different questions."""
    known, drawn, found = sample(folder, embedding), random.Random(seed), dict[str, None]()
    while len(found) < count:
        found[known.question(drawn)] = None
    return list(found)


def vectors(folder: Path, count: int, seed: int = 0, embedding: str = LOCAL) -> Vectors:
    """Shape (count, dimensions): vectors for questions, where embedding them should cost nothing."""
    known, drawn = sample(folder, embedding), np.random.default_rng(seed)
    topics = [known.topics[position] for position in drawn.integers(len(known.topics), size=count)]
    return np.stack([known.vector(topic, drawn) for topic in topics])


@cache
def sample(folder: Path, embedding: str = LOCAL) -> Sample:
    """The sample base; its vectors are made once and kept in `folder`."""
    model = provider(embedding)
    parts = [
        (document, passage)
        for document in documents_of_sample()
        for passage in split_text(document.text, document.kind)
    ]
    embedder = Embedder(select_passage_provider(model), VectorCache(folder, model.model, model.dimensions))
    made = embedder.embed([build_embedded_text(document.title, passage) for document, passage in parts])
    found = (_topic(*part, vector) for part, vector in zip(parts, made, strict=True))
    topics = tuple(topic for topic in found if topic.words)
    words: dict[str, list[str]] = {}
    for topic in topics:
        words.setdefault(topic.language, []).extend(topic.words)
    return Sample(embedding, topics, words)


def documents_of_sample() -> tuple[Document, ...]:
    """The sample base as publishing reads it."""
    return load_documents(find_files(sorted(path for path in _EXAMPLES.iterdir() if path.is_dir()))).documents


def _topic(document: Document, passage: Passage, vector: Vectors) -> Topic:
    words = tuple(_words(passage.text, document.language))
    return Topic(document.title, passage.heading, document.language, words, vector)


def _words(text: str, language: str) -> Iterator[str]:
    found = _PIECE.findall(text) if language in _UNSPACED else text.split()
    return (word for word in found if any(map(str.isalnum, word)))


def _rare(word: str, drawn: random.Random) -> str:
    return f"{word.strip('.,;:!?。、')}-{int(_RARE_NUMBERS ** drawn.random())}"
