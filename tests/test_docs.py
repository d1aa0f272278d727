"""The documentation says what is there, and what it says works."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import COMMANDS, command, main, parser
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.importers import importers
from tensorboard_plugin_dlprof.loader import DlprofLoader
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.queries.efficiency import CAUSES
from tensorboard_plugin_dlprof.routes.app import App
from tensorboard_plugin_dlprof.routes.services import services_of_tensorboard
from tensorboard_plugin_dlprof.viewer.main import parser as viewer_parser
from tests.cli.traces import write_trace
from tests.test_plugin import context

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMAND_LINE = (REPOSITORY / "tensorboard_plugin_dlprof" / "cli" / "README.md").read_text(encoding="utf-8")
HTTP_API = (REPOSITORY / "tensorboard_plugin_dlprof" / "routes" / "http_api.md").read_text(encoding="utf-8")

PACKAGE = REPOSITORY / "tensorboard_plugin_dlprof"
PROSE = [
    document.relative_to(REPOSITORY).as_posix()
    for folder in (".", "benchmarks", "docs", "frontend", "tensorboard_plugin_dlprof", "tensorboard_plugin_dlprof/*")
    for document in sorted(REPOSITORY.glob(f"{folder}/*.md"))
]


def section(title: str) -> str:
    """What the page about the command line says about one command."""
    match = re.search(rf"^## {title}$(.*?)^## ", COMMAND_LINE, re.MULTILINE | re.DOTALL)
    assert match, f"cli/README.md has no section about {title}"
    return match[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_is_in_its_section(name: str) -> None:
    """And the section names no option that is not there."""
    options = argparse.ArgumentParser(add_help=False)
    command(name).add_arguments(options)
    compare_options(f"dlprof {name}", options)


def test_every_option_of_the_viewer_is_in_its_section() -> None:
    """But what every command has."""
    compare_options("dlprofviewer", viewer_parser(), ("-h", "--help", "--version"))


def compare_options(title: str, options: argparse.ArgumentParser, left_out: Sequence[str] = ()) -> None:
    """The options that a section explains are those that there are."""
    shown = [action for action in options._actions if action.help != argparse.SUPPRESS]
    known = {name for action in options._actions for name in action.option_strings}
    text = section(title)
    for option in {name for action in shown for name in action.option_strings}.difference(left_out):
        assert re.search(rf"`{option}\b", text), f"cli/README.md does not explain {title} {option}"
    assert set(re.findall(r"`(--[a-z_-]+)", text)) <= known


def test_the_readme_names_every_command() -> None:
    """In its table."""
    table = README[README.index("## The command line") : README.index("## In Python")]
    assert set(re.findall(r"^\| `(dlprof [a-z]+|dlprofviewer)\b", table, re.MULTILINE)) == {
        "dlprofviewer",
        *(f"dlprof {name}" for name in COMMANDS),
    }


def test_every_flag_of_tensorboard_is_in_the_readme() -> None:
    """Under the names that TensorBoard takes."""
    flags = argparse.ArgumentParser(add_help=False)
    DlprofLoader().define_flags(flags)
    known = {name for action in flags._actions for name in action.option_strings}
    assert known == set(re.findall(r"--dlprof_[a-z_]+", README))


def test_every_route_is_in_the_http_api(tmp_path: Path) -> None:
    """And the HTTP API names no route that is not there."""
    routes = set(App(services_of_tensorboard(context(tmp_path))).routes())
    headings = "\n".join(line for line in HTTP_API.splitlines() if line.startswith("## "))
    documented = set(re.findall(r"(?:GET|POST) \.(/[\w/*]+)", headings))
    assert documented == routes


def test_every_source_format_is_in_the_table_of_sources() -> None:
    """By the words that messages use for it."""
    table = README[README.index("## Sources") : README.index("## The command line")]
    for importer in importers():
        assert importer.title.split(" ")[0] in table


NO_PROFILES = {
    *(
        "cli/doctor.py",
        "cli/main.py",
        "cli/scale_out.py",
        "imports/worker.py",
        "opening/locking.py",
        "runs/recognise.py",
    ),
    *("opening/memory_limit.py", "opening/one_job.py", "running/child.py", "viewer/main.py"),
}
"""Open streams of the process, locks, and files of their own that are soon gone."""

OPENS = {
    *("open", "open_regular", "fdopen", "connect", "read_text", "read_bytes", "write_text", "write_bytes"),
    *("TemporaryFile", "NamedTemporaryFile", "Workbook"),
}


def test_every_door_of_a_file_is_in_the_guide() -> None:
    """By the module in which files are opened; and it names no module that opens none."""
    table = CONTRIBUTING[CONTRIBUTING.index("## Where files") : CONTRIBUTING.index("## Adding an importer")]
    package = REPOSITORY / "tensorboard_plugin_dlprof"
    opening = set()
    for path in package.rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
        if any(ast.unparse(call.func).rpartition(".")[2] in OPENS for call in calls):
            opening.add(path.relative_to(package).as_posix())
    through_another = {"database/job_rows.py", "database/rank_files.py"}
    assert set(re.findall(r"`([a-z_/]+\.py)`", table)) - through_another == opening - NO_PROFILES


def commands_of_documents() -> list[str]:
    """Lines of shell examples that call one of our commands."""
    blocks = re.findall(r"```sh\n(.*?)```", f"{README}\n{COMMAND_LINE}", re.DOTALL)
    names = "|".join(COMMANDS)
    return [line for block in blocks for line in block.splitlines() if re.match(rf"dlprof ({names})\b", line)]


@pytest.mark.parametrize("line", commands_of_documents())
def test_the_commands_of_the_documents_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand there, in a folder with a log directory."""
    source = write_trace(tmp_path / "logs" / "run" / "trace.json")
    monkeypatch.chdir(tmp_path)
    database = tmp_path / "databases" / database_name(source.name)
    if "DATABASE" in line:
        assert main(["import", str(source), "-o", str(database.parent)]) == 0
        line = line.replace("DATABASE", str(database))
    words = shlex.split(line.replace("SOURCE...", str(source)).replace("SOURCE", str(source)))
    assert main(words[1:]) == 0


