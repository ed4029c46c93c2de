"""In a base of texts that differ in little but their codes, search puts the text with the asked code first."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from click.testing import CliRunner

from knowledge.embedding.providers import LOCAL_SMALL, provider
from knowledge.scopes import Scope
from knowledge.store.dataset import Dataset
from knowledge.store.schema import item_id
from publish_knowledge.cli.main import knowledge
from publish_knowledge.evaluation.runs import DEFAULT, Corpus, Evaluation, JudgedQuery, Setting, evaluate
from publish_knowledge.sources.documents import derive_item_source

pytestmark = pytest.mark.slow
"""240 texts are embedded with the real model."""

TEXTS: Final = 240
QUESTIONS: Final = 30
EXPECTED: Final = 28
LEXICAL: Final = Setting("lexical")

TEAM: Final = Scope("team", "support")

KINDS: Final = {
    "versions": "Which note is about version {version}?",
    "addresses": "Which service answers at {address}?",
    "CVEs": "What do we do about {cve}?",
    "table rows": "What does part {part} cost?",
    "paths": "Who maintains {path}?",
}


def make_codes(number: int) -> dict[str, str]:
    """Codes of one text, each a digit or two from those of others."""
    return {
        "version": f"{3 + number // 100}.{number % 20}.{number // 20}",
        "address": f"10.20.{number // 16}.{number % 16 + 1}",
        "cve": f"CVE-2023-{41000 + 7 * number}",
        "part": f"P-{1000 + number}",
        "path": f"/srv/gateway/site-{number}/app.conf",
    }


def make_text(number: int) -> str:
    codes = make_codes(number)
    other = make_codes((number + 1) % TEXTS)["cve"].replace("2023", "2022")
    return (
        f"---\nid: note-{number}\n---\n# Note on the gateway\n\n"
        f"The image gateway:{codes['version']}-slim is deployed. Its status is at "
        f"http://{codes['address']}:8080/status, which every operator may open.\n\nThe release fixes "
        f"{codes['cve']}/{other} in the parser. The settings are in {codes['path']} and are read at the start.\n\n"
        f"| part | pressure | price |\n|---|---|---|\n| {codes['part']}/A | 16 bar | {25 + number % 9}.000 EUR |\n"
    )


def name_item(number: int) -> str:
    return item_id(TEAM, "notes", derive_item_source("", f"note-{number}"))


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder, uri = tmp_path_factory.mktemp("notes"), str(tmp_path_factory.mktemp("similar") / "dataset")
    for number in range(TEXTS):
        (folder / f"note-{number:03}.md").write_text(make_text(number), encoding="utf-8")
    target = ("--uri", uri, "--team", "support", "--base", "notes", "--embedding", LOCAL_SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNOWLEDGE_CACHE_DIR", str(folder / "cache"))
        published = CliRunner().invoke(knowledge, ["publish", str(folder), *target])
    assert published.exit_code == 0, published.output
    return asyncio.run(ask_questions(uri))


async def ask_questions(uri: str) -> Evaluation:
    model = provider(LOCAL_SMALL)
    dataset = Dataset(uri, model=model.model, dimensions=model.dimensions)
    queries = [
        JudgedQuery(kind, question.format(**make_codes(number)), {name_item(number): 1})
        for kind, question in KINDS.items()
        for number in range(3, TEXTS, TEXTS // QUESTIONS)
    ]
    try:
        return await evaluate(Corpus(dataset, (TEAM,)), queries, [DEFAULT, LEXICAL], model.embed_query)
    finally:
        await dataset.close()


def count_first(figures: Evaluation, setting: Setting, kind: str) -> int:
    values = zip(figures.queries, figures.values(setting, "mrr"), strict=True)
    ranks = [value for query, value in values if query.id == kind]
    assert len(ranks) == QUESTIONS
    return sum(value == 1.0 for value in ranks)


@pytest.mark.parametrize("setting", [LEXICAL, DEFAULT], ids=["lexical", "hybrid"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_text_with_the_code_is_first(figures: Evaluation, kind: str, setting: Setting) -> None:
    assert count_first(figures, setting, kind) >= EXPECTED
