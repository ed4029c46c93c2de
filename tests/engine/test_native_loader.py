"""The engine layer's loader, with a real extension module that was packed by the real packer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import copy
from typing import Any, Final

import pytest

import native_loader
from engine_build.files import read_architecture
from engine_build.pack import Pack, pack

LAZY_IMPORTS: Final = Path(native_loader.__file__)
PYTHON: Final = f"{sys.version_info[0]}.{sys.version_info[1]}"
EXTENSION: Final = Path(str(find_spec("Stemmer").origin))  # type: ignore[union-attr]  # a dependency of ours
USE: Final = "from words import Stemmer; print(Stemmer.Stemmer('english').stemWord('libraries'), Stemmer.__file__)"


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A layer with one packed extension, `words.Stemmer`, and a library packed with it."""
    site = tmp_path / "layer"
    (site / "words").mkdir(parents=True)
    (site / "words/__init__.py").touch()
    copy(EXTENSION, site / "words/Stemmer.abi.so")
    (site / "words/libbeside.so.1").write_bytes(b"beside " * 1000)
    architecture = read_architecture(EXTENSION.read_bytes())
    pack(site, architecture, PYTHON, [Pack("words.Stemmer", "words/Stemmer.*", ("words/lib*",))])
    copy(LAZY_IMPORTS, site)
    return site


def run(layer: Path, code: str = USE) -> subprocess.CompletedProcess[str]:
    """Run Python with this layer, and a temporary folder beside it."""
    return subprocess.run(
        [sys.executable, "-c", code], env=surroundings(layer), capture_output=True, text=True, check=False
    )


def surroundings(layer: Path) -> dict[str, str]:
    temporary = layer.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "PYTHONPATH": str(layer), "TMPDIR": str(temporary)}


def unpacked_files(layer: Path) -> list[Path]:
    """The files in the temporary folder."""
    return [path for path in (layer.parent / "temporary").rglob("*") if path.is_file()]


def change_manifest(layer: Path, changes: Mapping[str, Any]) -> None:
    path = layer / "native_loader.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def test_a_packed_extension_is_imported_under_its_own_name(layer: Path) -> None:
    assert not (layer / "words/Stemmer.abi.so").exists()
    stem, position = run(layer).stdout.split()
    assert stem == "librari"
    assert Path(position).is_relative_to(layer.parent / "temporary")


def test_what_is_unpacked_is_what_was_packed(layer: Path) -> None:
    run(layer)
    assert {path.name: path.read_bytes() for path in unpacked_files(layer)} == {
        "Stemmer.abi.so": EXTENSION.read_bytes(),
        "libbeside.so.1": b"beside " * 1000,
    }


def test_a_second_process_unpacks_nothing(layer: Path) -> None:
    run(layer)
    for archive in layer.rglob("*.zst"):
        archive.unlink()
    assert run(layer).stdout.startswith("librari")