def test_there_are_examples_of_the_commands() -> None:
    """Else the test above would test nothing."""
    assert len(commands_of_documents()) >= 3


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_make_target_that_is_named_is_there(text: str) -> None:
    """In the Makefile's own list, with an explanation."""
    explained = set(re.findall(r"^([a-z]+):.*## ", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE)) <= explained


@pytest.mark.parametrize("name", PROSE)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    """Files and folders of the repository, pictures included."""
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
        assert ((REPOSITORY / name).parent / target).exists(), f"{name} links to {target}"


@pytest.mark.parametrize("kind", ["py", "sql"])
def test_comments_name_files_that_are_there(kind: str) -> None:
    """A file that has moved is found in vain: paths, and modules as ``folder.module``."""
    gone = []
    for path in PACKAGE.rglob(f"*.{kind}"):
        text = path.read_text(encoding="utf-8")
        places = (PACKAGE, path.parent, REPOSITORY, REPOSITORY / "frontend" / "src")
        for named in re.findall(r"\b((?:[a-z_]+/)+[a-z_]+\.(?:py|sql|tsx?|md))\b", text):
            if not any((place / named).exists() for place in places):
                gone.append(f"{path.name}: {named}")
        for folder, module in re.findall(r"``([a-z_]+)\.([a-z_]+)(?:\.\w+)?``", text):
            parent = PACKAGE / folder
            if module == "py":
                there = any(PACKAGE.rglob(f"{folder}.py"))
            else:
                there = not parent.is_dir() or any((parent / name).exists() for name in (f"{module}.py", module))
            if not there:
                gone.append(f"{path.name}: {folder}.{module}")
    assert gone == []


def test_contributing_says_what_every_folder_is_for() -> None:
    """In its table of folders."""
    folders = {path.parent.name for path in (REPOSITORY / "tensorboard_plugin_dlprof").glob("*/__init__.py")}
    table = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8").split("| Folder |")[1].split("\n\n")[0]
    assert sorted(folder for folder in folders if f"`{folder}/`" not in table) == []


def test_the_walk_of_a_duration_meets_three_names_and_twelve_files() -> None:
    """Each row's files hold the names that the row speaks of."""
    walk = CONTRIBUTING.split("A kernel's duration, from")[1].split("What lies between treats")[0]
    files: set[Path] = set()
    for row in re.findall(r"^\| `.*", walk, re.MULTILINE):
        names = re.findall(r"`([\w/]+\.(?:py|sql|tsx?))`", row)
        package = REPOSITORY / "tensorboard_plugin_dlprof"
        first = next(path for path in (REPOSITORY / names[0], package / names[0]) if path.exists())
        places = (first.parent, package, REPOSITORY / "frontend" / "src")
        of_row = [first, *(next(p / name for p in places if (p / name).exists()) for name in names[1:])]
        words = set(re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in of_row)))
        assert set(re.findall(r"`(\w+)`", row)) <= words, row
        files.update(of_row)
    assert len(files) <= 12
    assert set(re.findall(r"\*\*`(\w+)`\*\*", walk)) == {"duration_ns", "end_ns", "gpu_time_ns"}


def test_the_changelog_knows_the_version() -> None:
    """Released, or the next one."""
    assert VERSION in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_help_names_every_command() -> None:
    """With a line about each."""
    text = parser().format_help()
    assert all(re.search(rf"^ +{command} +\w", text, re.MULTILINE) for command in COMMANDS)


def test_the_page_explains_every_cause() -> None:
    """What the server calls a cause, the page has a sentence for: nobody else reads both."""
    explained = (REPOSITORY / "frontend" / "src" / "model" / "causes.ts").read_text(encoding="utf-8")
    assert [
        label for label in CAUSES.values() if not re.search(rf'^  "?{label}"?:\s+["\']', explained, re.MULTILINE)
    ] == []
