"""Comparisons with other tools: what they load is checked, what fails is told, limits hold. Nothing is downloaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks import peers
from benchmarks.measuring import CommandFailed, Limits, run
from benchmarks.peer_tools import PEERS, Peer, python_program
from tests.waiting import wait_for

DRIVER = Path(peers.__file__).with_name("perfetto_wasm.mjs")

# An engine that answers in the frames of Perfetto's, and counts complete events in place of slices.
ENGINE = r"""
let port, events = 0, pending = new Uint8Array(0);
const text = (bytes) => new TextDecoder().decode(bytes);
const varint = (value) => [(value % 128) + 128, Math.floor(value / 128)];
const field = (number, bytes) => [...varint(number * 8 + 2), bytes.length, ...bytes];
const reply = (bytes) => port.postMessage(Uint8Array.from([10, bytes.length, ...bytes]));
const number = (at) => {
  let value = 0, scale = 1;
  for (; pending[at] > 127; scale *= 128) value += (pending[at++] - 128) * scale;
  return [value + pending[at] * scale, at + 1];
};
function answer(method, argument) {
  if (method === 1) {
    events += text(argument).split('"ph": "X"').length - 1;
    const error = [18, 9, 98, 97, 100, 32, 101, 118, 101, 110, 116]; // "bad event"
    reply([24, 1, ...field(201, text(argument).includes("broken") ? error : [8, 1])]);
  }
  if (method === 2) reply(field(212, []));
  if (method === 3) {
    if (!text(argument).includes("SELECT")) throw new Error("no question");
    // The name of a column, then a batch: types of its cells, its whole numbers, that it is the last.
    const cells = [10, 1, 2, 18, 2, ...varint(events), 48, 1];
    reply(field(203, [10, 1, 110, 26, cells.length, ...cells]));
  }
}
self.onmessage = (start) => {
  port = start.data;
  port.onmessage = ({ data }) => {
    if (!(data instanceof Uint8Array)) throw new Error("no array of bytes");
    const joined = new Uint8Array(pending.length + data.length);
    joined.set(pending);
    joined.set(data, pending.length);
    pending = joined;
    if (pending.length < 2) return;
    const [length, body] = number(1);
    if (pending.length < body + length) return;
    const method = pending[body + 1];
    answer(method, length > 2 ? pending.subarray(number(number(body + 2)[1])[1], body + length) : new Uint8Array(0));
    pending = pending.slice(body + length);
  };
};
"""


@pytest.fixture
def ui(tmp_path: Path) -> Path:
    """A folder with an engine."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed: it runs Perfetto's WebAssembly")
    folder = tmp_path / "ui"
    folder.mkdir()
    (folder / "engine_bundle.js").write_text(ENGINE)
    return folder


