"""`knowledge eval` on the sample base: the table, the JSON document, the plot, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from knowledge.embedding.providers import LOCAL_SMALL
from knowledge.requests import MODES
from local_gateway.sample import EXAMPLES, Sample
from publish_knowledge.cli.evaluate import SharesType
from publish_knowledge.cli.main import knowledge
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.evaluation import alpha_plot

pytestmark = pytest.mark.slow
"""The sample base is published with the real model, and every question is asked many times."""

QUESTIONS = EXAMPLES / "eval"
CALLER = ("--owner", "ana", "--team", "support")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The sample base, published with the small model: its figures are not the point here."""
    folder = tmp_path_factory.mktemp("eval")
    made = Sample(str(folder / "dataset"), LOCAL_SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNOWLEDGE_CACHE_DIR", str(folder / "cache"))
        made.publish()
    return made


def run(sample: Sample, folder: Path, *options: str, code: ExitCode = ExitCode.OK) -> Result:
    command = ["eval", str(folder), "--uri", sample.uri, "--embedding", LOCAL_SMALL, *options]
    result = CliRunner().invoke(knowledge, command)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def document(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def questions(folder: Path, *lines: tuple[str, str, str]) -> Path:
    """A folder of questions, each with the one document that helps."""
    queries = (json.dumps({"id": query_id, "text": text}) for query_id, text, _ in lines)
    (folder / "queries.jsonl").write_text("\n".join(queries), encoding="utf-8")
    (folder / "qrels.tsv").write_text("".join(f"{query_id}\t{path}\t1\n" for query_id, _, path in lines))
    return folder


def test_the_table_has_every_mode_and_alpha_with_half_widths(sample: Sample) -> None:
    lines = run(sample, QUESTIONS, *CALLER).stdout.splitlines()
    assert lines[0].split() == [
        *("20", "questions", "nDCG@10", "recall@10", "MRR@10", "nDCG@10", "against", "hybrid", "0.5"),
    ]
    assert [line.split()[0] for line in lines[1:5]] == list(MODES)
    assert all(line.count("±") == 4 for line in lines[2:5])
    assert lines[1].count("±") == 3
    assert [float(line.split()[0]) for line in lines[7:18]] == [tenth / 10 for tenth in range(11)]
    assert "keep 0.5" in lines[19] or "beyond chance" in lines[19]


def test_the_json_document_has_the_same_figures(sample: Sample) -> None:
    found = document(run(sample, QUESTIONS, *CALLER, "--json"))
    assert found["type"] == "knowledge_evaluation"
    assert (found["questions"], found["scopes"]) == (20, ["owner:ana", "team:support"])
    assert [ranking["mode"] for ranking in found["rankings"]] == list(MODES)
    for figures in [*found["rankings"], *found["alpha_sweep"]]:
        for metric in ("nDCG@10", "recall@10", "MRR@10"):
            assert 0 <= figures[metric]["mean"] <= 1
            assert figures[metric]["half_width"] >= 0
    half = next(figures for figures in found["alpha_sweep"] if figures["alpha"] == 0.5)
    assert half["difference"] == {"mean": 0.0, "half_width": 0.0, "count": 20}
    assert half["nDCG@10"] == found["rankings"][0]["nDCG@10"]
    # Meaning finds most of these questions' answers, words fewer: anything else would be a fault of the evaluation.
    by_mode = {figures["mode"]: figures["nDCG@10"]["mean"] for figures in found["rankings"]}
    assert by_mode["semantic"] > by_mode["lexical"] > 0.3


def test_the_ends_of_the_sweep_are_the_sides_alone(sample: Sample, tmp_path: Path) -> None:
    folder = questions(tmp_path, ("1", "Resturlaub", "handbook/urlaub.md"), ("2", "refund", "handbook/reembolsos.md"))
    found = document(run(sample, folder, "--team", "support", "--alpha-sweep", "0,1", "--json"))
    by_mode = {figures["mode"]: figures for figures in found["rankings"]}
    assert found["alpha_sweep"][0]["nDCG@10"] == by_mode["semantic"]["nDCG@10"]
    assert found["alpha_sweep"][1]["MRR@10"]["mean"] >= by_mode["lexical"]["MRR@10"]["mean"]


def test_the_plot_is_a_png(sample: Sample, tmp_path: Path) -> None:
    plot = tmp_path / "sweep.png"
    run(sample, QUESTIONS, *CALLER, "--alpha-sweep", "0.2,0.8", "--png", str(plot))
    data = plot.read_bytes()
    assert data.startswith(PNG_SIGNATURE)
    assert data[12:16] == b"IHDR"
    assert int.from_bytes(data[16:20]) >= 600
    assert len(data) > 10_000


def test_modes_alpha_and_sweep_are_the_user_s_choice(sample: Sample) -> None:
    options = ("--mode", "rrf", "--mode", "hybrid", "--alpha", "0.3", "--alpha-sweep", " 0.9, 0.1,0.1 ")
    found = document(run(sample, QUESTIONS, *CALLER, *options, "--json"))
    assert found["reference"] == {"mode": "hybrid", "alpha": 0.3}
    assert [ranking["mode"] for ranking in found["rankings"]] == ["rrf", "hybrid"]
    assert [figures["alpha"] for figures in found["alpha_sweep"]] == [0.1, 0.9]


def test_without_a_sweep_there_is_no_advice(sample: Sample) -> None:
    result = run(sample, QUESTIONS, *CALLER, "--alpha-sweep", "")
    assert "alpha  " not in result.stdout
    assert "keep" not in result.stdout
    found = document(run(sample, QUESTIONS, *CALLER, "--alpha-sweep", "", "--json"))
    assert found["advice"] == {"alpha": None, "probability": None, "text": ""}


def test_one_question_is_measured_without_a_half_width(sample: Sample, tmp_path: Path) -> None:
    folder = questions(tmp_path, ("1", "Resturlaub", "handbook/urlaub.md"))
    assert "±" not in run(sample, folder, "--team", "support").stdout.rpartition("\n±")[0]


def test_a_document_that_is_not_published_counts_as_not_found_and_is_reported(sample: Sample, tmp_path: Path) -> None:
    folder = questions(
        tmp_path, ("1", "Resturlaub", "handbook/urlaub.md"), ("2", "fax", "handbook/fax-bestellungen.md")
    )
    result = run(sample, folder, "--team", "support", "--json", code=ExitCode.PROBLEMS)
    found = document(result)
    assert found["unknown_documents"] == ["handbook/fax-bestellungen.md"]
    assert all(ranking["recall@10"]["mean"] <= 0.5 for ranking in found["rankings"])
    assert "1 documents judged are not published here" in result.stderr


def test_an_evaluation_of_unpublished_documents_only_is_an_error(sample: Sample) -> None:
    result = run(sample, QUESTIONS, "--team", "field", code=ExitCode.NOT_FOUND)
    assert "None of the documents judged is published here: handbook/sick-days.md" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--alpha-sweep", "0.1,high"), "'high' is not a number from 0 to 1"),
        (("--alpha-sweep", "0.1,1.5"), "'1.5' is not a number from 0 to 1"),
        (("--alpha", "nan"), "'nan' is not a number from 0 to 1"),
        (("--mode", "best"), "'best' is not one of"),
        (("--alpha-sweep", "", "--png", "x.png"), "--png draws the sweep"),
        (("--png", "nowhere/x.png"), "does not exist. Make it first"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_the_work(
    sample: Sample, options: tuple[str, ...], said: str
) -> None:
    assert said in run(sample, QUESTIONS, *CALLER, *options, code=ExitCode.USAGE).stderr


def test_a_sweep_is_sorted_and_a_parsed_one_is_taken_as_it_is() -> None:
    assert SharesType().convert("1, 0,0.50,0.5", None, None) == (0.0, 0.5, 1.0)
    assert SharesType().convert((0.5, 0.1), None, None) == (0.5, 0.1)


def test_a_folder_without_questions_is_refused(sample: Sample, tmp_path: Path) -> None:
    assert "has no qrels.tsv" in run(sample, tmp_path, *CALLER, code=ExitCode.USAGE).stderr


def test_a_dataset_that_is_not_there_is_an_outage(tmp_path: Path) -> None:
    missing = Sample(str(tmp_path / "missing"), LOCAL_SMALL)
    run(missing, QUESTIONS, *CALLER, code=ExitCode.STORAGE_UNAVAILABLE)


def test_a_plot_that_cannot_be_written_does_not_cost_the_figures(sample: Sample, tmp_path: Path) -> None:
    folder = questions(tmp_path, ("1", "Resturlaub", "handbook/urlaub.md"))
    result = run(sample, folder, "--team", "support", "--png", "/dev/full", code=ExitCode.PROBLEMS)
    assert "nDCG@10" in result.stdout
    assert "/dev/full cannot be written" in result.stderr


def test_a_plot_without_the_extra_is_refused_with_what_to_install(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alpha_plot, "NEEDED", "a_library_that_is_not_there")
    result = run(sample, QUESTIONS, *CALLER, "--png", str(tmp_path / "x.png"), code=ExitCode.USAGE)
    assert "search-knowledge[eval]" in result.stderr


def test_the_questions_lost_against_another_mode_are_shown_with_what_was_found(sample: Sample) -> None:
    # The weight of words alone, which loses to meaning on these questions.
    options = ("--alpha", "1", "--alpha-sweep", "", "--against", "semantic")
    lines = run(sample, QUESTIONS, *CALLER, *options, "--losses", "2").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Lost most by hybrid 1 against semantic"))
    assert lines[at + 1].startswith("-")
    assert [line.split()[0] for line in lines[at + 2 : at + 4]] == ["hybrid", "semantic"]
    assert "*" in lines[at + 3]
    losses = document(run(sample, QUESTIONS, *CALLER, *options, "--json"))["losses"]
    assert losses["against"] == {"mode": "semantic", "alpha": None}
    assert 0 < len(losses["questions"]) <= 3
    assert all(loss["ndcg"] < loss["ndcg_against"] for loss in losses["questions"])
    assert losses["questions"][0]["found_against"][0]["grade"] > 0


def test_no_losses_are_shown_where_none_are_asked_for(sample: Sample) -> None:
    assert "Lost most" not in run(sample, QUESTIONS, *CALLER, "--losses", "0").stdout
    assert document(run(sample, QUESTIONS, *CALLER, "--losses", "0", "--json"))["losses"]["questions"] == []
