"""Five languages in one base, beside one LanceDB index over all of them and each language in a base of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from benchmarks.quality.checks import Verdict
from benchmarks.quality.collections_dataset import CollectionsDataset, log
from benchmarks.quality.test_collections import Collection, read_baselines, read_collection
from benchmarks.support.lance import ICU_ENGLISH, TextIndex, build_text_index
from knowledge.scopes import Scope
from publish_knowledge.evaluation.metrics import estimate_difference
from publish_knowledge.evaluation.runs import DEFAULT, Setting

COLLECTIONS: Final = ("belebele-en", "xquad-es", "faquad", "jsquad", "tldr-de")
"""One of each language, from different sources."""

LEXICAL_GAIN: Final = 0.02
HYBRID_GAIN: Final = 0.03
"""By how much each has to be better than the one index, on average over the languages."""

BELOW_ALONE: Final = 0.02
"""What a language may lose beside the others."""

_LEXICAL: Final = Setting("lexical")
_SCOPE: Final = Scope("team", "mixed")
_BASE: Final = "mixed"


@dataclass(frozen=True, slots=True)
class Language:
    """nDCG@10 of one collection's questions, one by one: over all texts, by the one index, and over its own texts."""

    name: str
    lexical: Sequence[float]
    hybrid: Sequence[float]
    one_index: Sequence[float]
    alone: Sequence[float]

    @property
    def line(self) -> str:
        """The figures as a line of the table."""
        recorded = read_baselines()[self.name].figures["lexical"]
        means = (fmean(values) for values in (self.one_index, self.lexical, self.hybrid, self.alone))
        return f"{self.name:<13}" + "".join(f"{mean:>10.3f}" for mean in means) + f"{recorded:>10.3f}"

    @property
    def gain_beside_others(self) -> float:
        """Gain of the lexical side from the others' texts, against the better of now and as recorded."""
        recorded = read_baselines()[self.name].figures["lexical"]
        return fmean(self.lexical) - max(fmean(self.alone), recorded)


async def measure_mixed_languages(bench: CollectionsDataset, folder: Path) -> list[Verdict]:
    """Publish all five, run their questions, print the table, and return the verdicts."""
    collections = [read_collection(folder / name, prefix=f"{name}/") for name in COLLECTIONS]
    await bench.publish(_SCOPE, _BASE, [document for one in collections for document in one.documents])
    index = await _build_one_index(bench, collections)
    languages = [await _measure_language(bench, index, one) for one in collections]
    print(f"{'collection':<13}{'one index':>10}{'lexical':>10}{'hybrid':>10}{'alone':>10}{'recorded':>10}")
    for language in languages:
        print(language.line)
    return _check_languages(languages)


def _check_languages(languages: Sequence[Language]) -> list[Verdict]:
    """Check the targets over the five."""
    worst = min(languages, key=lambda one: one.gain_beside_others)
    return [
        _check_gain("lexical", languages, [one.lexical for one in languages], LEXICAL_GAIN),
        _check_gain("hybrid", languages, [one.hybrid for one in languages], HYBRID_GAIN),
        Verdict(
            f"no language more than {BELOW_ALONE} below its lexical figure alone",
            worst.gain_beside_others >= -BELOW_ALONE,
            f"least is {worst.name} {worst.gain_beside_others:+.4f}",
        ),
    ]


def _check_gain(name: str, languages: Sequence[Language], values: Sequence[Sequence[float]], bound: float) -> Verdict:
    now, one_index = (fmean(map(fmean, each)) for each in (values, [one.one_index for one in languages]))
    pooled = estimate_difference(
        [value for row in values for value in row], [v for one in languages for v in one.one_index]
    )
    promise = f"{name}, mean over languages at least {bound} above one index (icu/split, English stems)"
    figures = f"{now:.4f} against {one_index:.4f}, {now - one_index:+.4f} (± {pooled.half_width or 0:.4f} over all)"
    return Verdict(promise, now - one_index >= bound, figures)


async def _build_one_index(bench: CollectionsDataset, collections: Sequence[Collection]) -> TextIndex:
    texts = [(one.source_path, f"{one.title}\n{one.text}") for each in collections for one in each.documents]
    log(f"one index over {len(texts)} texts")
    return await build_text_index(bench.compared, "mixed", texts, ICU_ENGLISH)


async def _measure_language(bench: CollectionsDataset, index: TextIndex, collection: Collection) -> Language:
    mixed = await bench.evaluate(_SCOPE, _BASE, collection.judge_queries(_SCOPE, _BASE), [DEFAULT, _LEXICAL])
    by_index = [await index.score(text, grades) for _, text, grades in collection.queries]
    own = Scope("team", f"only-{collection.name}")
    await bench.publish(own, collection.name, collection.documents)
    alone = await bench.evaluate(own, collection.name, collection.judge_queries(own, collection.name), [_LEXICAL])
    return Language(collection.name, mixed.values(_LEXICAL), mixed.values(DEFAULT), by_index, alone.values(_LEXICAL))