def load_with_perfetto(ui: Path, trace: Path, least: int) -> subprocess.CompletedProcess[str]:
    """Runs the driver."""
    command = ["node", str(DRIVER), str(ui), str(trace), "SELECT count(*) FROM slice", str(least)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_perfetto_is_given_the_whole_trace(ui: Path, tmp_path: Path) -> None:
    """A trace of more than one portion arrives with its first and its last event; too few loaded is an error."""
    trace = tmp_path / "trace.json"
    events = ['{"ph": "X"}'] * 200
    trace.write_text('{"traceEvents": [' + ",".join(events) + "," + " " * 34_000_000 + ",".join(events) + "]}")
    done = load_with_perfetto(ui, trace, 400)
    assert (done.returncode, done.stdout, done.stderr) == (0, "400\n", "")
    done = load_with_perfetto(ui, trace, 401)
    assert (done.returncode, done.stderr) == (1, "Error: 400 loaded, of 401\n")


def test_what_perfetto_refuses_is_told(ui: Path, tmp_path: Path) -> None:
    """In its own words, on one line, without a stack."""
    trace = tmp_path / "trace.json"
    trace.write_text("broken")
    done = load_with_perfetto(ui, trace, 1)
    assert (done.returncode, done.stderr) == (1, "Error: bad event\n")


def test_perfetto_without_node_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before anything is run."""
    monkeypatch.setenv("PATH", str(tmp_path))
    perfetto = next(peer for peer in PEERS if peer.name == "Perfetto (wasm)")
    with pytest.raises(CommandFailed, match="Node 20 or newer has to be installed"):
        perfetto.command(tmp_path, tmp_path / "trace.json", 1)


def test_complete_events_are_counted(tmp_path: Path) -> None:
    """Those with a duration, however they are spaced; not what a name quotes."""
    trace = tmp_path / "trace.json"
    events = [{"ph": "X", "name": 'a "ph": "X" b'}, {"ph": "i"}, {"ph": "X"}]
    trace.write_text(json.dumps(events) + json.dumps(events[2:], separators=(",", ":")))
    assert peers.complete_events(trace) == 3


def test_peers_are_compared_and_failures_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that loads all is measured, one that fails says why; who is not chosen is not run, and no input is left."""
    count = "import json, sys; assert sum(e['ph'] == 'X' for e in json.load(open(sys.argv[1]))['traceEvents'])"
    selected = (
        Peer("counts", (), python_program(f"{count} == int(sys.argv[2])")),
        Peer("fails", (), python_program("raise SystemExit('error: no such device\\nnote: not our fault')")),
        Peer("not chosen", (), python_program("raise SystemExit('was run')")),
    )
    results = tmp_path / "results.json"
    options = ["--size", "1", "--rounds", "1", "--folder", str(tmp_path / "work"), "--results", str(results)]
    assert peers.main([*options, "--only", "counts", "--only", "fails"], selected) == 0
    data = json.loads(results.read_text())
    assert {"commit", "machine", "python"} <= data["machine"].keys()
    assert data["events_with_duration"] > 0 < data["trace_bytes"]
    assert list(data["peers"]) == ["counts", "fails"]
    assert data["peers"]["counts"]["cpu_x_ours"] > 0 < data["peers"]["counts"]["our_cpu_s"]
    assert data["peers"]["fails"] == {"failed": "error: no such device"}
    assert "error: no such device" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["counts", "fails"]


def test_a_peer_beyond_its_time_is_ended(tmp_path: Path) -> None:
    """The comparison goes on, and says which limit it was."""
    selected = (Peer("waits", (), python_program("import time; time.sleep(600)")),)
    results = tmp_path / "results.json"
    options = ["--size", "1", "--rounds", "1", "--time-limit", "0.01", "--folder", str(tmp_path / "work")]
    assert peers.main([*options, "--results", str(results)], selected) == 0
    waited = json.loads(results.read_text())["peers"]["waits"]
    assert waited == {"failed": "ended, as it took more than 0.01 minutes"}


def test_a_peer_is_installed_from_a_folder_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What pip says of a folder that is no package is the reason; an unknown tool or folder is refused at once."""
    selected = (Peer("named", ("needs-no-network",), python_program("")),)
    source = tmp_path / "source"
    source.mkdir()
    options = ["--size", "1", "--folder", str(tmp_path / "work"), "--results", str(tmp_path / "results.json")]
    assert peers.main([*options, "--source", f"named={source}"], selected) == 0
    reason = json.loads((tmp_path / "results.json").read_text())["peers"]["named"]["failed"]
    assert str(source) in reason
    assert "not installable" in reason
    for wrong in (f"other={source}", "named=nowhere", "named"):
        with pytest.raises(SystemExit):
            peers.main([*options, "--source", wrong], selected)
        assert "NAME=FOLDER is wanted" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="memory is known on Linux only")
def test_a_process_beyond_its_memory_is_ended_with_its_children(tmp_path: Path) -> None:
    """The child that takes the memory goes too."""
    described = tmp_path / "child"
    child = (
        f"import os, time; open({str(described)!r}, 'w').write(str(os.getpid())); x = b'.' * 90_000_000; time.sleep(60)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(CommandFailed, match=r"ended, as it took more than 0\.06 GB of memory"):
        run([sys.executable, "-c", parent], limits=Limits(memory_bytes=6e7))
    process = int(described.read_text())
    try:
        wait_for(lambda: has_ended(process))
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, 9)


def has_ended(process: int) -> bool:
    """Whether it is gone, or only waits for somebody to ask how it ended."""
    try:
        return "Z (zombie)" in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
