"""The importer of a file is found by its content; for a stranger, a sentence says what it looks like."""

from __future__ import annotations

import gzip
import io
import pickle
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import NotFound, UnknownFormat, UnsafeFile
from tensorboard_plugin_dlprof.importers import find_importer, importers
from tensorboard_plugin_dlprof.metadata import DATABASE_TABLES
from tests.importers.kineto.traces import op, trace
from tests.shared_data import shared_data

TRACE = trace(op())


def tar(name: str, content: bytes) -> bytes:
    """An archive of one file."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def checkpoint() -> bytes:
    """What ``torch.save`` writes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps({}))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (TRACE, "trace.json"),
        (gzip.compress(TRACE, mtime=0), "trace.json.gz"),
        (gzip.compress(TRACE, mtime=0), "misnamed.sqlite"),
        (TRACE, "misnamed.json.gz"),
        (b"\xef\xbb\xbf" + TRACE, "bom.json"),
        (b"\n  " + TRACE, "blank.json"),
        (b'[{"ph": "X", "cat": "cpu_op"}', "array.json"),
        (b'{"mine": "' + b"x" * 100_000 + b'", "traceEvents": []}', "late.json"),
        (gzip.compress(TRACE, mtime=0)[:-10], "cut.json.gz"),
        (b'{"traceEvents": nul', "broken.json"),
    ],
)
def test_a_trace_is_known_by_its_content(tmp_path: Path, content: bytes, name: str) -> None:
    """Also one that cannot be read: its importer knows best what is wrong with it."""
    path = tmp_path / name
    path.write_bytes(content)
    assert find_importer(path).name == "pytorch"


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"", "x.json", "is empty"),
        (b"  \n", "x.json", "is blank"),
        (b"hello, world", "x.json", "is text"),
        (b"a,b\n1,2\n", "x.csv", "is text"),
        (b'{"learning_rate": 0.1}', "config.json", "is JSON, but holds no trace events"),
        (b"[1, 2]", "list.json", "is JSON, but holds no trace events"),
        (b"\0\1\2\3", "x.bin", "is a binary file"),
        (b"\xc3\x28" * 50, "x.bin", "is a binary file"),
        (b"\xff\xfe{\0}\0", "x.json", "UTF-16"),
        (b"PK\x03\x04rest", "x.zip", "ZIP archive"),
        (b"<!DOCTYPE html>", "x.json", "HTML"),
        (tar("run.json", TRACE), "run.tar", "tar archive; unpack it"),
        (gzip.compress(tar("run.json", TRACE), mtime=0), "run.tar.gz", "tar archive; unpack it"),
        (pickle.dumps({"weights": []}), "model.pickle", "memory snapshots"),
        (b'{\n "schema": "1.1.1-chakra.0.0.4", "pid": 7, "start_ts": 3,\n "nodes": [', "et.json", "execution trace"),
        (b"version https://git-lfs.github.com/spec/v1", "x.json", "Git LFS"),
        (b"\x1f\x8bgarbage", "x.json.gz", "damaged"),
        (b"\x0a\x0b", "host.xplane.pb", "XPlane"),
        (b"\x7fREP\0", "report1.nsys-rep", "nsys export"),
        (b"NVIDIA Tegra Profiler Report 2023@4\0", "renamed.sqlite", "nsys export"),
        (b"NVR\0\1\2", "renamed.sqlite", "--counters"),
        (b"\1\2\3\0", "gemm.ncu-rep", "--counters"),
        (b'==PROF== Connected\n"ID","Process ID","Kernel Name"\n', "gemm.csv", "--counters"),
        (b'"ID","Process ID","Kernel Name"\n"0","1","k"\n', "gemm.csv", "--counters"),
        (b'{"TraceProcessEvent":{"startNs":"1"}}\n{"CudaEvent":{}}\n', "report.json", "nsys export --type sqlite"),
        (b"[[1795298936749247, 1795298936749333], [[0, 1]]]", "memory.json", "memory timeline"),
        (b'{"rocprofiler-sdk-tool":[{"metadata":{"node":{"id":0', "7_results.json", "rocprofv3"),
        (b'{"$schema":"https://www.speedscope.app/file-format-schema.json"', "profile.json", "speedscope"),
        (checkpoint(), "model.pt", "torch.save"),
        (b"train.py(12): step;aten::addmm 1234\ntrain.py(12): step 7\n", "stacks.txt", "export_chrome_trace"),
        (b"-----  -----\n   Name    Self CPU %\n", "table.txt", "export_chrome_trace"),
        (b"\x18\0\0\0\0\0\0\0", "events.out.tfevents.1.host", "event file of TensorBoard"),
    ],
)
def test_a_stranger_is_described(tmp_path: Path, content: bytes, name: str, sentence: str) -> None:
    """The sentence says what the file looks like and which formats were tried."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnknownFormat, match=sentence) as caught:
        find_importer(path)
    assert str(caught.value).startswith(str(path))
    assert "PyTorch profiler trace" in str(caught.value)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (["rocpd_api", "rocpd_string"], "ROCm"),
        (["db_version", *DATABASE_TABLES], "open it directly"),
        ([*(f"a{number}" for number in range(200)), *DATABASE_TABLES], "open it directly"),
        (["db_version", "read_only_kernels"], "a DLProf database without the table aggregations; it is incomplete"),
        (["CUPTI_ACTIVITY_KIND_KERNEL", "TARGET_INFO_GPU"], "without its texts .StringIds.; export all tables"),
        (["CUPTI_ACTIVITY_KIND_KERNEL", "StringTable"], "a profile of nvprof"),
        (["notes"], "another SQLite database .it has the table notes."),
        ([], "an SQLite database without tables"),
    ],
)
def test_a_strange_database_is_described(tmp_path: Path, tables: list[str], sentence: str) -> None:
    """By the tables it has."""
    path = tmp_path / "strange.sqlite"
    connection = sqlite3.connect(path)
    for table in tables:
        connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    with pytest.raises(UnknownFormat, match=sentence):
        find_importer(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content[:-100], "truncated"),
        (lambda content: content[:50] + b"\xff" * 60 + content[110:], "damaged|truncated"),
        (gzip.compress, "compressed SQLite database; expand it first"),
    ],
)
def test_a_database_that_cannot_be_opened_says_why(
    tmp_path: Path, change: Callable[[bytes], bytes], sentence: str
) -> None:
    """Not that it is without tables."""
    path = tmp_path / "strange.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER)")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UnknownFormat, match=sentence):
        find_importer(path)


def test_what_cannot_be_opened_is_no_unknown_format(tmp_path: Path) -> None:
    """The opener's own sentence passes through."""
    with pytest.raises(NotFound):
        find_importer(tmp_path / "absent")
    with pytest.raises(UnsafeFile):
        find_importer(tmp_path)


