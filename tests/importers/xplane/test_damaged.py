"""Damaged and hostile XPlane profiles are read or refused with one sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from scripts.samples.xplane_file import (
    Module,
    Plane,
    message,
    shape,
    space,
    text,
)
from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.xplane import XPlaneImporter
from tests.fuzz.mutations import damage
from tests.importers.xplane.generated import capture_of, gpu, two_gpus


@pytest.mark.parametrize(
    ("start_ns", "sentence"),
    [(1 << 55, "damaged at byte"), (-(1 << 60), "damaged at byte")],
)
def test_times_that_no_session_has_are_damage(tmp_path: Path, start_ns: int, sentence: str) -> None:
    """They could not be counted in picoseconds."""
    device = gpu()
    device.event(device.line(1, "Stream #1", start_ns), "k", start_ns, 5)
    with pytest.raises(BrokenSource, match=sentence):
        capture_of(tmp_path, device)


def test_damaged_copies_are_read_or_refused(tmp_path: Path) -> None:
    """One sentence with the place of the damage, never another failure; what was read can be worked with."""
    original, path = space(two_gpus()), tmp_path / "damaged.xplane.pb"
    refused = 0
    for seed in range(150):
        path.write_bytes(original)
        damage(path, "xplane", seed)
        try:
            build_profile(XPlaneImporter().read(path, ReadOptions(), lambda what, fraction: None))
        except BrokenSource:
            refused += 1
    assert 50 < refused < 150


def test_a_cut_file_says_where_it_ends(tmp_path: Path) -> None:
    """Not that its first part is damaged, which is as long as the file was."""
    device = gpu()
    device.event(device.line(7, "Stream #7(Kernel)"), "k", 0, 10)
    content = space([device, Plane("/host:CPU")])
    path = tmp_path / "cut.xplane.pb"
    for size in range(40, len(content), 7):
        path.write_bytes(content[:size])
        with pytest.raises(BrokenSource, match=f"cut short: it ends at byte {size},"):
            XPlaneImporter().read(path, ReadOptions(), lambda what, fraction: None)


def test_thousands_of_nothing_are_refused_early(tmp_path: Path) -> None:
    """An empty plane or line takes two bytes in the file, and fifty times as many here."""
    path, many = tmp_path / "many.xplane.pb", 70_000
    for content in (message(1) * many, message(1, message(3) * many)):
        path.write_bytes(content)
        with pytest.raises(BrokenSource, match="damaged at byte"):
            XPlaneImporter().read(path, ReadOptions(), lambda what, fraction: None)


def test_paths_without_end_are_cut_and_operands_without_end_refused(tmp_path: Path) -> None:
    """Each scope becomes a group with its whole path: 30,000 of them would take a gigabyte."""
    device, deep, wrapped = gpu(), "a/" * 30_000, "jvp(" * 15_000
    stream = device.line(1, "Stream #1")
    for place, described in enumerate((deep, wrapped, f"jit(f)/{wrapped}/{deep}")):
        device.event(stream, "k", 100 * place, 50, op_name=described, hlo_op=f"op.{place}", hlo_module="jit_f")
    device.event(stream, "k", 900, 50, tf_op=f"{deep}:Add")
    profile = build_profile(capture_of(tmp_path, device))
    assert max(len(op.name) for op in profile.ops) < 5_000
    module = Module("jit_f", 7)
    module.instruction("x", "dot", shape("f32", (1,)), more=message(36, b"\x01" * (2 << 20)))
    metadata = Plane("/host:metadata")
    metadata.share("jit_f(7)", **{"Hlo Proto": module.encoded()})
    device.event(stream, "k", 990, 5, hlo_op="x", hlo_module="jit_f", program_id=7)
    with pytest.raises(BrokenSource, match="damaged at byte"):
        capture_of(tmp_path, device, metadata)


def test_gzip_bombs_are_refused(tmp_path: Path) -> None:
    """What a file expands to is bounded."""
    path = tmp_path / "bomb.xplane.pb.gz"
    path.write_bytes(gzip.compress(space([gpu()]) + message(1, text(2, "/host:CPU"), bytes(30 << 20)), 1))
    with pytest.raises(ProfileError, match="expand"):
        XPlaneImporter().read(path, ReadOptions(max_expanded_bytes=1 << 20), lambda what, fraction: None)
