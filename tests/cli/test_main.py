"""What all commands have in common."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from tensorboard_plugin_dlprof.cli.main import COMMANDS, main
from tensorboard_plugin_dlprof.metadata import VERSION
from tests.cli.traces import write_trace


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], *([command, "--help"] for command in COMMANDS)])
def test_help_and_version_go_to_stdout(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """And end with 0."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    assert capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """Stated once."""
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"dlprof {VERSION}\n"


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["import"], ["summary"], ["import", "x", "--iter-stop", "one"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """And says how it is used."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: dlprof" in capsys.readouterr().err


def test_ctrl_c_while_a_command_is_loaded_causes_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That takes a while on a network."""

    def interrupted(_name: str) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("tensorboard_plugin_dlprof.cli.main.command", interrupted)
    assert main(["import", "x"]) == 130
    assert capsys.readouterr().err == "dlprof: interrupted\n"


def test_a_reader_that_goes_away_causes_no_traceback() -> None:
    """As in ``dlprof --help | head -1``."""
    script = (
        "import sys; from tensorboard_plugin_dlprof.cli import main, summary\n"
        "def write(arguments):\n    print('x' * 1_000_000)\n    return 0\n"
        "summary.run = write\n"
        "sys.exit(main.main(['summary', 'x']))"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read()
    assert b"Traceback" not in errors
    assert b"Exception ignored" not in errors


@pytest.mark.skipif(os.name != "posix", reason="a shell closes them")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["import", "check", "summary", "cache"])
def test_a_process_without_output_does_its_work(tmp_path: Path, closed: str, command: str) -> None:
    """As jobs of some systems are started: what would be said is lost, and no file takes the place of the output."""
    source = write_trace(tmp_path / "a.json")
    words = [sys.executable, "-m", "tensorboard_plugin_dlprof", command, *([] if command == "cache" else [str(source)])]
    line = f"exec {shlex.join(words)} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.dlprof_dldb.sqlite").exists() == (command == "import")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["run", "--delay", "-1", "x.py"], "'-1' is not a number of seconds"),
        (["run", "--duration", "nan", "x.py"], "'nan' is not a number of seconds"),
        (["run", "--delay", "soon", "x.py"], "'soon' is not a number of seconds"),
        (["import", "--memory-limit", "much", "x"], "'much' is not a number of GB"),
        (["import", "--memory-limit", "0", "x"], "'0' is not a number of GB"),
        (["demo", "--port", "-1"], "a port is a number from 0 to 65535, not '-1'"),
        (["demo", "--port", "65536"], "a port is a number from 0 to 65535, not '65536'"),
    ],
)
def test_numbers_that_are_none(line: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what they are to be."""
    with pytest.raises(SystemExit) as end:
        main(line)
    assert end.value.code == 2
    assert words in capsys.readouterr().err
