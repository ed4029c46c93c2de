"""Embedding models of Amazon Bedrock, through boto3.

Nothing is imported or opened before its first use. Queries have short time limits and few retries, because a caller
waits for them; publishing retries more often.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from knowledge.embedding.base import EmbeddingUnavailableError, Vectors, normalize_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

BEDROCK_PREFIX: Final = "bedrock:"
TITAN: Final = "amazon.titan-embed-text-v2:0"
COHERE: Final = "cohere.embed-multilingual-v3"

_TITAN_CHARS: Final = 8192
"""The model refuses more than 8,192 tokens; a token is seldom less than a character."""
_COHERE_CHARS: Final = 2048
"""Longest text that the model accepts."""
_COHERE_TEXTS: Final = 96
"""Most texts that the model accepts in one request."""
_CONCURRENT_REQUESTS: Final = 8
"""Titan accepts one text in a request: so many requests run side by side."""

_CONNECT_SECONDS: Final = 2
_READ_SECONDS: Final = 5
_QUERY_ATTEMPTS: Final = 3
"""With the pauses between them well below the deadline of a call."""
_PASSAGE_ATTEMPTS: Final = 8
"""Publishing runs into the account's quota, which is restored within seconds."""

_PLACEHOLDER: Final = "."
"""Sent in place of an empty text, which the models refuse."""

_CREDENTIALS: Final = "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; log in again if they are old."
_REGION: Final = "Set AWS_REGION to a region where Bedrock has the model."
_ACCESS: Final = "Grant the role bedrock:InvokeModel on it, and see that the account has access to it in this region."
_ADVICE: Final[Mapping[str, str]] = {
    "NoCredentialsError": _CREDENTIALS,
    "PartialCredentialsError": _CREDENTIALS,
    "CredentialRetrievalError": _CREDENTIALS,
    "ProfileNotFound": _CREDENTIALS,
    "TokenRetrievalError": _CREDENTIALS,
    "UnauthorizedSSOTokenError": _CREDENTIALS,
    "ExpiredTokenException": _CREDENTIALS,
    "InvalidSignatureException": _CREDENTIALS,
    "UnrecognizedClientException": _CREDENTIALS,
    "NoRegionError": _REGION,
    "ResourceNotFoundException": _REGION,
    "AccessDeniedException": _ACCESS,
    "ThrottlingException": "Bedrock's quota is used up. Run the command again later: it goes on where it was.",
    "ServiceQuotaExceededException": "Bedrock's quota is used up. Run the command again later.",
    "ValidationException": "Bedrock refused the request. Check that the region has this model.",
}
_DEFAULT_ADVICE: Final = "Check the network and the region, and run the command again."


@dataclass(frozen=True, slots=True)
class _Request:
    """One call of a model: the number of texts that it embeds, and the body."""

    count: int
    body: Mapping[str, Any]