def test_processes_that_start_together_do_not_disturb_each_other(layer: Path) -> None:
    environment = surroundings(layer)
    started = [
        subprocess.Popen([sys.executable, "-c", USE], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    assert {one.communicate(timeout=60)[0].split()[0] for one in started} == {"librari"}
    assert len(unpacked_files(layer)) == 2


def test_a_file_cut_short_is_unpacked_again(layer: Path) -> None:
    run(layer)
    (extension,) = (path for path in unpacked_files(layer) if path.name == "Stemmer.abi.so")
    extension.write_bytes(b"")
    assert run(layer).stdout.startswith("librari")


@pytest.mark.parametrize("damage", ["cut short", "one bit", "something else"])
def test_a_damaged_archive_is_an_error_that_leaves_nothing(layer: Path, damage: str) -> None:
    archive = layer / "words/Stemmer.abi.so.zst"
    data = archive.read_bytes()
    flipped = data[:-6] + bytes([data[-6] ^ 1]) + data[-5:]
    archive.write_bytes({"cut short": data[:-100], "one bit": flipped, "something else": b"no archive"}[damage])
    last_line = run(layer).stderr.splitlines()[-1]
    assert last_line.startswith("native_loader.EngineError")
    assert "is damaged" in last_line
    assert unpacked_files(layer) == []


def test_an_archive_of_another_size_is_refused(layer: Path) -> None:
    change_manifest(layer, {"bytes_of": {"words/Stemmer.abi.so": 5, "words/libbeside.so.1": 7000}})
    assert "instead of 5" in run(layer).stderr
    assert unpacked_files(layer) == []


def test_a_layer_for_another_machine_says_so(layer: Path) -> None:
    other = {"aarch64": "x86_64"}.get(os.uname().machine, "arm64")
    change_manifest(layer, {"architecture": other})
    assert "build it with the right ARCH" in run(layer).stderr


def test_a_layer_for_another_python_says_so(layer: Path) -> None:
    change_manifest(layer, {"python": "3.99"})
    assert "was built for" in run(layer).stderr


def test_a_layer_without_its_manifest_says_so(layer: Path) -> None:
    (layer / "native_loader.json").unlink()
    assert "the engine layer is incomplete" in run(layer).stderr


def test_a_folder_that_others_can_change_is_not_trusted(layer: Path) -> None:
    run(layer)
    (folder,) = (layer.parent / "temporary").iterdir()
    folder.chmod(0o777)
    assert "can be changed by somebody else" in run(layer).stderr


def test_a_folder_that_is_a_link_is_not_trusted(layer: Path) -> None:
    run(layer)
    (folder,) = (layer.parent / "temporary").iterdir()
    folder.rename(layer.parent / "elsewhere")
    folder.symlink_to(layer.parent / "elsewhere")
    assert "can be changed by somebody else" in run(layer).stderr


def test_a_full_disk_is_reported_with_its_remedy(layer: Path) -> None:
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    assert "cannot be unpacked" in run(layer, limit + USE).stderr
    assert unpacked_files(layer) == []


def test_no_room_is_reported_with_its_remedy() -> None:
    message = native_loader.describe_storage_error(OSError(28, "No space left on device"), Path("folder/lib.so"), 1000)
    assert message == "folder has no room for the 1000 bytes of lib.so: raise the function's EphemeralStorage"


BEGIN: Final = "import native_loader, sys; from pathlib import Path; native_loader.start_unpacking(); "
WAIT: Final = "import os; os.waitpid(native_loader._helpers[0].process, 0); "


def test_a_second_process_unpacks_what_is_needed_ahead(layer: Path) -> None:
    run(layer, BEGIN + WAIT)
    assert sorted(path.name for path in unpacked_files(layer)) == ["Stemmer.abi.so", "libbeside.so.1"]
    change_manifest(layer, {"digest": "another", "ahead": []})
    assert run(layer, BEGIN + "print(native_loader._helpers)").stdout == "[]\n"


def test_what_is_unpacked_beside_is_waited_for_and_used(layer: Path) -> None:
    stuck = f"native_loader._write_unpacked = lambda *_: sys.exit('unpacked here'); {USE}"
    assert run(layer, BEGIN + stuck).stdout.startswith("librari")


def test_nothing_is_begun_where_all_is_unpacked_or_nothing_is_packed(layer: Path) -> None:
    run(layer)
    assert run(layer, BEGIN + "print(native_loader._helpers)").stdout == "[]\n"
    (layer / "native_loader.json").unlink()
    assert run(layer, BEGIN + "print(native_loader._helpers)").stdout == "[]\n"


@pytest.mark.parametrize("helper", ["/bin/false", "/nowhere/python"])
def test_without_its_helper_the_process_unpacks_by_itself(layer: Path, helper: str) -> None:
    assert run(layer, f"import sys; sys.executable = {helper!r}; {BEGIN}{USE}").stdout.startswith("librari")


def test_a_helper_that_hangs_is_not_waited_for(layer: Path) -> None:
    hangs = layer.parent / "hangs"
    hangs.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    hangs.chmod(0o755)
    code = f"import native_loader, os, sys; sys.executable = {str(hangs)!r}; native_loader.HELPER_SECONDS = 0.1; "
    code += f"native_loader.start_unpacking(); {USE}; os.kill(native_loader._helpers[0].process, 9)"
    assert run(layer, code).stdout.startswith("librari")


def test_a_fault_is_reported_by_the_process_that_needs_the_file(layer: Path) -> None:
    (layer / "words/Stemmer.abi.so.zst").write_bytes(b"no archive")
    ended = run(layer, BEGIN + USE)
    assert "is damaged" in ended.stderr.splitlines()[-1]
    assert ended.stderr.count("native_loader.EngineError: ") == 1
