"""A program with JAX is told what to do in JAX's words, from its file to the sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scripts.samples.xplane_file import Plane, space
from tensorboard_plugin_dlprof.database.connection import opened_database
from tensorboard_plugin_dlprof.diagnosis.as_text import text_of
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source, import_source
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.memory import memory
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.samples import DATA

OTHERS_WORDS = re.compile(
    r"torch|tf\.|TensorFlow|nsys|NVTX|cublasSetMathMode|cuda[HS]|contiguous\(|DataParallel|FSDP", re.IGNORECASE
)


def said(path: Path) -> dict[str, Any]:
    """The diagnosis."""
    diagnosis: dict[str, Any] = diagnose_source(path, "typical", ImportOptions(), lambda *_: None)
    return diagnosis


def test_the_generated_training_is_told_what_it_was_made_to_show() -> None:
    """The input pipeline, the product in float32 and the copy, with what JAX has for each."""
    said_sentences = said(DATA / "generated-transformer-jax.xplane.pb")
    advice = {each["rule"]: each["action"] for each in said_sentences["findings"]}
    assert {"dataloader_detector", "tf32_detector", "amp_detector"} <= set(advice)
    assert "jax.default_matmul_precision" in advice["tf32_detector"]
    assert "jnp.bfloat16" in advice["amp_detector"]
    assert "jax.device_put" in advice["dataloader_detector"]
    text = text_of(said_sentences) + " ".join(advice.values())
    assert OTHERS_WORDS.findall(text) == []


@pytest.mark.parametrize("function", ["backend_compile", "backend_compile_and_load"])
def test_compiling_in_the_loop_is_the_first_finding(function: str, tmp_path: Path) -> None:
    """Of six steps, the first compiles as it should, and two others because a shape changed. No other finding speaks of
    it, and JAX's function that compiles and loads is no data loader."""
    device, host = Plane("/device:GPU:0", {"compute_cap_major": 9, "core_count": 132}), Plane("/host:CPU")
    python, stream = host.line(1, "python"), device.line(1, "Stream #1")
    now = 1_000
    for step in range(6):
        begin, compiling = now, 50_000_000 if step in (0, 2, 4) else 0
        if compiling:
            host.event(python, "PjitFunction(step)", now, compiling + 50_000)
            host.event(python, function, now + 1_000, compiling)
        now += compiling + 60_000
        host.event(python, "cuLaunchKernel", now, 5_000, correlation_id=step + 1)
        described = {"hlo_module": "jit_step", "hlo_op": "fusion"}
        device.event(stream, "loop_add_fusion", now + 10_000, 20_000_000, correlation_id=step + 1, **described)
        now += 21_000_000
        host.event(python, "train", begin, now - begin - 1_000, step_num=step, _r=1)
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(space([device, host]))
    result, *others = said(path)["findings"]
    assert result["rule"] == "recompilation"
    assert {each["rule"] for each in others}.isdisjoint(("dataloader_detector", "slow_iterations"))
    assert result["title"].startswith(
        "XLA compiles in 2 of the 5 iterations after the first, while the GPU waits 100 ms"
    )
    assert result["time_ns"] == 100_000_000
    assert "jax_explain_cache_misses" in result["action"]
    assert result["evidence"][0]["path"] == function


def launched(tmp_path: Path, waiting: str, **stats: str | int) -> dict[str, Any]:
    """What is said of six calls, each of which waits 20 ms in a range, then launches a kernel and a copy of 2 ms."""
    device, host = Plane("/device:GPU:0", {"compute_cap_major": 9, "core_count": 132}), Plane("/host:CPU")
    python, stream = host.line(1, "python"), device.line(1, "Stream #1")
    for call in range(6):
        now = 30_000_000 * call + 1_000
        host.event(python, waiting, now, 20_000_000)
        for half, name in enumerate(("loop_add_fusion", "MemcpyD2D")):
            correlation, at = 2 * call + half + 1, now + 20_000_000 + 3_000_000 * half
            host.event(python, "cuLaunchKernel", at, 5_000, correlation_id=correlation)
            details = {"memcpy_details": "kind_src:device kind_dst:device size:4096"} if half else stats
            device.event(stream, name, at + 10_000, 2_000_000, correlation_id=correlation, **details)
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(space([device, host]))
    return said(path)


@pytest.mark.parametrize(
    ("waiting", "advice"),
    [
        ("PjitFunction(step)", "one jax.jit around the whole step"),
        ("BufferSequencingEvent::Execute", "jax.device_put"),
        ("write_log", "between launches"),
    ],
)
def test_time_in_the_runtime_is_not_called_the_programs_own(tmp_path: Path, waiting: str, advice: str) -> None:
    """What JAX does itself is told by what calls it; steps that are not marked are runs of the largest function."""
    launches = launched(tmp_path, waiting, hlo_module="jit_step", hlo_op="loop_add_fusion")
    texts = {each["rule"]: f"{each['title']} {each['action']}" for each in launches["findings"]}
    assert advice in texts["host_detector"]
    assert "donate_argnums" in texts["copy_detector"]
    assert "each run of jit_step, " in texts["no_iterations_detector"]
    assert OTHERS_WORDS.findall(" ".join(texts.values())) == []


def test_a_recording_of_tensorflows_profiler_is_told_what_that_can_do(tmp_path: Path) -> None:
    """Not what Nsight Systems could."""
    launches = launched(tmp_path, "ExecutorState::Process", tf_op="model/dense/add:AddV2")
    texts = {each["rule"]: f"{each['title']} {each['action']}" for each in launches["findings"]}
    assert "tf.profiler.experimental.Trace" in texts["no_iterations_detector"]
    assert "TensorFlow's executor" in texts["host_detector"]
    import_source(tmp_path / "t.xplane.pb", tmp_path / "t.sqlite", ImportOptions(), lambda *_: None)
    with opened_database(tmp_path / "t.sqlite") as connection:
        notes = [each["message"] + each["hint"] for each in coverage_notes(connection, find_scope(connection))]
        memory_headline = memory(connection)["headline"]
    assert "default allocator" in memory_headline
    assert any("name no op" in each for each in notes)
    everything = " ".join((*texts.values(), *notes, memory_headline))
    assert re.findall(r"[Tt]orch|jax\.|nsys|NVTX|contiguous|profile_memory", everything) == []


def test_runs_of_a_function_need_not_be_steps(tmp_path: Path) -> None:
    """Of eight runs of one function, every other is given a larger matrix: nothing is said of slow steps but that."""
    device, host = Plane("/device:GPU:0", {"compute_cap_major": 9, "core_count": 132}), Plane("/host:CPU")
    python, stream, now = host.line(1, "python"), device.line(1, "Stream #1"), 1_000
    for run in range(8):
        length = 1_000_000 if run % 2 else 9_000_000
        host.event(python, "cuLaunchKernel", now, 5_000, correlation_id=run + 1)
        described = {"hlo_module": "jit_dot", "hlo_op": "fusion"}
        device.event(stream, "loop_add_fusion", now + 10_000, length, correlation_id=run + 1, **described)
        now += length + 20_000
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(space([device, host]))
    (slow,) = (each for each in said(path)["findings"] if each["rule"] == "slow_iterations")
    assert (slow["severity"], slow["confidence"]) == ("advice", "low")
    assert "runs of jit_dot, not steps" in slow["action"]
