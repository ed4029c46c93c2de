"""Failures that are reported to a caller, as one tree.

    KnowledgeError                     envelope type        code
    ├── RuntimeDisabledError           knowledge_unavailable  knowledge_runtime_disabled
    ├── ScopeRequiredError             knowledge_error        knowledge_scope_required
    ├── InvalidRequestError            knowledge_error        knowledge_invalid_request
    ├── QueryRequiredError             knowledge_error        knowledge_query_required
    ├── ItemRequiredError              knowledge_error        knowledge_item_required
    ├── ResourceUnavailableError       knowledge_error        knowledge_resource_unavailable
    ├── StorageUnavailableError        knowledge_unavailable  knowledge_storage_unavailable (retryable)
    ├── DatasetMismatchError           knowledge_unavailable  knowledge_dataset_mismatch
    └── InternalError                  knowledge_error        knowledge_internal_error

Every message is written for the caller: it says what is wrong and how to correct it, and never
quotes a library.
"""

from __future__ import annotations

from typing import ClassVar

ERROR = "knowledge_error"
UNAVAILABLE = "knowledge_unavailable"


class KnowledgeError(Exception):
    """Base of every failure that is reported to a caller."""

    envelope: ClassVar[str] = ERROR
    code: ClassVar[str] = "knowledge_internal_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class RuntimeDisabledError(KnowledgeError):
    """The operator has switched the tool off."""

    envelope = UNAVAILABLE
    code = "knowledge_runtime_disabled"

    def __init__(self) -> None:
        super().__init__(
            "The knowledge tool is switched off. Its operator can switch it on again; retrying does not help."
        )


class ScopeRequiredError(KnowledgeError):
    """No verified caller, or one without the permission to read."""

    code = "knowledge_scope_required"


class InvalidRequestError(KnowledgeError):
    """An argument, or the combination of arguments, is invalid."""

    code = "knowledge_invalid_request"


class QueryRequiredError(KnowledgeError):
    """Neither a query nor an item was given."""

    code = "knowledge_query_required"

    def __init__(self) -> None:
        super().__init__("Give `query` to search, or `knowledge_item_id` to read one item.")


class ItemRequiredError(KnowledgeError):
    """A revision was given without its item."""

    code = "knowledge_item_required"

    def __init__(self) -> None:
        super().__init__("`knowledge_revision_id` needs the `knowledge_item_id` it belongs to.")


class ResourceUnavailableError(KnowledgeError):
    """Missing, foreign, archived, draft, never published: one constant answer for all of them."""

    code = "knowledge_resource_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "The knowledge base, item or revision does not exist, is not published, or is not yours to read."
        )


class StorageUnavailableError(KnowledgeError):
    """The dataset, its marker or the embedding provider cannot be reached in time."""

    envelope = UNAVAILABLE
    code = "knowledge_storage_unavailable"
    retryable = True

    def __init__(
        self, message: str = "The knowledge store cannot be reached at the moment. Try again shortly."
    ) -> None:
        super().__init__(message)


class DatasetMismatchError(KnowledgeError):
    """The dataset was written with another schema version or embedding model."""

    envelope = UNAVAILABLE
    code = "knowledge_dataset_mismatch"


class InternalError(KnowledgeError):
    """Anything unforeseen; nothing but the correlation id leaves the process."""

    def __init__(self, correlation_id: str) -> None:
        super().__init__(f"The call failed for an unexpected reason. Quote {correlation_id} to the operator.")
