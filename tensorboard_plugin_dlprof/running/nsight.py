"""Nsight Systems: the command lines of ``nsys profile`` and ``nsys export``."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import BrokenSource, reason_of
from tensorboard_plugin_dlprof.running.command_line import with_command_for_each_rank
from tensorboard_plugin_dlprof.running.torch_recorder import RANK_VARIABLES

REPORT_SUFFIXES = (".nsys-rep", ".qdrep")
"""Of reports; before Nsight Systems 2021.4 the latter."""

EXPORT_SECONDS = 3_600.0
"""Exports took a quarter of an hour for ten million events; one that takes longer than this hangs."""

DEFAULT_TRACE = ("--trace=cuda,nvtx,osrt", "--sample=none")

_EACH_RANK = f"""\
rank={"".join(f"${{{name}:-" for name in RANK_VARIABLES)}p$${"}" * len(RANK_VARIABLES)}
nsys=$1 base=$2
shift 2
exec "$nsys" profile --output="$base.rank$rank" "$@"
"""
"""Only the process of a rank knows its number, and %q{...} of nsys fails where the variable is not set. Without any
the number of the process tells them apart."""


class NsightOptions(msgspec.Struct, frozen=True):
    """What the user may choose of ``nsys profile``."""

    delay_s: float = 0
    duration_s: float = 0
    """0: the whole run."""
    capture_range: bool = False
    """Whether only what lies between cudaProfilerStart and cudaProfilerStop is recorded."""
    trace: tuple[str, ...] = DEFAULT_TRACE
    """What is recorded."""
    extra: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Options of ``nsys profile``. What the user gives himself replaces ours of the same name."""
        given = {_option_name(word) for word in self.extra}
        own = [*self.trace]
        if self.delay_s:
            own.append(f"--delay={self.delay_s:g}")
        if self.duration_s:
            own.append(f"--duration={self.duration_s:g}")
        if self.capture_range:
            own += ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"]
        return [*(word for word in own if _option_name(word) not in given), *self.extra]


_LONG_NAMES = {"-t": "--trace", "-s": "--sample", "-y": "--delay", "-d": "--duration", "-c": "--capture-range"}


def _option_name(word: str) -> str:
    return _LONG_NAMES.get(word[:2], word.partition("=")[0])


def find_nsys() -> Path | None:
    """The ``nsys`` on the PATH."""
    found = shutil.which("nsys")
    return None if found is None else Path(found).absolute()


def profile_command(nsys: Path, base: Path, options: NsightOptions, command: Sequence[str]) -> list[str]:
    """The command line that runs ``command`` and leaves ``<base>.nsys-rep``, or ``<base>.rank<N>.nsys-rep`` for each.

    ``base`` must be absolute, since ranks may run in other folders.
    """
    arguments = options.arguments()
    each = with_command_for_each_rank(command, ["sh", "-c", _EACH_RANK, "dlprof", str(nsys), str(base), *arguments])
    return each or [str(nsys), "profile", f"--output={base}", *arguments, *command]


def reports_in(folder: Path) -> list[Path]:
    """The reports that runs left in a folder, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix in REPORT_SUFFIXES)


def export(nsys: Path, report: Path, target: Path) -> None:
    """Writes the SQLite export of a report.

    Raises:
        BrokenSource: nsys fails.
    """
    command = [str(nsys), "export", "--type=sqlite", "--force-overwrite=true", f"--output={target}", str(report)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=EXPORT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise BrokenSource(f"{report.name}: nsys export did not end within {EXPORT_SECONDS:.0f} s.") from None
    except OSError as error:
        raise BrokenSource(f"{report.name}: nsys export cannot be started: {reason_of(error)}.") from None
    if done.returncode or not target.is_file():
        said = (done.stderr or done.stdout).decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "it says nothing")
        raise BrokenSource(f"{report.name}: nsys export failed with code {done.returncode}: {last[:300]}")
