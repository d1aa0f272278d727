"""The bar of a report that tells how the kernel time is spent, and the legend that is read with it."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import kernel_time, performance
from tensorboard_plugin_dlprof.units import narrow_percentage, short_duration
from tests.reports.writing import page_of


def section_of(page: str) -> str:
    """How the kernel time is spent."""
    return page.partition('<h2 id="how-kernel-time-is-spent">')[2].partition("</section>")[0]


def legend_of(page: str) -> dict[str, str]:
    """Name and amount of each part."""
    return dict(re.findall(r"<li><svg.*?</svg>(.*?) <b>(.*?)</b></li>", section_of(page)))


@pytest.fixture(params=["resnet50-amp", "resnet50-fp32", "transformer-bf16-rank0"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """That of a sample."""
    source = next(samples.DATA.rglob(f"generated-{request.param}.pt.trace.json.gz"))
    result = tmp_path / "sample.dlprof_dldb.sqlite"
    import_source(source, result, ImportOptions(), lambda _what, _fraction: None)
    return result


def test_the_parts_are_all_kernel_time_each_once(database: Path) -> None:
    """Of an iteration; what is on Tensor Cores is what the kernels say that use them."""
    with closing(open_database(database)) as connection:
        times = kernel_time(connection, find_scope(connection))
        count = performance(connection, find_scope(connection))["profiled_iterations"] or 1
    page = page_of(database)
    whole = (times["total"]["time_ns"] or 0) - (times["memory"]["time_ns"] or 0)
    assert f"<p>All {short_duration(whole / count)} of an iteration, each part once.</p>" in section_of(page)
    on_cores = times["tensor_core"]["time_ns"] or 0
    told = legend_of(page).get("On Tensor Cores")
    said = f"{short_duration(on_cores / count)}, {narrow_percentage(on_cores / whole)}"
    assert told == (said if on_cores else None)
    widths = [float(width) for width in re.findall(r'<svg x="[\d.]+%" width="([\d.]+)%"', section_of(page))]
    assert sum(widths) == pytest.approx(100, abs=0.01)
    assert len(widths) == len(legend_of(page))


def test_a_profile_without_kernels_has_no_such_bar(tmp_path: Path) -> None:
    """There is nothing to divide."""
    source = next(samples.DATA.rglob("recorded-resnet-block-cpu.pt.trace.json.gz"))
    result = tmp_path / "cpu.dlprof_dldb.sqlite"
    import_source(source, result, ImportOptions(), lambda _what, _fraction: None)
    assert section_of(page_of(result)) == ""
