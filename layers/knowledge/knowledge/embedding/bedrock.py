"""Embedding models of Amazon Bedrock, through boto3.

Nothing is imported, opened or asked for before its use. Calls have short time limits and few retries, because the
function's caller waits; publishing, where nobody does, tries more often.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from knowledge.embedding.base import Vectors, directions
from knowledge.errors import StorageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

BEDROCK_PREFIX: Final = "bedrock:"
TITAN: Final = "amazon.titan-embed-text-v2:0"
COHERE: Final = "cohere.embed-multilingual-v3"

_TITAN_CHARS: Final = 8192
"""The model refuses more than 8,192 tokens; a token is seldom less than a character."""
_COHERE_CHARS: Final = 2048
"""What the model takes of one text."""
_COHERE_TEXTS: Final = 96
"""What the model takes in one request."""
_TITAN_AT_ONCE: Final = 8
"""The model takes one text in a request: so many are under way together."""

_CONNECT_SECONDS: Final = 2
_READ_SECONDS: Final = 5
_QUERY_ATTEMPTS: Final = 3
"""With its pauses well below the deadline of a call."""
_PASSAGE_ATTEMPTS: Final = 8
"""Publishing meets the account's quota, which asks for patience."""

_BLANK: Final = "."
"""Stands for an empty text, which the models refuse."""

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
_OTHERWISE: Final = "Check the network and the region, and run the command again."


class EmbeddingUnavailableError(StorageUnavailableError):
    """Bedrock gave no vectors. The message is for who runs a command, and says what to do."""


@dataclass(frozen=True, slots=True)
class _Request:
    """One call of a model: the texts it embeds and the body that asks for it."""

    count: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Bedrock(ABC):
    """What the models have in common. `model_id` is Bedrock's; the dataset is marked with `model`."""

    model_id: str
    dimensions: int
    region: str | None = None

    @property
    def model(self) -> str:
        """The name by which `EMBEDDING` asks for it, without the length, which the dataset holds by itself."""
        return BEDROCK_PREFIX + self.model_id

    def prepare(self) -> None:
        """Import boto3 and parse the service model."""
        _ = self._for_queries

    def renew(self) -> None:
        """Forget the clients with their connections and credentials."""
        self.__dict__.pop("_for_queries", None)
        self.__dict__.pop("_for_passages", None)

    def embed_query(self, text: str) -> Vectors:
        """One question; raises `EmbeddingUnavailableError`."""
        return np.asarray(self._embedded(self._for_queries, self._requests([text], query=True))[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages; raises `EmbeddingUnavailableError`."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return self._embedded(self._for_passages, self._requests(texts, query=False))

    @abstractmethod
    def _requests(self, texts: Sequence[str], *, query: bool) -> list[_Request]:
        """The calls that embed these texts."""

    @abstractmethod
    def _rows(self, answer: Mapping[str, Any]) -> list[Any]:
        """The vectors in an answer."""

    @cached_property
    def _for_queries(self) -> BedrockRuntimeClient:
        return self._client(_QUERY_ATTEMPTS)

    @cached_property
    def _for_passages(self) -> BedrockRuntimeClient:
        return self._client(_PASSAGE_ATTEMPTS)

    def _client(self, attempts: int) -> BedrockRuntimeClient:
        import boto3  # noqa: PLC0415 - the local models do without
        from botocore.config import Config  # noqa: PLC0415 - as above

        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=_TITAN_AT_ONCE,
        )
        try:
            return boto3.session.Session(region_name=self.region).client("bedrock-runtime", config=config)
        except Exception as error:
            raise self._unavailable(error) from error

    def _embedded(self, client: BedrockRuntimeClient, requests: Sequence[_Request]) -> Vectors:
        def ask(request: _Request) -> list[Any]:
            return self._asked(client, request)

        if len(requests) == 1:
            return directions(ask(requests[0]))
        with ThreadPoolExecutor(_TITAN_AT_ONCE) as pool:
            return directions([row for rows in pool.map(ask, requests) for row in rows])

    def _asked(self, client: BedrockRuntimeClient, request: _Request) -> list[Any]:
        try:
            answer = client.invoke_model(
                modelId=self.model_id,
                contentType="application/json",
                accept="application/json",
                body=json.dumps(request.body),
            )
            rows = self._rows(json.loads(answer["body"].read()))
            shape = np.shape(np.asarray(rows, np.float32))
        except Exception as error:
            raise self._unavailable(error) from error
        if shape != (request.count, self.dimensions):
            raise EmbeddingUnavailableError(f"The embedding model {self.model} gave vectors of an unexpected shape.")
        return rows

    def _unavailable(self, error: Exception) -> EmbeddingUnavailableError:
        # The service's faults share a class; their code tells them apart. Those of the line have no answer.
        answer = getattr(error, "response", None) or {}
        code = answer.get("Error", {}).get("Code", type(error).__name__)
        advice = _ADVICE.get(code, _OTHERWISE)
        return EmbeddingUnavailableError(f"The embedding model {self.model} cannot be used ({code}). {advice}")


@dataclass(frozen=True)
class Titan(Bedrock):
    """Titan Text Embeddings V2: vectors of 1,024, 512 or 256 numbers."""

    def _requests(self, texts: Sequence[str], *, query: bool) -> list[_Request]:
        del query  # the model has one kind of input
        return [
            _Request(1, {"inputText": _fitted(text, _TITAN_CHARS), "dimensions": self.dimensions, "normalize": True})
            for text in texts
        ]

    def _rows(self, answer: Mapping[str, Any]) -> list[Any]:
        return [answer["embedding"]]


@dataclass(frozen=True)
class Cohere(Bedrock):
    """Cohere Embed Multilingual v3: questions and passages are embedded differently."""

    def _requests(self, texts: Sequence[str], *, query: bool) -> list[_Request]:
        kind = "search_query" if query else "search_document"
        fitted = [_fitted(text, _COHERE_CHARS) for text in texts]
        batches = [fitted[first : first + _COHERE_TEXTS] for first in range(0, len(fitted), _COHERE_TEXTS)]
        return [_Request(len(batch), {"texts": batch, "input_type": kind, "truncate": "END"}) for batch in batches]

    def _rows(self, answer: Mapping[str, Any]) -> list[Any]:
        rows: list[Any] = answer["embeddings"]
        return rows


_KINDS: Final[Mapping[str, tuple[type[Bedrock], tuple[int, ...]]]] = {
    TITAN: (Titan, (1024, 512, 256)),
    COHERE: (Cohere, (1024,)),
}
"""The models known here, each with the lengths of vectors that it has; the first is the usual one."""


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


def _fitted(text: str, chars: int) -> str:
    return text[:chars] if text.strip() else _BLANK
