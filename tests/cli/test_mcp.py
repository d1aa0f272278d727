"""``dlprof mcp``: what agents are told is what commands print."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.cli.agents.shortening import MOST_BYTES, shortened
from tensorboard_plugin_dlprof.cli.main import main
from tests.cli.declared import undeclared
from tests.imports.traces import write_trace

SAMPLES = Path(__file__).resolve().parents[2] / "tensorboard_plugin_dlprof" / "samples" / "data"
RANKS = [f"generated-transformer-bf16-rank{rank}.pt.trace.json.gz" for rank in (0, 1)]

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_profiles", {}),
    ("diagnose", {"profile": f"job/{RANKS[0]}", "rows": 20}),
    ("summarise", {"profile": RANKS[0], "rows": 20}),
    ("ops", {"profile": RANKS[0], "where": {"gpu_time_ns": ">1us"}, "sort": "-calls", "limit": 3, "describe": True}),
    ("kernels", {"profile": RANKS[0], "offset": 2, "limit": 4}),
    ("kernels", {"profile": RANKS[0], "iteration": 3}),
    ("modules", {"profile": RANKS[0], "search": "layers"}),
    ("gaps", {"profile": RANKS[0], "start_ns": 0, "stop_ns": 50_000_000}),
    ("compare", {"base": RANKS[0], "candidate": RANKS[1], "rows": 20}),
    ("memory", {"profile": RANKS[0], "rows": 20}),
    ("ranks", {"run": "job", "rows": 20}),
    ("ops", {"profile": "new/a.pt.trace.json"}),
]


def test_every_tool_answers_as_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The package's own client asks over standard streams; each command that an answer names is run as well."""
    mcp = pytest.importorskip("mcp", reason="pip install 'tensorboard_plugin_dlprof[mcp]'")
    (tmp_path / "logs" / "job").mkdir(parents=True)
    for name in RANKS:
        shutil.copy(SAMPLES / name, tmp_path / "logs" / "job")
    write_trace(tmp_path / "logs" / "new" / "a.pt.trace.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["import", "logs/job"]) == 0
    before = sorted((tmp_path / "logs").rglob("*"))
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "tensorboard_plugin_dlprof", "mcp", "--logdir", "logs", "--url", "http://tb:1/"],
        env=dict(os.environ),
    )

    async def ask() -> tuple[list[Any], list[str], str]:
        stages = []

        async def progress(_done: float, _total: float | None, stage: str | None) -> None:
            stages.append(stage or "")

        with (tmp_path / "errors.txt").open("w") as errors:
            async with mcp.Client(mcp.stdio_client(server, errlog=errors)) as client:
                tools = (await client.list_tools()).tools
                assert {tool.name for tool in tools} == {name for name, _ in CALLS}
                assert all(tool.annotations.read_only_hint for tool in tools)
                result = [await client.call_tool(name, given, progress_callback=progress) for name, given in CALLS]
                refused = await client.call_tool("ops", {"profile": RANKS[0], "sort": "nothing"})
        assert refused.is_error
        return result, stages, refused.content[0].text

    with ThreadPoolExecutor(1) as pool:  # the browser of other tests keeps a loop of this thread running
        answers, stages, refusal = pool.submit(asyncio.run, ask()).result()
    assert "has no column 'nothing'; it has name, op_id" in refusal
    assert stages[0] == "Starting"  # which others depends on when the server looks at so short an import
    assert sorted((tmp_path / "logs").rglob("*")) == before
    for (name, given), answer in zip(CALLS, answers, strict=True):
        assert not answer.is_error, answer.content[0].text
        data = json.loads(answer.content[0].text)
        assert "never instructions" in data["notice"]
        assert data["link"].startswith("http://tb:1/#dlprof&p.dlprof.") or name == "list_profiles"
        capsys.readouterr()
        assert main(shlex.split(data["command"])[1:]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert not undeclared(shlex.split(data["command"])[1], printed)
        if name == "list_profiles":
            printed["scan"]["finished_at"] = data["data"]["scan"]["finished_at"]
            for each in (*printed["profiles"], *data["data"]["profiles"]):  # the tools imported one meanwhile
                each.update(state="", headline=None, captured_at=None, world_size=None)
        assert ("columns" in data["data"]) == ("describe" in given)
        rows = max(given.get("rows", 20), len(printed.get("columns", ())))
        printed = {key: value for key, value in printed.items() if key in data["data"]}
        assert data["data"] == shortened(printed, rows)[0], name


def test_answers_are_short_and_tell_what_was_left_out() -> None:
    """Lists and texts are cut, at any depth, and an answer that would be too large is cut more."""
    result, left_out = shortened({"rows": [{"names": ["a"] * 9}] * 4, "text": "x" * 900, "number": None}, 3)
    assert [len(result["rows"]), result["rows"][0]["names"], len(result["text"])] == [3, ["a"] * 3, 400]
    assert result["number"] is None
    assert left_out == {"rows": 4, "rows[].names": 9, "text": 900}
    large, left_out = shortened([["x" * 300] * 40] * 40, 40)
    assert len(json.dumps(large)) <= MOST_BYTES
    assert left_out[""] == 40


def test_without_the_package_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is optional."""
    for name in ("mcp", "mcp.server.mcpserver"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "tensorboard_plugin_dlprof.cli.agents.server", raising=False)
    assert main(["mcp"]) == 1
    assert "pip install 'tensorboard_plugin_dlprof[mcp]'" in capsys.readouterr().err


def test_tables_and_lists_are_printed_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Aligned columns and how many rows there are; wrong options are wrong usage."""
    trace = write_trace(tmp_path / "run" / "a.pt.trace.json")
    assert main(["list", str(tmp_path)]) == 0
    assert "run/a.pt.trace.json  pytorch, " in capsys.readouterr().out
    assert main(["table", str(trace), "modules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "gpu_time_ns" in lines[0]
    assert lines[-1].startswith("rows 1 to ")
    assert main(["table", str(trace), "ops", "--limit", "1001"]) == 2
    assert main(["table", str(trace), "kernels_of_iteration", "--iteration", str(10**30)]) == 2
    assert main(["table", str(trace), "gaps", "--from", "9", "--to", "3"]) == 2
    assert "the window is empty" in capsys.readouterr().err
