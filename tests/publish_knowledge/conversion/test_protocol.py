"""Every converter keeps to the protocol."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.formats import FORMATS
from publish_knowledge.conversion.protocol import ConversionError
from tests.support.conversions import convert_bytes


@pytest.mark.parametrize("extension", sorted(FORMATS))
@pytest.mark.parametrize("data", [b"", b"\0" * 100])
def test_what_is_empty_or_zeros_is_refused_in_a_sentence_with_a_remedy(extension: str, data: bytes) -> None:
    with pytest.raises(ConversionError, match=r"^It .*\. (Check|Write|Save|Open|Fill|Split) .*\.$"):
        convert_bytes(extension, data)
