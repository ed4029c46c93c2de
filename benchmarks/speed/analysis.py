"""Time of the analysis of a query and of a passage, in the newest version against the first, interleaved in one run.

`python -m benchmarks.speed.analysis` asks the questions of examples/eval and cuts passages from examples/knowledge, in
five languages. Medians over all of them, in microseconds, and the size of the terms.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from knowledge.search import analysis, words

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
PASSAGE_CHARS: Final = 790
ROUNDS: Final = 15


def read_queries() -> list[str]:
    """The questions of the example."""
    lines = (EXAMPLES / "eval" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def cut_passages() -> list[str]:
    """Passages of all example texts."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((EXAMPLES / "knowledge").rglob("*.md"))]
    return [text[at : at + PASSAGE_CHARS] for text in texts for at in range(0, len(text), PASSAGE_CHARS)]


def time_each(analyze: Callable[[str], object], texts: list[str]) -> float:
    """Median microseconds of one text."""
    spent = []
    for text in texts:
        began = time.perf_counter()
        analyze(text)
        spent.append(time.perf_counter() - began)
    return median(spent) * 1e6


def compare(name: str, first: Callable[[str], object], newest: Callable[[str], object], texts: list[str]) -> None:
    """Print the median of both over all rounds, which take turns."""
    rounds = [(time_each(first, texts), time_each(newest, texts)) for _ in range(ROUNDS)]
    old, new = (median(column) for column in zip(*rounds, strict=True))
    print(f"{name:<8}  {len(texts)} texts  first {old:.0f} µs  newest {new:.0f} µs  ratio {new / old:.2f}")


def main() -> None:
    """Print the comparison."""
    passages = cut_passages()
    compare("query", analysis.analyze_query, words.analyze_query, read_queries())
    compare(
        "passage", lambda text: analysis.analyze_text(text, "en"), lambda text: words.analyze_text(text, "en"), passages
    )
    old, new = (
        sum(len(" ".join(analyze(text, "en"))) for text in passages)
        for analyze in (analysis.analyze_text, words.analyze_text)
    )
    print(f"terms     first {old} characters  newest {new}  ratio {new / old:.2f}")


if __name__ == "__main__":
    main()
