"""`make eval`: its checks on made-up figures, its questions on made-up pages, and a run on a made-up collection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks import eval as program
from benchmarks.quality.checks import CollectionRow, Verdict, check_collections
from benchmarks.quality.pages import remove_headings
from benchmarks.quality.test_collections import Baseline, read_baselines
from knowledge.embedding.providers import LOCAL_SMALL
from tests.support.datasets import document

BEFORE = {"lexical": 0.5, "semantic": 0.6, "hybrid 0.5": 0.7, "rrf": 0.6}


def row(
    name: str = "made-up", language: str = "en", before: Mapping[str, float] | None = None, **now: float
) -> CollectionRow:
    figures = {
        **BEFORE,
        "hybrid 0.5": 0.72,
        **{key.replace("hybrid", "hybrid 0.5"): value for key, value in now.items()},
    }
    return CollectionRow(Baseline(name, language, "English", before or BEFORE), figures)


def outcomes(found: list[Verdict]) -> list[bool]:
    return [verdict.holds for verdict in found]


def test_a_gain_everywhere_holds() -> None:
    assert outcomes(check_collections([row(), row("faquad"), row("other", "x2en")])) == [True] * 5


def test_a_small_mean_gain_falls_short() -> None:
    found = check_collections([row(hybrid=0.71), row(hybrid=0.71)])
    assert outcomes(found) == [False, True, True]
    assert found[0].line.startswith("FALLS SHORT")
    assert "+0.0100" in found[0].line


def test_one_loser_falls_short_however_good_the_mean_is() -> None:
    found = check_collections([row("winner", hybrid=0.9), row("loser", hybrid=0.69)])
    assert outcomes(found)[:2] == [True, False]
    assert "loser -0.0100" in found[1].figures


def test_a_side_better_alone_falls_short_unless_it_was_so_before() -> None:
    assert outcomes(check_collections([row(semantic=0.74)])) == [True, True, False]
    known = {**BEFORE, "semantic": 0.8}
    assert len(check_collections([row(before=known, semantic=0.8)])) == 2


def test_words_that_mislead_across_languages_fall_short() -> None:
    assert outcomes(check_collections([row("across", "x2en", semantic=0.76)])) == [True, True, False]


def test_figures_are_recorded_for_twenty_collections() -> None:
    found = read_baselines()
    assert len(found) == 20
    assert found["faquad"].figures["hybrid 0.5"] == 0.927
    assert [name for name, baseline in found.items() if not baseline.monolingual] == ["fastapi-x2en", "xquad-x2en"]


def test_headings_that_occur_once_are_taken_out_and_stand_over_what_followed_them() -> None:
    first = "# Pump\n\nIntro.\n\n## Priming\n\nFill it.\n\n### Valve\n\nOpen it.\n\n## See also\n\nMore.\n"
    second = "# Fan\n\n## See also\n\nLess.\n\n```\n## Not a heading\n```\n"
    pages, sections = remove_headings([document("a.md", first, title="Pump"), document("b.md", second, title="Fan")])
    assert pages[0].text == "# Pump\n\nIntro.\n\nFill it.\n\nOpen it.\n\n## See also\n\nMore.\n"
    assert pages[1].text == second
    assert [(section.heading, pages[0].text[section.start : section.end]) for section in sections] == [
        ("Priming", "Fill it.\n\nOpen it.\n\n"),
        ("Valve", "Open it.\n\n"),
    ]


def test_a_folder_that_is_not_there_is_reported_with_what_is_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--eval-dir", ""]) == program.main(["--eval-dir", str(tmp_path / "away")]) == 2
    said = capsys.readouterr().err
    assert "No folder of test collections was given. Say where it is: make eval EVAL_DIR=…" in said
    assert "docs.jsonl (id, title, text, lang)" in said


def test_a_collection_without_recorded_figures_is_measured_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "eval" / "fruit"
    folder.mkdir(parents=True)
    texts = ["Apples grow on trees.", "Bananas are yellow.", "Cherries have stones."]
    documents = ({"id": f"{number}.md", "title": "", "text": text, "lang": "en"} for number, text in enumerate(texts))
    (folder / "docs.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (folder / "queries.jsonl").write_text('{"id": "q", "text": "yellow bananas", "lang": "en"}\n')
    (folder / "qrels.tsv").write_text("q\t1.md\t1\n")
    options = ["--eval-dir", str(tmp_path / "eval"), "--kept", str(tmp_path / "kept"), "--embedding", LOCAL_SMALL]
    assert program.main(options) == 0
    said = capsys.readouterr().out
    assert "fruit         1.000" in said
    assert "Left out" in said
    assert [path.name for path in (tmp_path / "kept").iterdir() if path.is_dir()] == []
