"""Stop words: words that carry grammar and no topic, for the languages that a query is recognized by.

They are removed from queries only, and only if a query has at least three stop words of one language: a question is
recognized by its grammar, while keywords and headings such as `die hard` or `use of the cache` keep all their words.
Nothing stored depends on these lists. Spelling is folded (no accents, lower case).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_ENGLISH: Final = """
a about after all also am an and any are as at be because been before being between both but by can could did do does
doing during each either else every few for from further had has have having he her here hers him his how however i if
in into is it its itself just let many may me might more most much must my myself neither nor not of off on once one
only or other our ours out over own same shall she should since so some such than that the their theirs them then there
these they this those through to too under until up upon us very was we were what when where whether which while who
whom whose why will with within without would yet you your yours
"""

_SPANISH: Final = """
a al algo alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos asi aun aunque cada como con contra
cual cuales cualquier cuando cuanta cuantas cuanto cuantos de del desde donde dos durante e el ella ellas ellos en entre
era eran es esa esas ese eso esos esta estaba estan estar estas este esto estos fue fueron ha habia han hasta hay he
la las le les lo los mas me mi mientras mis muy nada ni no nos nosotros o os otra otras otro otros para pero poco por
porque pues que quien quienes se sea segun ser si sido sin sobre son su sus tal tambien tan tanto te tiene tienen toda
todas todo todos tras tu tus u un una unas uno unos usted ustedes y ya yo
"""

_PORTUGUESE: Final = """
a ao aos aquela aquelas aquele aqueles aquilo as ate cada com como contra da das de dela delas dele deles desde do dos e
ela elas ele eles em entre era eram essa essas esse esses esta estao estas estava este estes eu foi foram ha isso isto
ja la lhe lhes mais mas me mesmo meu meus minha minhas muito na nao nas nem no nos nossa nossas nosso nossos num numa o
onde os ou para pela pelas pelo pelos per perante pois por porque qual quais qualquer quando quanta quantas quanto
quantos que quem se seja sem sendo ser seu seus si sido sob sobre sua suas tal tambem tao te tem tenha ter teu tinha
toda todas todo todos tu tua um uma umas uns voce voces
"""

_GERMAN: Final = """
aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus bei beim bin bis bist da
dabei dadurch dafur damit dann daran darauf darin das dass dazu dein deine dem den denn der deren des dessen deshalb die
dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwa etwas euch fur
gegen hab habe haben hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem
jeden jeder jedes jene kann kein keine keinem keinen keiner konnen konnte man mehr mein meine mich mir mit muss mussen
nach nicht nichts noch nun nur ob oder ohne sehr seid sein seine seinem seinen seiner seit selbst sich sie sind so
sollen sollte sondern sonst uber um und uns unser unter viel vom von vor wahrend wann war waren warum was wegen weil
welche welchem welchen welcher welches wem wen wenn wer werden weshalb wie wieder wieso wir wird wo wodurch woher wohin
wurde wurden zu zum zur zwar zwischen
"""

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    "en": frozenset(_ENGLISH.split()),
    "es": frozenset(_SPANISH.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "de": frozenset(_GERMAN.split()),
}

SENTENCE_STOP_WORDS: Final = 3
"""A query with so many stop words of one language is a sentence of that language."""


def find_stop_words(words: Sequence[str]) -> frozenset[str]:
    """The stop words among a query's folded words, of the language or languages that have most of them there."""
    counts = {language: sum(word in known for word in words) for language, known in STOP_WORDS.items()}
    most = max(counts.values())
    if most < SENTENCE_STOP_WORDS:
        return frozenset()
    likely = [STOP_WORDS[language] for language, count in counts.items() if count == most]
    return frozenset(word for word in words if any(word in known for known in likely))
