"""What the wheel and the source distribution hold, and that the wheel works where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.metadata import VERSION
from tests.waiting import PATIENCE_S

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = "tensorboard_plugin_dlprof"
NOT_SOURCES = shutil.ignore_patterns(
    ".git", ".venv", ".demo", ".*_cache", ".hypothesis", "node_modules", "__pycache__", "build", "dist", "*.egg-info"
)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and with the wheel that was built from it without Node."""
    work = tmp_path_factory.mktemp("packaging")
    shutil.copytree(REPOSITORY, work / "clone", ignore=NOT_SOURCES)
    without_node = work / "bin"
    without_node.mkdir()
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(work / "dist"), str(work / "clone")],
        check=True,
        capture_output=True,
        timeout=300,
        env={**os.environ, "PATH": str(without_node)},
    )
    return work / "dist"


@pytest.fixture(scope="module")
def in_wheel(distributions: Path) -> set[str]:
    """Names of the files in the wheel."""
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def in_sdist(distributions: Path) -> set[str]:
    """Names of the files in the source distribution, without its top folder."""
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def tracked(*patterns: str) -> set[str]:
    """Files of the repository that match, as paths from its root."""
    result = {path for pattern in patterns for path in REPOSITORY.glob(pattern) if path.is_file()}
    return {path.relative_to(REPOSITORY).as_posix() for path in result if "__pycache__" not in path.parts}


def test_the_wheel_holds_everything_that_runs(in_wheel: set[str]) -> None:
    """Modules, built frontend, SQL, samples, types, and the generated protobuf module."""
    for pattern in ("**/*.py", "static/**/*", "database/sql/*.sql", "samples/data/**/*", "**/*.md", "**/*.pyi"):
        files = tracked(f"{PACKAGE}/{pattern}")
        assert files, pattern
        assert files <= in_wheel
    assert {f"{PACKAGE}/py.typed", f"{PACKAGE}/static/index.js"} <= in_wheel


def test_the_wheel_holds_nothing_else(in_wheel: set[str]) -> None:
    """No tests and no sources of the frontend, which are of no use where it is installed."""
    assert {name.split("/")[0] for name in in_wheel} == {PACKAGE, f"{PACKAGE}-{VERSION}.dist-info"}


def test_the_sdist_holds_what_is_needed_to_build_and_to_test(in_sdist: set[str]) -> None:
    """The sources of the frontend too, without the packages of others."""
    files = tracked("frontend/src/**/*", "frontend/*.json", "tests/**/*.py", "scripts/*", "proto/*", "*.md", "LICENSE")
    assert files <= in_sdist
    assert {"setup.py", "pyproject.toml", "Makefile", f"{PACKAGE}/static/index.js"} <= in_sdist
    assert not [name for name in in_sdist if "node_modules" in name]


def test_the_licence_is_the_whole_apache_licence(in_wheel: set[str]) -> None:
    """Ours, and in the wheel."""
    text = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert any(name.endswith("/LICENSE") for name in in_wheel)


def test_the_installed_command_answers_before_any_dependency_is_there(distributions: Path, tmp_path: Path) -> None:
    """In a fresh environment; the entry point of TensorBoard is declared."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    (wheel,) = distributions.glob("*.whl")
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*install, str(wheel)], check=True, timeout=PATIENCE_S)
    dlprof = tmp_path / "venv" / "bin" / "dlprof"
    answer = subprocess.run(
        [dlprof, "--help"], check=True, capture_output=True, text=True, timeout=PATIENCE_S, cwd=tmp_path
    )
    assert "import" in answer.stdout
    question = "from importlib.metadata import entry_points as e; print(*e(group='tensorboard_plugins'))"
    answer = subprocess.run([python, "-c", question], check=True, capture_output=True, text=True, timeout=PATIENCE_S)
    assert f"{PACKAGE}.loader:DlprofLoader" in answer.stdout


def test_without_bundle_and_without_npm_the_build_ends_with_a_sentence(tmp_path: Path) -> None:
    """It says what is missing and what to do."""
    shutil.copytree(REPOSITORY, tmp_path / "clone", ignore=NOT_SOURCES)
    shutil.rmtree(tmp_path / "clone" / PACKAGE / "static")
    (tmp_path / "bin").mkdir()
    build = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(tmp_path / "lib")]
    answer = subprocess.run(
        build,
        cwd=tmp_path / "clone",
        env={**os.environ, "PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert answer.returncode != 0
    assert "npm is not on the PATH" in answer.stderr


def test_an_installation_in_place_is_compiled(tmp_path: Path) -> None:
    """As pip compiles what it copies: where Python writes no bytecode, starts would take twice as long."""
    clone = tmp_path / "clone"
    shutil.copytree(REPOSITORY, clone, ignore=NOT_SOURCES)
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "editable_wheel", "--dist-dir", str(tmp_path / "dist")],
        check=True,
        cwd=clone,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=PATIENCE_S,
    )
    for source in (clone / PACKAGE).rglob("*.py"):
        assert Path(cache_from_source(str(source))).is_file(), f"{source.name} is not compiled"
