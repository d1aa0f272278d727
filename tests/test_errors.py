"""What messages say of failures that the system, or a library, tells."""

import errno
import gzip
import os
import re
import socket
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of

PACKAGE = Path(__file__).parents[1] / "tensorboard_plugin_dlprof"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        pytest.param(OSError(errno.EIO, "bad disk", "/secret/path"), "bad disk", id="text of the system"),
        pytest.param(OSError(errno.EIO, None), os.strerror(errno.EIO), id="number only"),
        pytest.param(socket.gaierror(-2, "Name or service not known"), "Name or service not known", id="own numbers"),
        pytest.param(OSError(), "no reason is given", id="nothing"),
        pytest.param(gzip.BadGzipFile("CRC of /secret/path"), "no reason is given", id="text of a library"),
    ],
)
def test_the_reason_is_what_the_system_says(error: OSError, reason: str) -> None:
    """Number 0 is the system's "Success", which is no reason; a library's text may hold a path that is nobody's."""
    assert reason_of(error) == reason


def test_a_failure_without_a_reason_is_no_success(tmp_path: Path) -> None:
    """An exception that a library made up has no number."""

    with (
        pytest.raises(OutputNotWritable, match=r"a.sqlite cannot be written \(no reason is given\)"),
        published(tmp_path / "a.sqlite", 0),
    ):
        raise OSError("made up")


def test_one_function_tells_reasons() -> None:
    """Elsewhere neither a missing number becomes 0, nor a missing text ``None``."""
    described = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"error\.strerror|errno or 0", path.read_text())
    }
    assert described == {"errors.py"}
