"""Bedrock's models: real boto3 against a server on the loopback address, faults included."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from knowledge.embedding import bedrock as models
from knowledge.embedding.base import EmbeddingProvider, EmbeddingUnavailableError, Remote
from knowledge.embedding.bedrock import COHERE, TITAN, bedrock
from knowledge.embedding.providers import provider
from publish_knowledge.cli.main import knowledge
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.bedrock import BedrockServer
from tests.support.calls import call, error_of, logger
from tests.support.datasets import ANA, embedding, item

BOTH = (f"bedrock:{TITAN}", f"bedrock:{COHERE}")
TEXTS = ["How to open the valve", "水泵的阀门", "Wie man das Ventil öffnet 🙂"]
REGION = "eu-west-1"


def create(name: str) -> EmbeddingProvider:
    return provider(name, region=REGION)


def ask(name: str) -> None:
    create(name).embed_query("valve")


@pytest.fixture
def _once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One attempt for a query."""
    monkeypatch.setattr(models, "_QUERY_ATTEMPTS", 1)


@pytest.mark.parametrize(
    ("name", "dimensions"), [(BOTH[0], 1024), (BOTH[0] + "@512", 512), (BOTH[0] + "@256", 256), (BOTH[1], 1024)]
)
def test_vectors_have_the_length_asked_for_and_length_one(
    bedrock_server: BedrockServer, name: str, dimensions: int
) -> None:
    found = create(name)
    passages = found.embed_passages(TEXTS)
    assert found.dimensions == dimensions
    assert passages.shape == (3, dimensions)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1)
    assert np.allclose(found.embed_query(TEXTS[1]), passages[1], atol=1e-6)
    assert {one.signed_for for one in bedrock_server.requests} == {f"{REGION}/bedrock"}


def test_the_dataset_is_marked_with_the_model(bedrock_server: BedrockServer) -> None:
    assert create(BOTH[0]).model == BOTH[0]
    assert create(BOTH[0] + "@256").model == BOTH[0]
    assert create(BOTH[1]).model == BOTH[1]
    assert bedrock_server.requests == []


def test_titan_is_asked_for_one_normalised_vector_at_a_time_and_the_order_is_kept(
    bedrock_server: BedrockServer,
) -> None:
    texts = [f"text number {number}" for number in range(20)]
    found = create(BOTH[0]).embed_passages(texts)
    assert sorted(one.body["inputText"] for one in bedrock_server.requests) == sorted(texts)
    assert bedrock_server.requests[0].body | {"inputText": ""} == {
        "inputText": "",
        "dimensions": 1024,
        "normalize": True,
    }
    assert np.allclose(found[:, :512], embedding().embed_passages(texts), atol=1e-6)


def test_cohere_embeds_queries_apart_from_passages_in_batches_of_96(bedrock_server: BedrockServer) -> None:
    texts = [f"text number {number}" for number in range(200)]
    found = create(BOTH[1]).embed_passages(texts)
    asked = sorted(bedrock_server.requests, key=lambda one: texts.index(one.body["texts"][0]))
    assert [len(one.body["texts"]) for one in asked] == [96, 96, 8]
    assert {(one.body["input_type"], one.body["truncate"]) for one in asked} == {("search_document", "END")}
    assert np.allclose(found[:, :512], embedding().embed_passages(texts), atol=1e-6)
    create(BOTH[1]).embed_query("valve")
    assert bedrock_server.requests[-1].body == {"texts": ["valve"], "input_type": "search_query", "truncate": "END"}


@pytest.mark.parametrize("name", BOTH)
def test_texts_that_the_models_would_refuse_are_fitted(bedrock_server: BedrockServer, name: str) -> None:
    found = create(name).embed_passages(["", " \n", "x" * 100_000, "a\0b"])
    assert found.shape == (4, 1024)
    longest = {BOTH[0]: 8192, BOTH[1]: 2048}[name]
    sent = [text for one in bedrock_server.requests for text in one.body.get("texts", [one.body.get("inputText")])]
    assert sorted(map(len, sent)) == [1, 1, 3, longest]
    assert create(name).embed_passages([]).shape == (0, 1024)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("AccessDeniedException", "Grant the role bedrock:InvokeModel"),
        ("ExpiredTokenException", "log in again"),
        ("UnrecognizedClientException", "AWS_PROFILE"),
        ("ResourceNotFoundException", "AWS_REGION"),
        ("ValidationException", "the region has this model"),
        ("ThrottlingException", "quota"),
        ("ServiceUnavailableException", "Check the network"),
    ],
)
@pytest.mark.usefixtures("_once")
def test_each_refusal_says_what_to_do(bedrock_server: BedrockServer, error: str, advice: str) -> None:
    with bedrock_server.fail_with(error), pytest.raises(EmbeddingUnavailableError, match=advice) as caught:
        ask(BOTH[0])
    assert f"({error})" in caught.value.message
    assert "no" not in caught.value.message.split()  # the service's own words


