"""Recorded profiles, and what a server answers of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.cli.main import main
from tests.routes.serving import Server

SHARED = (
    "torch/h100_transformer_steps/*.json",
    "torch/v100_resnet50_memory/*.gz",
    "torch/a100_copies_only/*",
    "torch/cpu_only_rank34/*.gz",
    "nsight/t4_four_streams_old_schema/*.sqlite",
    "nsight/h100_2gpu_torchrun_nccl/*.sqlite",
    "nsight/a100_cuda_graphs/*.sqlite",
    "dlprof-golden/dlprof_dldb.sqlite",
)


class Profile:
    """A served profile."""

    def __init__(self, source: Path, folder: Path) -> None:
        logs = folder / "logs"
        if "golden" in str(source):
            logs.mkdir()
            (logs / source.name).write_bytes(source.read_bytes())
        else:
            assert main(["import", str(source), "-o", str(logs)]) == 0
        (self.database,) = logs.rglob("*.sqlite")
        self.server = Server(logs, folder / "cache")
        self.id = self.server.profile(self.database.name)["id"]

    def ask(self, path: str) -> Any:
        """The response to a request."""
        return self.server.get(f"{path}{'&' if '?' in path else '?'}profile={self.id}")

    def get(self, path: str) -> Any:
        """The JSON of a response."""
        response = self.ask(path)
        assert response.status_code == 200, response.json
        return response.json

    def rows(self, table: str, start: int, stop: int) -> list[dict[str, Any]]:
        """All rows of a table of gaps."""
        result: list[dict[str, Any]] = []
        while True:
            page = self.get(f"/table?table={table}&from={start}&to={stop}&limit=1000&offset={len(result)}")
            result += page["rows"]
            if len(result) >= page["total"]:
                return result
