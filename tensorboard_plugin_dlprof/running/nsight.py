"""Builds command lines of ``nsys profile``, and exports reports with ``nsys export``."""

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
"""Suffixes of reports; ``.qdrep`` is that of Nsight Systems before 2021.4."""

EXPORT_SECONDS = 3_600.0
"""Limit for an export; ten million events took a quarter of an hour, so a longer one is taken to hang."""

DEFAULT_TRACE = ("--trace=cuda,nvtx,osrt", "--sample=none")

_EACH_RANK = f"""\
rank={"".join(f"${{{name}:-" for name in RANK_VARIABLES)}p$${"}" * len(RANK_VARIABLES)}
nsys=$1 base=$2
shift 2
exec "$nsys" profile --output="$base.rank$rank" "$@"
"""
"""Shell script that each rank runs: only its process knows its rank, and %q{...} of nsys fails if the variable is not
set. Without any such variable, the process id distinguishes the reports."""


class NsightOptions(msgspec.Struct, frozen=True):
    """Options of ``nsys profile`` that the user may choose."""

    delay_s: float = 0
    duration_s: float = 0
    """0: the whole run."""
    capture_range: bool = False
    """Whether to record only between cudaProfilerStart and cudaProfilerStop."""
    trace: tuple[str, ...] = DEFAULT_TRACE
    """Options that say what to record."""
    extra: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Options of ``nsys profile``; those in ``extra`` replace ours of the same name."""
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
    """The absolute path of the ``nsys`` on the PATH; None if there is none."""
    nsys = shutil.which("nsys")
    return None if nsys is None else Path(nsys).absolute()


def profile_command(nsys: Path, base: Path, options: NsightOptions, command: Sequence[str]) -> list[str]:
    """The command line that runs ``command`` and writes ``<base>.nsys-rep``, or ``<base>.rank<N>.nsys-rep`` per rank.

    ``base`` must be absolute, since ranks may run in other folders.
    """
    arguments = options.arguments()
    each = with_command_for_each_rank(command, ["sh", "-c", _EACH_RANK, "dlprof", str(nsys), str(base), *arguments])
    return each or [str(nsys), "profile", f"--output={base}", *arguments, *command]


def reports_in(folder: Path) -> list[Path]:
    """The reports in a folder, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix in REPORT_SUFFIXES)


def export(nsys: Path, report: Path, target: Path) -> None:
    """Write the SQLite export of a report to ``target``, replacing a file there.

    Raises:
        BrokenSource: nsys cannot be started, fails or takes too long.
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
