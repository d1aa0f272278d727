"""Systems that lack what only Unix has, or only Linux: the package is there too, with what they allow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE_S

WITHOUT_UNIX = """
import errno, fcntl, importlib, mmap, os, pkgutil, re, signal, sys

PACKAGE = "tensorboard_plugin_dlprof"

def import_all():
    failed = {}
    importlib.import_module(PACKAGE)
    def names(package):
        for found in pkgutil.iter_modules(sys.modules[package].__path__, f"{package}."):
            if found.name.endswith(".__main__"):
                continue
            try:
                importlib.import_module(found.name)
            except Exception as error:
                failed[found.name] = f"{type(error).__name__}: {error}"
            else:
                if found.ispkg:
                    names(found.name)
    names(PACKAGE)
    return failed

# Other packages, and Python's own, have what they took from the system as they were imported.
before = import_all()
import multiprocessing.connection, tensorboard.backend.application
for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
    del sys.modules[name]

for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline", "curses"):
    sys.modules[name] = None
OF_WINDOWS = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN"}
for name in [name for name in dir(signal) if re.match("SIG[A-Z_]", name)]:
    if name not in OF_WINDOWS:
        delattr(signal, name)
for name in dir(mmap):
    if re.match("MAP_|PROT_|MADV_", name):
        delattr(mmap, name)
# Availability: Unix, Linux or not Windows, in the documentation of Python.
for name in [*'''
    fork forkpty register_at_fork wait waitpid wait3 wait4 waitid killpg nice getpriority setpriority openpty
    getuid geteuid getgid getegid getgroups setuid setgid setsid getsid getpgid getpgrp setpgid setpgrp tcgetpgrp
    tcsetpgrp chown fchown lchown fchmod lockf mkfifo mknod pipe2 posix_fallocate posix_fadvise pread preadv pwrite
    pwritev sendfile readv writev set_blocking get_blocking statvfs fstatvfs sysconf confstr pathconf uname ctermid
    getloadavg sched_getaffinity sched_setaffinity sched_yield memfd_create eventfd copy_file_range splice chroot
    fchdir fdatasync sync getxattr listxattr setxattr ttyname initgroups major minor makedev posix_spawn
    O_CLOEXEC O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_SYNC O_DSYNC O_NOCTTY O_PATH O_TMPFILE
'''.split()]:
    if hasattr(os, name):
        delattr(os, name)
flush = os.fsync
def fsync(descriptor):  # Windows flushes only what is open for writing
    if not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    flush(descriptor)
os.fsync = fsync
sys.platform = "win32"
after = import_all()
for name in after:
    if name not in before:
        print(name, after[name])
"""

USED = """
from pathlib import Path
from tensorboard_plugin_dlprof.cli.main import main

folder = Path(sys.argv[1])
codes = {main(["demo", "--no-serve", "--logdir", str(folder)])}
databases = list(folder.rglob("*.dlprof_dldb.sqlite"))
codes.update(main(["summary", str(database)]) for database in databases)
codes.add(main(["check", *map(str, databases)]))
sys.stdout.flush()
print(len(databases), codes)
"""


def ran(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a Python does with ``code``."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_every_module_can_be_imported_without_unix() -> None:
    """A name that a system lacks is asked for where it is used, not where a module begins."""
    done = ran(WITHOUT_UNIX)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_profiles_are_imported_and_read_without_unix(tmp_path: Path) -> None:
    """In one process: how Python starts others differs too much to be played here."""
    done = ran(WITHOUT_UNIX + USED, str(tmp_path / "logs"))
    assert done.stdout.splitlines()[-1:] == ["15 {0}"], done.stderr
