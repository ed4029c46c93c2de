"""Synthetic texts, questions and vectors with the statistics of the sample base in `examples/`.

Texts are drawn from its words, with their frequencies, half of them from one passage, so that each has a topic. Vectors
are those of the passages with seeded noise.
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
"""The same for scripts without spaces, in pieces between punctuation marks."""
_QUESTION_WORDS: Final = (3, 8)

_RARE: Final = 1 / 30
"""Share of words that get a number, so that a larger scope has more distinct words, as real text has."""
_RARE_NUMBERS: Final = 1_000_000

_OTHER_WEIGHT: Final = 0.35
_NOISE_WEIGHT: Final = 0.4
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
    def is_spaced(self) -> bool:
        """Whether words are separated by spaces."""
        return self.language not in _UNSPACED

    def join(self, words: Sequence[str]) -> str:
        """Join words to a text."""
        return (" " if self.is_spaced else "").join(words)


@dataclass(frozen=True, slots=True)
class Sample:
    """All topics, and each language's words with repetitions. `embedding` names the provider of the vectors."""

    embedding: str
    topics: tuple[Topic, ...]
    words: Mapping[str, Sequence[str]]

    def draw_text(self, topic: Topic, drawn: random.Random) -> str:
        """Draw a passage's text: half of its words from the topic, half from the topic's language."""
        count = drawn.randint(*(_WORDS if topic.is_spaced else _PIECES))
        half = count // 2
        words = drawn.choices(topic.words, k=half) + drawn.choices(self.words[topic.language], k=count - half)
        drawn.shuffle(words)
        return topic.join([_number_word(word, drawn) if drawn.random() < _RARE else word for word in words]) + "\n"

    def draw_question(self, drawn: random.Random) -> str:
        """Draw some consecutive words of a topic and one more; in scripts without spaces one piece."""
        topic = drawn.choice(self.topics)
        if not topic.is_spaced:
            return drawn.choice(topic.words)
        size = drawn.randint(*_QUESTION_WORDS)
        start = drawn.randrange(max(1, len(topic.words) - size))
        return topic.join([*topic.words[start : start + size], drawn.choice(topic.words)])

    def draw_vector(self, topic: Topic, drawn: np.random.Generator) -> Vectors:
        """Draw a unit vector of shape (dimensions,) near the topic's own."""
        other = self.topics[drawn.integers(len(self.topics))].vector
        noise = drawn.standard_normal(len(topic.vector)) / len(topic.vector) ** 0.5
        found = topic.vector + _OTHER_WEIGHT * other + _NOISE_WEIGHT * noise
        return np.asarray(found / np.linalg.norm(found), dtype=np.float32)


def draw_questions(folder: Path, count: int, seed: int = 0, embedding: str = LOCAL) -> list[str]:
    """Draw distinct questions."""
    known, drawn, found = load_sample(folder, embedding), random.Random(seed), dict[str, None]()
    while len(found) < count:
        found[known.draw_question(drawn)] = None
    return list(found)


def draw_vectors(folder: Path, count: int, seed: int = 0, embedding: str = LOCAL) -> Vectors:
    """Draw vectors of questions, shape (count, dimensions), where embedding must cost nothing."""
    known, drawn = load_sample(folder, embedding), np.random.default_rng(seed)
    topics = [known.topics[position] for position in drawn.integers(len(known.topics), size=count)]
    return np.stack([known.draw_vector(topic, drawn) for topic in topics])


@cache
def load_sample(folder: Path, embedding: str = LOCAL) -> Sample:
    """Load the sample base; its vectors are computed once and kept in `folder`."""
    model = provider(embedding)
    parts = [
        (document, passage)
        for document in load_sample_documents()
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


def load_sample_documents() -> tuple[Document, ...]:
    """Load the sample base as the publisher reads it."""
    return load_documents(find_files(sorted(path for path in _EXAMPLES.iterdir() if path.is_dir()))).documents


def _topic(document: Document, passage: Passage, vector: Vectors) -> Topic:
    words = tuple(_words(passage.text, document.language))
    return Topic(document.title, passage.heading, document.language, words, vector)


def _words(text: str, language: str) -> Iterator[str]:
    found = _PIECE.findall(text) if language in _UNSPACED else text.split()
    return (word for word in found if any(map(str.isalnum, word)))


def _number_word(word: str, drawn: random.Random) -> str:
    return f"{word.strip('.,;:!?。、')}-{int(_RARE_NUMBERS ** drawn.random())}"
