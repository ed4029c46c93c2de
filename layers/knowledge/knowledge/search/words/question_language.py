"""The language of a question, where it is clear: by its script, its function words and letters only one language has.

The guess is conservative. Wrong, it would stem a question's words as another language's; none costs nothing. A few
keywords have no function words, and so no language here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from knowledge.search.stop_words import STOP_WORDS

MAX_GUESSED_CHARS: Final = 2_000
"""What follows is not looked at: a query is no longer."""

_MORE_WORDS: Final = {
    "ca": "amb els les una pel dels aquest aquesta quin quina quins com que es fer puc on hi ha son per perque tinc",
    "da": "og jeg ikke hvordan hvad er det til hvorfor hvilke hvilken hvor af med den kan skal min mit der fra ved",
    "fi": "ja on ei miten mita missa miksi kuinka voin voi olla ovat kun myos tai minun jos se han mika",
    "fr": """le la les un une des du de et est sont dans pour par sur avec sans qui que quoi ou comment pourquoi quel
        quelle quels quelles je tu il elle nous vous ils mon ma mes son sa ses ce cette ces puis peut faut faire au aux
        ne pas plus""",
    "hu": "es nem hogyan mi hol miert az egy hogy van mit lehet kell melyik mennyi vagy ha meg",
    "it": """il lo gli un uno una di del della dei delle e sono nel nella per con su che chi cosa come quando dove
        perche quale quali posso si mi mio mia questo questa non da dal alla ai al""",
    "nb": "og jeg ikke hvordan hva er det til hvorfor hvilke hvilken hvor av med den kan skal min mitt fra ved ble",
    "nl": """de het een en is zijn van voor met zonder op te aan wie wat waar waarom hoe welke wanneer ik jij hij wij
        mijn jouw kan moet niet naar uit bij deze dit dat er""",
    "pl": "i w na z do nie jak co gdzie dlaczego czy jest sa ktory ktora mozna mam przez dla moge jaki jaka jakie",
    "ro": "si in la nu cum ce unde este sunt din pe cu care pentru sau poate pot",
    "sv": "och jag inte hur vad ar det till varfor vilka vilken var av med den kan ska min mitt fran som att ett en",
    "tr": "ve bir bu nasil nedir ne icin neden nerede mi hangi ile var olan gibi daha mu",
}
"""Function words of languages whose questions keep theirs: these lists tell languages apart and drop no word."""

_LETTERS: Final = {
    "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt", "ß": "de", "œ": "fr", "ł": "pl", "ą": "pl", "ę": "pl",
    "ś": "pl", "ż": "pl", "ź": "pl", "ș": "ro", "ț": "ro", "ő": "hu", "ű": "hu", "ğ": "tr", "ı": "tr",
}  # fmt: skip
"""Letters and signs that one of these languages has alone."""

_ENDINGS: Final = (("ção", "pt"), ("ções", "pt"), ("ción", "es"), ("ciones", "es"), ("keit", "de"), ("keiten", "de"))

_SCRIPTS: Final = (
    (re.compile("[\u3041-\u30fa\u30fc-\u30ff]"), "ja"),
    (re.compile("[\uac00-\ud7a3\u1100-\u11ff]"), "ko"),
    (re.compile("[\u0e01-\u0e4e]"), "th"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "el"),
    (re.compile("[\u0531-\u0587]"), "hy"),
    (re.compile("[\u0b80-\u0bff]"), "ta"),
    (re.compile("[ҐґЄєІіЇї]"), "uk"),
    (re.compile("[ЂђЈјЉљЊњЋћЏџ]"), "sr"),
    (re.compile("[ыэъёЫЭЪЁ]"), "ru"),
    (re.compile("[پچژگ]"), "fa"),
    (re.compile("[ةىؤإأ]"), "ar"),
)
"""The script, or a letter of it, that tells the language. The first that matches decides."""

_BEYOND_LATIN: Final = re.compile("[\u0370-\u1dff\u2e80-\uffff]")

_MIXED: Final = frozenset({"ja", "ko", "th"})
"""Languages whose questions are often made of English names for the most part: their script tells them anyway."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_MARKS: Final = re.compile("[\u0300-\u036f]")

_ENOUGH: Final = 1.5
"""Votes that a language needs: a word of one language is a vote, a word of two is half a vote for each."""
_LEAD: Final = 2.0
"""Times the votes of any other language."""
_LETTER_VOTES: Final = 1.5
_ENDING_VOTES: Final = 1.0


def guess_language(question: str) -> str:
    """The language code (ISO 639-1) of a question where it is clear, else an empty string.

    Time is linear in the question's length, some 10 microseconds for a sentence.
    """
    text = question[:MAX_GUESSED_CHARS]
    beyond = 0 if text.isascii() else len(_BEYOND_LATIN.findall(text))
    if not beyond:
        return _choose(_count_votes(text.lower()))
    known = next((language for script, language in _SCRIPTS if script.search(text)), "")
    if beyond > 1 and 2 * beyond >= sum(map(len, _WORD.findall(text))):
        return known
    # Letters of another script are a symbol, or what the question is about.
    latin = _choose(_count_votes(text.lower()))
    return known if known in _MIXED and not latin else latin


def _count_votes(lowered: str) -> dict[str, float]:
    votes: dict[str, float] = defaultdict(float)
    plain = lowered
    if not lowered.isascii():
        for sign, language in _LETTERS.items():
            if sign in lowered:
                votes[language] += _LETTER_VOTES
        plain = _MARKS.sub("", unicodedata.normalize("NFD", lowered))
        for ending, language in _list_endings(lowered):
            votes[language] += _ENDING_VOTES * lowered.count(ending)
    known = _load_words()
    for word in _WORD.findall(plain):
        languages = known.get(word, ())
        for language in languages:
            votes[language] += 1 / len(languages)
    return votes


def _list_endings(lowered: str) -> Iterator[tuple[str, str]]:
    return ((ending, language) for ending, language in _ENDINGS if ending in lowered)


def _choose(votes: dict[str, float]) -> str:
    if not votes:
        return ""
    best, *others = sorted(votes, key=lambda language: -votes[language])
    clear = votes[best] >= _ENOUGH and all(votes[best] >= _LEAD * votes[other] for other in others[:1])
    return best if clear else ""


@lru_cache(maxsize=1)
def _load_words() -> dict[str, tuple[str, ...]]:
    """The languages of each function word."""
    lists = {**STOP_WORDS, **{language: frozenset(words.split()) for language, words in _MORE_WORDS.items()}}
    return {
        word: tuple(language for language, words in lists.items() if word in words)
        for word in frozenset().union(*lists.values())
    }