@dataclass(slots=True)
class Bedrock(ABC):
    """What the models have in common. `model_id` is Bedrock's; the dataset is marked with `model`."""

    model_id: str
    dimensions: int
    region: str | None = None
    _query_client: BedrockRuntimeClient | None = field(default=None, init=False, repr=False, compare=False)
    _passage_client: BedrockRuntimeClient | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def model(self) -> str:
        """Its name in the setting `EMBEDDING`, without the length, which the dataset is marked with separately."""
        return BEDROCK_PREFIX + self.model_id

    def prepare(self) -> None:
        """Import boto3 and parse the service model."""
        self._open_query_client()

    def renew(self) -> None:
        """Drop the clients with their connections and credentials."""
        self._query_client = self._passage_client = None

    def embed_query(self, text: str) -> Vectors:
        """Embed one query; raises `EmbeddingUnavailableError`."""
        return np.asarray(self._embed(self._open_query_client(), self._requests([text], query=True))[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; raises `EmbeddingUnavailableError`."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        if self._passage_client is None:
            self._passage_client = self._open_client(_PASSAGE_ATTEMPTS)
        return self._embed(self._passage_client, self._requests(texts, query=False))

    @abstractmethod
    def _requests(self, texts: Sequence[str], *, query: bool) -> list[_Request]:
        """The calls that embed these texts."""

    @abstractmethod
    def _rows(self, answer: Mapping[str, Any]) -> list[Any]:
        """The vectors in an answer."""

    def _open_query_client(self) -> BedrockRuntimeClient:
        if self._query_client is None:
            self._query_client = self._open_client(_QUERY_ATTEMPTS)
        return self._query_client

    def _open_client(self, attempts: int) -> BedrockRuntimeClient:
        import boto3  # noqa: PLC0415 - the local models need no boto3
        from botocore.config import Config  # noqa: PLC0415 - as above

        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=_CONCURRENT_REQUESTS,
        )
        with self._faults():
            return boto3.session.Session(region_name=self.region).client("bedrock-runtime", config=config)

    def _embed(self, client: BedrockRuntimeClient, requests: Sequence[_Request]) -> Vectors:
        def invoke(request: _Request) -> list[Any]:
            return self._invoke(client, request)

        if len(requests) == 1:
            return normalize_rows(invoke(requests[0]))
        with ThreadPoolExecutor(_CONCURRENT_REQUESTS) as pool:
            return normalize_rows([row for rows in pool.map(invoke, requests) for row in rows])

    def _invoke(self, client: BedrockRuntimeClient, request: _Request) -> list[Any]:
        with self._faults():
            answer = client.invoke_model(
                modelId=self.model_id,
                contentType="application/json",
                accept="application/json",
                body=json.dumps(request.body),
            )
            body = answer["body"].read()
        try:
            rows = self._rows(json.loads(body))
            shape = np.shape(np.asarray(rows, np.float32))
        except (LookupError, TypeError, ValueError) as error:  # an answer may be anything
            raise self._unavailable(error) from error
        if shape != (request.count, self.dimensions):
            raise EmbeddingUnavailableError(f"The embedding model {self.model} gave vectors of an unexpected shape.")
        return rows

    @contextmanager
    def _faults(self) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as boto3

        # boto3 raises `ValueError` for an endpoint that is no URL, `OSError` for files that it cannot read.
        try:
            yield
        except (BotoCoreError, ClientError, OSError, ValueError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> EmbeddingUnavailableError:
        # The service's errors share one class and differ in their code; errors of the network have no response.
        response = getattr(error, "response", None) or {}
        code = response.get("Error", {}).get("Code", type(error).__name__)
        advice = _ADVICE.get(code, _DEFAULT_ADVICE)
        return EmbeddingUnavailableError(f"The embedding model {self.model} cannot be used ({code}). {advice}")


@dataclass(slots=True)
class Titan(Bedrock):
    """Titan Text Embeddings V2: vectors of 1,024, 512 or 256 numbers."""

    def _requests(self, texts: Sequence[str], *, query: bool) -> list[_Request]:
        del query  # the model has one kind of input
        return [
            _Request(1, {"inputText": _fit(text, _TITAN_CHARS), "dimensions": self.dimensions, "normalize": True})
            for text in texts
        ]

    def _rows(self, answer: Mapping[str, Any]) -> list[Any]:
        return [answer["embedding"]]


@dataclass(slots=True)
class Cohere(Bedrock):
    """Cohere Embed Multilingual v3: queries and passages are embedded differently."""

    def _requests(self, texts: Sequence[str], *, query: bool) -> list[_Request]:
        kind = "search_query" if query else "search_document"
        fitting = [_fit(text, _COHERE_CHARS) for text in texts]
        batches = [fitting[first : first + _COHERE_TEXTS] for first in range(0, len(fitting), _COHERE_TEXTS)]
        return [_Request(len(batch), {"texts": batch, "input_type": kind, "truncate": "END"}) for batch in batches]

    def _rows(self, answer: Mapping[str, Any]) -> list[Any]:
        rows: list[Any] = answer["embeddings"]
        return rows


_KINDS: Final[Mapping[str, tuple[type[Bedrock], tuple[int, ...]]]] = {
    TITAN: (Titan, (1024, 512, 256)),
    COHERE: (Cohere, (1024,)),
}
"""The supported models, each with the lengths of its vectors; the first is the default."""


def bedrock(name: str, region: str | None = None) -> Bedrock:
    """The provider for `<model id>` or `<model id>@<dimensions>`; raises `ValueError` with the choices."""
    model_id, _, wanted = name.partition("@")
    if model_id not in _KINDS:
        raise ValueError(f"unknown Bedrock model {model_id!r}; choose {' or '.join(_KINDS)}")
    kind, lengths = _KINDS[model_id]
    found = [length for length in lengths if wanted in {"", str(length)}]
    if not found:
        raise ValueError(f"{model_id} has no vectors of length {wanted!r}; choose {', '.join(map(str, lengths))}")
    return kind(model_id, found[0], region)


def _fit(text: str, chars: int) -> str:
    return text[:chars] if text.strip() else _PLACEHOLDER