def test_every_real_file_finds_its_importer() -> None:
    """Real exports and traces are known; other tools' files are not."""
    folder = shared_data()
    known = (("torch/*/*", "pytorch"), ("nsight/*/*.sqlite", "nsight_systems"), ("xplane/*/*.xplane.pb", "xplane"))
    for pattern, name in known:
        paths = sorted(folder.glob(pattern))
        assert paths
        for path in paths:
            assert find_importer(path).name == name, path
    strangers = [*folder.glob("nsight/*/*.rpd"), *folder.glob("nsight/*/*.csv")]
    strangers += folder.glob("dlprof-golden/**/*dlprof_dldb*.sqlite")
    assert strangers
    for path in strangers:
        with pytest.raises(UnknownFormat):
            find_importer(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "host.trace.json.gz",
            b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"X"}]}',
        ),
        (
            "perfetto_trace.json.gz",
            b'{"displayTimeUnit": "ns", "traceEvents": [{"ph": "M", "pid": 701, "name": "process_name", '
            b'"args": {"name": "/host:CPU"}}, {"ph": "X", "pid": 701, "tid": 1, "ts": 1, "dur": 2, "name": "x"}]}',
        ),
    ],
)
def test_the_traces_that_jax_makes_of_an_xplane_are_no_sources(tmp_path: Path, name: str, content: bytes) -> None:
    """They would be a second and a third, poorer profile of the same recording."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(content))
    with pytest.raises(UnknownFormat, match="XPlane profile beside it"):
        find_importer(path)


def test_json_behind_a_line_break_is_no_sign_of_another_format() -> None:
    """Only the likely importer is loaded: that of XPlane takes a tenth of a second."""
    assert next(importers(b"\n{\n")).name == "pytorch"
    assert next(importers(b"\n\x07")).name == "xplane"
