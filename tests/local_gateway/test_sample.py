"""Publishing the sample base into a dataset of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local_gateway.__main__ import ensure_sample
from local_gateway.sample import SampleError


@pytest.mark.slow
def test_a_sample_base_is_published_once_and_never_served_incomplete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples, folder = tmp_path / "examples", tmp_path / "data" / "sample"
    (examples / "texts" / "notes").mkdir(parents=True)
    (examples / "texts" / "notes" / "one.md").write_text("# One\n", encoding="utf-8")
    base = {"folder": "texts", "scope": {"owner": "ana"}}
    manifest = {"bases": [base], "revise": [], "archive": [], "draft": []}
    (examples / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (tmp_path / "data" / "sample.begun" / "left over").mkdir(parents=True)
    with pytest.raises(SampleError, match="knowledge publish ended with"):
        ensure_sample(folder, "no-such-model", examples)
    assert not folder.exists()
    ensure_sample(folder, "local-small", examples)
    assert capsys.readouterr().out.splitlines()[-1] == "  owner ana, base notes: 1 created."
    assert not (folder / "left over").exists()
    ensure_sample(folder, "local-small", examples)
    assert capsys.readouterr().out == ""
