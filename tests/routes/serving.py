"""The plugin's routes behind a real WSGI client, without TensorBoard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from werkzeug.test import Client, TestResponse

from tensorboard_plugin_dlprof.routes.app import App, Services
from tensorboard_plugin_dlprof.routes.services import make_services, roots_of
from tensorboard_plugin_dlprof.runs.scan import Root
from tests.waiting import wait_for

OURS = {"X-DLProf": "1"}

LINKS = {
    "kernels_of_op": "&op=ADD_1",
    "ops_of_group": "&group=/",
    "kernels_of_group": "&group=/",
    "ops_of_path": "&row=/add%20forward",
    "ops_of_name": "&row=add%20forward",
    "ops_of_type": "&row=add",
    "kernels_of_path": "&row=/add%20forward",
    "kernels_of_name": "&row=add%20forward",
    "kernels_of_type": "&row=add",
    "ops_of_kernel": "&row=vectorized_elementwise_kernel",
    "kernels_of_iteration": "&iteration=1",
    "ops_of_iteration": "&iteration=1",
    "op_paths_of_iteration": "&iteration=1",
    "kernel_names_of_iteration": "&iteration=1",
    "kernels_of_iteration_op": "&iteration=1&op=ADD_1",
    "memory_blocks": "&device=0",
    "memory_block_groups": "&device=0",
    "gaps": "&from=0&to=3000000",
    "gap_groups": "&from=0&to=3000000",
}
"""Tables that are about something -> what of the traces of tests it may be."""


class Server:
    """The routes over a log directory, and what tests ask of them."""

    def __init__(self, logdir: Path | str, cache: Path, **options: Any) -> None:
        roots = roots_of(logdir, "") if isinstance(logdir, str) else [Root(logdir)]
        self.services: Services = make_services(roots, cache_folder=cache, **options)
        self.app = App(self.services)
        self.app._questions.advisor.wait_seconds = None  # instead of 503 while the machine is busy
        self.client = Client(self.app)

    def get(self, path: str, **options: Any) -> TestResponse:
        """Reads."""
        return self.client.get(path, **options)

    def change(self, path: str, profile: str, **options: Any) -> TestResponse:
        """Sends what our own page sends."""
        return self.client.post(path, json={"profile": profile}, **{"headers": OURS, **options})

    def profiles(self) -> list[dict[str, Any]]:
        """The list, once its first scan has ended."""
        wait_for(lambda: self.get("/profiles").json["scan"]["state"] == "done")
        answer = self.get("/profiles").json
        assert answer is not None
        result: list[dict[str, Any]] = answer["profiles"]
        return result

    def profile(self, name: str) -> dict[str, Any]:
        """The profile of this file name."""
        return next(profile for profile in self.profiles() if profile["name"] == name)

    def rescan(self) -> None:
        """Makes the next list a new one."""
        thread = self.services.catalog._thread
        if thread is not None:
            thread.join()
        self.services.catalog.rescan()

    def wait_for_state(self, name: str, *states: str) -> dict[str, Any]:
        """The profile of this file name, once it is in one of these states."""
        wait_for(lambda: self.profile(name)["state"] in states)
        return self.profile(name)
