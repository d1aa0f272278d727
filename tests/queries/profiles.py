"""Databases to compare tables with plain SQL on: NVIDIA's own, and ours of real and of drawn profiles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.shared_data import shared_data

GOLDEN = ("dlprof-golden/dlprof_dldb.sqlite", "dlprof-golden/dlprof_dldb_1.sqlite")
SOURCES = (
    "torch/v100_resnet_ns_times/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
    "torch/h100_qwen_bf16/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "torch/mi300x_resnet_ddp/resnet_act_checkpoint.json.gz",
    "torch/a100_copies_only/trace.json",
    "nsight/h100_2gpu_torchrun_nccl/mfu_2gpu_before.sqlite",
    "nsight/no_gpu_work/result.sqlite",
)


def database_of(name: str, folder: Path) -> Path:
    """The database of a file of the shared data, imported into ``folder`` where it is none."""
    source = shared_data() / name
    if name in GOLDEN:
        return source
    database = folder / database_name(source.name)
    import_source(source, database, ImportOptions(), ignore)
    return database


ignore: Callable[[str, float], None] = lambda _stage, _fraction: None  # noqa: E731
