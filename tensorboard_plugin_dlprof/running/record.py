"""Records a command: runs it with the recorder, and moves the recordings to the output folder."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import BrokenSource, OutputNotWritable, ProfileError, reason_of
from tensorboard_plugin_dlprof.opening.outputs import make_folder
from tensorboard_plugin_dlprof.running import torch_recorder
from tensorboard_plugin_dlprof.running.child import run_child
from tensorboard_plugin_dlprof.running.command_line import find_python, with_recorder
from tensorboard_plugin_dlprof.running.nsight import NsightOptions, export, profile_command, reports_in


class Recorder(msgspec.Struct, frozen=True):
    """The recorder and its options."""

    nsys: Path | None
    """Nsight Systems; ``None``: the PyTorch profiler."""
    nsight: NsightOptions = msgspec.field(default_factory=NsightOptions)
    torch_arguments: tuple[str, ...] = ()
    """Options of ``torch_recorder``."""


class Recorded(msgspec.Struct, frozen=True):
    """The result of a run."""

    code: int
    """The exit code of the command."""
    terminated: bool
    sources: list[Path]
    """Files to import, in the order of the ranks."""
    errors: list[ProfileError]
    """Why other files are missing."""


class Destination(msgspec.Struct, frozen=True):
    """Folder and names of the recordings."""

    folder: Path
    base: str = "nsys_profile"
    """Name of the files of Nsight Systems."""
    replace: bool = False
    """Whether existing files are replaced; otherwise ``_1``, ``_2`` and so on is appended to the name."""


def record(command: Sequence[str], recorder: Recorder, destination: Destination) -> Recorded:
    """Run ``command`` to its end, and record it.

    Raises:
        BadRequest: The command cannot be run or recorded.
        OutputNotWritable: The folder cannot be created or written to.
    """
    if recorder.nsys is None:
        find_python(command)  # Before anything is made.
    make_folder(destination.folder)
    try:
        with tempfile.TemporaryDirectory(prefix=".dlprof-", dir=destination.folder) as temporary:
            return _record(command, recorder, destination, Path(temporary).resolve())
    except OSError as error:
        raise OutputNotWritable(
            f"{destination.folder}: recordings cannot be written there: {reason_of(error)}; choose another folder."
        ) from None


def _record(command: Sequence[str], recorder: Recorder, destination: Destination, work: Path) -> Recorded:
    if recorder.nsys is None:
        options = ["--output-dir", str(work), *recorder.torch_arguments, "--"]
        ended = run_child(with_recorder(command, [str(Path(torch_recorder.__file__).resolve()), *options]))
        traces = sorted(work.glob("[!.]*.json.gz"), key=_rank)
        return Recorded(ended.code, ended.terminated, [_placed(trace, destination) for trace in traces], [])
    ended = run_child(profile_command(recorder.nsys, work / destination.base, recorder.nsight, command))
    exports: list[Path] = []
    errors: list[ProfileError] = []
    for report in sorted(reports_in(work), key=_rank):
        export_path = work / f"{report.stem}.sqlite"
        # An export takes minutes, for which there is no time after a signal to end; the report is kept.
        if not ended.terminated:
            try:
                export(recorder.nsys, report, export_path)
                exports.append(_placed(export_path, destination))
            except BrokenSource as error:
                errors.append(error)
        _placed(report, destination)
    return Recorded(ended.code, ended.terminated, exports, errors)


def _rank(path: Path) -> tuple[int, str]:
    rank = re.search(r"\.rank(\d+)\.", path.name)
    return (int(rank[1]) if rank else -1, path.name)


def _placed(made: Path, destination: Destination) -> Path:
    """Move a file to its name in the folder, or to the first free numbered name."""
    stem, _, suffixes = made.name.partition(".")
    number = 0
    while True:
        path = destination.folder / f"{stem}{f'_{number}' if number else ''}.{suffixes}"
        if destination.replace or not os.path.lexists(path):
            made.replace(path)
            return path
        number += 1
