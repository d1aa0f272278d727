"""Profiles that come with the package, so that there is something to see before the first own profile.

All but one are **generated**: made by ``samples.generate`` with durations from a roofline estimate, because the project
had no GPU to record on; their files say so in their names, and ``answers.json`` holds what every view must show for
them. The other was recorded on a CPU by ``samples.record_cpu``.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from tensorboard_plugin_dlprof.errors import OutputExists, OutputNotWritable

DATA = Path(__file__).resolve().parent / "data"
"""The built files: ``<run>/<profile>``, the Nsight Systems export compressed."""

_SUFFIXES = (".json.gz", ".sqlite.gz")


def install(folder: Path) -> list[Path]:
    """Lays the sample profiles out as runs below a log directory.

    Args:
        folder: The log directory; made if it is absent. Runs become folders in it (``resnet50/fp32``).

    Returns:
        The profiles, in the order of their names. A file that is there already with the same content is left as it is.

    Raises:
        OutputExists: a file of that name with another content is there.
        OutputNotWritable: the folder cannot be written.
    """
    installed = []
    for source in sorted(path for path in DATA.rglob("*") if path.name.endswith(_SUFFIXES)):
        target = folder / source.relative_to(DATA)
        if source.name.endswith(".sqlite.gz"):
            target = target.with_suffix("")
        _install_one(source, target, unpack=target.suffix == ".sqlite")
        installed.append(target)
    return installed


def _install_one(source: Path, target: Path, *, unpack: bool) -> None:
    content = source.read_bytes()
    if unpack:
        content = gzip.decompress(content)
    try:
        if target.exists():
            if target.read_bytes() == content:
                return
            raise OutputExists(f"{target} exists and is not the sample of that name; choose another folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}.unfinished")
        unfinished.write_bytes(content)
        shutil.move(unfinished, target)
    except OSError as error:
        raise OutputNotWritable(f"Cannot write {target}: {error.strerror}.") from error
