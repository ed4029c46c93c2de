"""Five languages in one base: what a mixed team sees, beside one index over all of them and each language by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from benchmarks.quality.checks import Verdict
from benchmarks.quality.collections_dataset import CollectionsDataset, say
from benchmarks.quality.test_collections import Collection, baselines, read_collection
from benchmarks.support.lance import ICU_ENGLISH, TextIndex, text_index
from knowledge.scopes import Scope
from publish_knowledge.evaluation.metrics import compute_metrics, estimate_difference
from publish_knowledge.evaluation.runs import DEFAULT, Setting

COLLECTIONS: Final = ("belebele-en", "xquad-es", "faquad", "jsquad", "tldr-de")
"""One of each language, from different sources."""

LEXICAL_GAIN: Final = 0.02
HYBRID_GAIN: Final = 0.03
"""By how much each has to be better than the one index, on average over the languages."""

BELOW_ALONE: Final = 0.02
"""What a language may lose to company."""

_LEXICAL: Final = Setting("lexical")
_SCOPE: Final = Scope("team", "together")
_BASE: Final = "together"


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
        """For a person."""
        recorded = baselines()[self.name].figures["lexical"]
        means = (fmean(values) for values in (self.one_index, self.lexical, self.hybrid, self.alone))
        return f"{self.name:<13}" + "".join(f"{mean:>10.3f}" for mean in means) + f"{recorded:>10.3f}"

    @property
    def company(self) -> float:
        """What the others' texts cost or gain the lexical side, against the better of now and as recorded."""
        recorded = baselines()[self.name].figures["lexical"]
        return fmean(self.lexical) - max(fmean(self.alone), recorded)


async def together(bench: CollectionsDataset, folder: Path) -> list[Verdict]:
    """Publish all five, ask all five, print the table; the verdicts."""
    collections = [read_collection(folder / name, prefix=f"{name}/") for name in COLLECTIONS]
    await bench.publish(_SCOPE, _BASE, [document for one in collections for document in one.documents])
    index = await _one_index(bench, collections)
    languages = [await _language(bench, index, one) for one in collections]
    print(f"{'collection':<13}{'one index':>10}{'lexical':>10}{'hybrid':>10}{'alone':>10}{'recorded':>10}")
    for language in languages:
        print(language.line)
    return verdicts(languages)


def verdicts(languages: Sequence[Language]) -> list[Verdict]:
    """What has to hold over the five."""
    worst = min(languages, key=lambda one: one.company)
    return [
        _gain("lexical", languages, [one.lexical for one in languages], LEXICAL_GAIN),
        _gain("hybrid", languages, [one.hybrid for one in languages], HYBRID_GAIN),
        Verdict(
            f"no language more than {BELOW_ALONE} below its lexical figure alone",
            worst.company >= -BELOW_ALONE,
            f"least is {worst.name} {worst.company:+.4f}",
        ),
    ]


def _gain(name: str, languages: Sequence[Language], values: Sequence[Sequence[float]], bound: float) -> Verdict:
    now, one_index = (fmean(map(fmean, each)) for each in (values, [one.one_index for one in languages]))
    pooled = estimate_difference(
        [value for row in values for value in row], [v for one in languages for v in one.one_index]
    )
    promise = f"{name}, mean over languages at least {bound} above one index (icu/split, English stems)"
    figures = f"{now:.4f} against {one_index:.4f}, {now - one_index:+.4f} (± {pooled.half_width or 0:.4f} over all)"
    return Verdict(promise, now - one_index >= bound, figures)


async def _one_index(bench: CollectionsDataset, collections: Sequence[Collection]) -> TextIndex:
    texts = [(one.source_path, f"{one.title}\n{one.text}") for each in collections for one in each.documents]
    say(f"one index over {len(texts)} texts")
    return await text_index(bench.compared, "together", texts, ICU_ENGLISH)


async def _language(bench: CollectionsDataset, index: TextIndex, collection: Collection) -> Language:
    mixed = await bench.evaluate(_SCOPE, _BASE, collection.questions(_SCOPE, _BASE), [DEFAULT, _LEXICAL])
    by_index = [await _index_ndcg(index, text, grades) for _, text, grades in collection.queries]
    own = Scope("team", f"only-{collection.name}")
    await bench.publish(own, collection.name, collection.documents)
    alone = await bench.evaluate(own, collection.name, collection.questions(own, collection.name), [_LEXICAL])
    return Language(collection.name, mixed.values(_LEXICAL), mixed.values(DEFAULT), by_index, alone.values(_LEXICAL))


async def _index_ndcg(index: TextIndex, query: str, grades: Mapping[str, int]) -> float:
    return compute_metrics([name for name, _ in await index.ranked(query)], grades).ndcg