@pytest.mark.slow
@pytest.mark.parametrize("error", ["ThrottlingException", "InternalServerException", "ServiceUnavailableException"])
def test_a_passing_fault_is_tried_again(bedrock_server: BedrockServer, error: str) -> None:
    with bedrock_server.fail_with(lambda number: error if number < 2 else None):
        ask(BOTH[0])
        assert len(bedrock_server.requests) == 3


def test_a_lasting_fault_is_given_up_and_a_refusal_not_tried_again(bedrock_server: BedrockServer) -> None:
    with bedrock_server.fail_with("InternalServerException"), pytest.raises(EmbeddingUnavailableError):
        ask(BOTH[1])
    assert len(bedrock_server.requests) == 3
    with bedrock_server.fail_with("AccessDeniedException"), pytest.raises(EmbeddingUnavailableError):
        ask(BOTH[1])
    assert len(bedrock_server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b"[]",
        b"{}",
        b'{"embedding": null}',
        b'{"embedding": [1, 2]}',
        b'{"embedding": "x"}',
        json.dumps({"embedding": ["x"] * 1024}).encode(),
    ],
)
@pytest.mark.usefixtures("_once")
def test_an_answer_without_vectors_is_an_outage(bedrock_server: BedrockServer, body: bytes) -> None:
    with bedrock_server.fail_with(body or b" "), pytest.raises(EmbeddingUnavailableError):
        ask(BOTH[0])


@pytest.mark.parametrize("number", [0, float("nan"), float("inf")])
def test_vectors_without_a_direction_are_refused(bedrock_server: BedrockServer, number: float) -> None:
    answer = json.dumps({"embedding": [number] * 1024}).encode()
    with bedrock_server.fail_with(answer), pytest.raises(ValueError, match="without direction"):
        ask(BOTH[0])


@pytest.mark.usefixtures("_once")
def test_a_server_that_hangs_is_left_in_time(bedrock_server: BedrockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_READ_SECONDS", 0.3)
    bedrock_server.delay = 9
    started = time.monotonic()
    with pytest.raises(EmbeddingUnavailableError, match="ReadTimeoutError"):
        ask(BOTH[0])
    assert time.monotonic() - started < 6


@pytest.mark.usefixtures("bedrock_server", "_once")
def test_a_closed_port_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", f"http://127.0.0.1:{port}")
    with pytest.raises(EmbeddingUnavailableError, match="Check the network"):
        ask(BOTH[0])


@pytest.mark.usefixtures("bedrock_server")
def test_missing_credentials_and_a_missing_region_are_reported_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    with pytest.raises(EmbeddingUnavailableError, match=r"NoRegionError.*AWS_REGION"):
        provider(BOTH[0]).embed_query("valve")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(EmbeddingUnavailableError, match=r"NoCredentialsError.*AWS_PROFILE"):
        ask(BOTH[0])
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with pytest.raises(EmbeddingUnavailableError, match=r"ProfileNotFound.*AWS_PROFILE"):
        ask(BOTH[0])


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("bedrock:", "amazon.titan-embed-text-v2:0 or cohere.embed-multilingual-v3"),
        ("bedrock:amazon.titan-embed-text-v1", "amazon.titan-embed-text-v2:0 or"),
        ("bedrock:cohere.embed-english-v3", "or cohere.embed-multilingual-v3"),
        (BOTH[0] + "@100", "1024, 512, 256"),
        (BOTH[1] + "@512", "choose 1024"),
    ],
)
def test_an_unknown_model_is_refused_with_the_choices(name: str, choices: str) -> None:
    with pytest.raises(ValueError, match="choose") as caught:
        provider(name)
    assert choices in str(caught.value)


