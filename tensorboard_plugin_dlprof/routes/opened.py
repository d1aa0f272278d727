"""The file or folder that the command line of the standalone viewer names, which the page opens at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tensorboard_plugin_dlprof.opening.regular_file import shown as shown_path
from tensorboard_plugin_dlprof.runs.catalog import Snapshot
from tensorboard_plugin_dlprof.runs.recognise import refusal_of

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.routes.profiles import OpenedFile


class Opened(msgspec.Struct, frozen=True):
    """The path of that file or folder."""

    path: Path

    def shown(self, snapshot: Snapshot) -> OpenedFile:
        """The field ``opened`` of ``./profiles``: the profile of the file, or the reason why it cannot be read."""
        name = shown_path(Path(self.path.name or str(self.path)))
        answer: OpenedFile = {"name": name, "profile": None, "code": "", "message": ""}
        for profile in snapshot.profiles:
            if not self.path.is_dir() and profile.file is not None and profile.file.name == self.path.name:
                return {**answer, "profile": profile.profile_id}
        if not self.path.exists():
            message = f"{name} is gone; it was moved or deleted since dlprofviewer was started."
            return {**answer, "code": "not_found", "message": message}
        if self.path.is_dir() or not snapshot.finished_at:
            return answer
        refusal = refusal_of(self.path)
        if refusal is not None:
            return {**answer, "code": refusal.code, "message": str(refusal).replace(shown_path(self.path), name)}
        message = (
            f"{name} is neither a DLProf database nor a PyTorch trace, an Nsight Systems export or an XPlane profile; "
            "name the file that the profiler wrote."
        )
        return {**answer, "code": "not_a_database", "message": message}
