"""``dlprof schema``: one document of what commands print as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec
import pytest

from tensorboard_plugin_dlprof.cli.answers.document import ANSWERS, FILES, document
from tensorboard_plugin_dlprof.cli.main import COMMANDS, main, parser
from tests.cli.declared import undeclared
from tests.imports.traces import write_trace

PAGE = Path(__file__).resolve().parents[2] / "docs" / "answers.schema.json"


def test_the_page_is_what_the_declarations_say(capsys: pytest.CaptureFixture[str]) -> None:
    """``dlprof schema > docs/answers.schema.json`` renews it; a key that is gone needs a new version."""
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == PAGE.read_text(encoding="utf-8")
    names = document()["$defs"]
    assert not [name for name in names if "." in name]


def test_every_command_with_json_is_in_it_and_help_leads_to_it() -> None:
    """A new one has to be declared."""
    top = parser()
    assert "dlprof schema" in top.format_help()
    (commands,) = (action.choices for action in top._actions if isinstance(action, argparse._SubParsersAction))
    assert commands is not None
    speaking = {
        name
        for name in COMMANDS
        for action in commands[name]._actions
        if action.dest == "format" and "json" in (action.choices or ())
    }
    assert speaking == set(ANSWERS)


def test_short_answers_are_declared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The long ones are checked where agents ask for them (``test_mcp``)."""
    first, second = (str(write_trace(tmp_path / name / "a.pt.trace.json")) for name in "ab")
    (tmp_path / "no.pt.trace.json").write_text("{")
    for words in (
        ["compare", first, second, second, "--fail-on", "kernel_time>3%", "--undecided", "ok"],
        ["check", first, str(tmp_path / "no.pt.trace.json")],
        ["classify", "ampere_fp16_s16816gemm_fp16_128x128", "unknown"],
        ["list", str(tmp_path)],
        ["memory", first],
        ["cache", "--dir", str(tmp_path)],
    ):
        main([*words, "--format", "json"])
        assert not undeclared(words[0], json.loads(capsys.readouterr().out))


def test_reports_are_declared(tmp_path: Path) -> None:
    """All of them, as files."""
    source = str(write_trace(tmp_path / "a.pt.trace.json"))
    assert main(["reports", source, "--formats", "json", "--output_path", str(tmp_path / "reports")]) == 0
    (kind,) = FILES["reports --formats json"]
    written = list((tmp_path / "reports").iterdir())
    assert len(written) == 8
    for file in written:
        assert msgspec.json.decode(file.read_bytes(), type=kind)