@pytest.mark.usefixtures("_once")
def test_preparing_sends_nothing_and_renewing_drops_the_clients(
    bedrock_server: BedrockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_PASSAGE_ATTEMPTS", 1)
    found = bedrock(TITAN, REGION)
    assert isinstance(found, Remote)
    assert not isinstance(provider("local-small"), Remote)
    found.prepare()
    assert bedrock_server.requests == []
    found.embed_query("valve")
    found.embed_passages(TEXTS)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:9")
    found.embed_query("valve")
    found.renew()
    with pytest.raises(EmbeddingUnavailableError):
        found.embed_query("valve")
    with pytest.raises(EmbeddingUnavailableError):
        found.embed_passages(TEXTS)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(knowledge, [str(one) for one in arguments])


@pytest.fixture
def published(bedrock_server: BedrockServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A dataset made with Titan by the command."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pump\n\nOpen the valve of the pump in the morning.\n")
    (folder / "cook.md").write_text("# Kitchen\n\nBoil the pasta for nine minutes.\n")
    environment = {"LANCEDB_URI": tmp_path / "data", "EMBEDDING": BOTH[0], "KNOWLEDGE_CACHE_DIR": tmp_path / "cache"}
    for name, value in environment.items():
        monkeypatch.setenv(name, str(value))
    done = run("publish", folder, "--root", folder, "--owner", "ana", "--base", "notes")
    assert (done.exit_code, len(bedrock_server.requests)) == (0, 2), done.output
    yield folder
    monkeypatch.undo()


@pytest.fixture
def handler(published: Path) -> Iterator[Handler]:
    settings = Settings(str(published.parent / "data"), BOTH[0], "on", storage_options={"region": REGION})
    with Handler(settings, logger()) as made:
        yield made


def test_published_and_searched_with_a_model_of_bedrock(published: Path, bedrock_server: BedrockServer) -> None:
    again = run("publish", published, "--root", published, "--owner", "ana", "--base", "notes")
    assert (again.exit_code, len(bedrock_server.requests)) == (0, 2)
    found = run("search", "how long does spaghetti take", "--owner", "ana", "--mode", "semantic", "--json")
    assert json.loads(found.stdout)["results"][0]["title"] == "Kitchen"
    other = run("search", "pasta", "--owner", "ana", "--embedding", BOTH[0] + "@256")
    assert (other.exit_code, "1024" in other.output) == (4, True)


@pytest.mark.parametrize("command", ["publish", "search"])
def test_the_command_says_what_to_do_when_bedrock_refuses(
    published: Path, bedrock_server: BedrockServer, command: str
) -> None:
    (published / "new.md").write_text("# New\n\nSomething that was never embedded.\n")
    arguments: dict[str, list[str | Path]] = {
        "publish": ["publish", published, "--root", published, "--base", "notes"],
        "search": ["search", "x"],
    }
    with bedrock_server.fail_with("AccessDeniedException"):
        done = run(*arguments[command], "--owner", "ana")
    assert (done.exit_code, "Grant the role bedrock:InvokeModel" in done.output) == (3, True), done.output


@pytest.mark.usefixtures("_once")
def test_the_function_says_that_it_is_out_of_reach_and_reads_go_on(
    handler: Handler, bedrock_server: BedrockServer
) -> None:
    handler.prepare()
    before = len(bedrock_server.requests)
    assert call(handler, {"query": "pasta"})["results"][0]["title"] == "Kitchen"
    assert len(bedrock_server.requests) == before + 1
    with bedrock_server.fail_with("AccessDeniedException"):
        for mode in ("hybrid", "semantic", "rrf"):
            envelope = call(handler, {"query": "pasta", "mode": mode})
            assert error_of(envelope) == ("knowledge_storage_unavailable", None)
            assert "Access" not in envelope["error"]["message"]
        assert call(handler, {"query": "pasta", "mode": "lexical"})["results"]
        assert call(handler, {"knowledge_item_id": item(ANA, "notes", "pump.md")})["title"] == "Pump"
    handler.renew()
    assert call(handler, {"query": "pasta"})["results"][0]["title"] == "Kitchen"
