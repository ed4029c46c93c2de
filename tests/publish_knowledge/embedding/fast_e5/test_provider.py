"""The fast engine for the local model, held to the engine that the function uses."""

from __future__ import annotations

import struct
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from knowledge.embedding.base import Vectors, normalize_rows
from knowledge.embedding.e5 import MultilingualE5
from knowledge.embedding.providers import LOCAL, LOCAL_SMALL, provider
from publish_knowledge.embedding.fast_e5.provider import FastE5, multiplies_bytes, passage_provider
from publish_knowledge.embedding.fast_e5.weights import E5Weights, open_weights

SAME = 0.998
TEXTS = [
    "Rotate the signing keys every ninety days, and keep the old ones for a week.",
    "Wo stelle ich ein, wie lange Sitzungen gültig bleiben? Straße, Größe, Übermaß.",
    "La contraseña caduca a los 30 días; después hay que pedir otra.",
    "A configuração fica em C:\\Programas\\Serviço\\opções.yaml (não apague!)",
    "パスワードは九十日ごとに変更してください。ｶﾀｶﾅ①㍿",
    "请每九十天更换一次签名密钥。踴躍",
    "مفاتيح التوقيع تتغير كل تسعين يوما",
    "Ship it 🚀🚀🚀 👩‍👩‍👧 🇩🇪 — 𝔘𝔫𝔦 𐍈𐍈𐍈 \U000f0000\U000f0000",
    "",
    "   \n\t  ",
    "\0",
    "before\0after",
    "<s></s><pad><unk><mask> ▁▁ ▁",
    "```python\nasync def read(path: str) -> bytes: ...\n```",
]
LONG = "Every key has an owner, a date of issue and a date of expiry. 期限が切れた鍵は使えません。" * 22
COMMON = MultilingualE5()


@cache
def fast(*, exact: bool) -> FastE5:
    return FastE5(COMMON, threads=2, exact=exact)


@cache
def expected() -> Vectors:
    return COMMON.embed_raw_passages([*TEXTS, LONG])


def token_count_of_the_function(text: str) -> int:
    # The package reads no further than a NUL, and so the provider gives it a space instead.
    count: int = COMMON._engine.token_count(text.replace("\0", " "))  # noqa: SLF001 - the package's own counter
    return count


def cosines(some: Vectors, others: Vectors) -> Vectors:
    return np.asarray((some * others).sum(axis=1))


@pytest.mark.parametrize("exact", sorted({True, not multiplies_bytes()}))
def test_vectors_agree_with_those_of_the_function_s_engine(exact: bool) -> None:  # noqa: FBT001 - a parameter
    found = fast(exact=exact).embed_raw_passages([*TEXTS, LONG])
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert cosines(found, expected()).min() >= SAME


@pytest.mark.parametrize("text", [*TEXTS, LONG, LONG * 3])
def test_a_text_has_as_many_tokens_as_the_function_s_engine_finds(text: str) -> None:
    assert fast(exact=True).engine.token_count(text) == token_count_of_the_function(text)


def test_the_long_text_is_longer_than_the_model() -> None:
    assert fast(exact=True).engine.token_count(LONG) > open_weights().sizes.positions


def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    model = passage_provider(COMMON)
    assert isinstance(model, FastE5)
    alone = np.concatenate([fast(exact=model.exact).embed_passages([text]) for text in TEXTS])
    assert cosines(alone, fast(exact=model.exact).embed_passages(TEXTS)).min() > 0.99999


def test_no_texts_give_no_vectors() -> None:
    assert fast(exact=True).embed_passages([]).shape == (0, COMMON.dimensions)


def test_it_shares_datasets_and_questions_with_the_function() -> None:
    model = fast(exact=True)
    assert (model.model, model.dimensions) == (COMMON.model, COMMON.dimensions)
    assert np.array_equal(model.embed_query("Which key?"), COMMON.embed_query("Which key?"))


def test_a_vector_without_direction_is_an_error() -> None:
    for broken in (0, np.nan, np.inf):
        with pytest.raises(ValueError, match="without direction"):
            normalize_rows(np.full((1, 3), broken, np.float32))


def test_the_local_model_is_replaced_and_no_other() -> None:
    other = provider(LOCAL_SMALL)
    assert passage_provider(provider(LOCAL)) == FastE5(COMMON)
    assert passage_provider(other) is other


def test_without_the_extra_the_local_model_is_its_own_engine() -> None:
    script = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from knowledge.embedding.providers import provider\n"
        "from publish_knowledge.embedding.fast_e5.provider import passage_provider\n"
        "local = provider('local'); print(passage_provider(local) is local)"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout == "True\n"


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"GGUF",
        struct.pack("<4sI7ifi", b"E5S1", 2, 384, 12, 12, 1536, 9, 512, 2, 1e-12, 32),
        struct.pack("<4sI7ifi", b"E5S1", 1, 384, 12, 12, 1536, 9, 512, 2, 1e-12, 64),
    ],
)
def test_weights_of_another_format_are_refused(header: bytes) -> None:
    with pytest.raises(ValueError, match="does not know"):
        E5Weights(memoryview(header))
