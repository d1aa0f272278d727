"""The CSV of Nsight Compute is read, whatever page and country it is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.counters.ncu_csv import Report, read_counters
from tensorboard_plugin_dlprof.counters.numbers import DecimalSign, number_of
from tensorboard_plugin_dlprof.errors import BrokenSource, NotFound, UnknownFormat
from tests.counters.reports import Launch, details_page, raw_page

TENSOR = "sm__inst_executed_pipe_tensor.sum"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
UNITS = {"dram__bytes.sum": "Mbyte", "gpu__time_duration.sum": "usecond", TENSOR: "inst", WARPS: "%"}
GEMM = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(T1::Params)"


def _read(tmp_path: Path, text: str) -> Report:
    path = tmp_path / "report.csv"
    path.write_text(text, encoding="utf-8")
    return read_counters(path)


@pytest.mark.parametrize("written", [raw_page, details_page])
def test_both_pages_say_the_same(tmp_path: Path, written: object) -> None:
    """Name, launch and metrics; bytes are scaled by their unit; metrics that nobody asked for are left out."""
    values = {"dram__bytes.sum": "12.50", "gpu__time_duration.sum": "3.2", TENSOR: "1,048,576", WARPS: "43.75"}
    write = raw_page if written is raw_page else details_page
    (launch,) = _read(tmp_path, write([Launch(GEMM, values, "(8, 2, 1)", "(128, 1, 1)", "9.0")], UNITS)).launches
    assert (launch.name, launch.grid, launch.block, launch.capability_major) == (GEMM, (8, 2, 1), (128, 1, 1), 9)
    assert launch.values == {"dram__bytes.sum": 12_500_000, TENSOR: 1_048_576, WARPS: 43.75}


def test_launches_come_in_order_and_missing_values_are_unknown(tmp_path: Path) -> None:
    """``n/a`` is no zero."""
    report = _read(tmp_path, raw_page([Launch("a()", {TENSOR: "n/a"}), Launch("b()", {TENSOR: "0"})], UNITS))
    assert [(launch.name, launch.values) for launch in report.launches] == [("a()", {}), ("b()", {TENSOR: 0})]


def test_numbers_that_no_counter_has_are_unknown(tmp_path: Path) -> None:
    """Infinite ones, and lengths of a grid that no machine has."""
    (launch,) = _read(tmp_path, raw_page([Launch("a()", {TENSOR: "1e999", WARPS: "5e300"})], UNITS)).launches
    assert launch.values == {}


def test_numbers_of_another_country(tmp_path: Path) -> None:
    """One number that cannot be read in two ways decides for the file: comma for decimals, point for groups."""
    values = {"dram__bytes.sum": "27.595", "gpu__time_duration.sum": "117,3", TENSOR: "1.024", WARPS: "65,775"}
    (launch,) = _read(tmp_path, raw_page([Launch(GEMM, values)], UNITS | {"dram__bytes.sum": "byte"})).launches
    assert launch.values == {"dram__bytes.sum": 27_595, TENSOR: 1_024, WARPS: 65.775}


@pytest.mark.parametrize(
    ("texts", "sign"),
    [
        (["1,234"], "."),
        (["65,77"], ","),
        (["0,117"], ","),
        (["27.595.520"], ","),
        (["27,595,520"], "."),
        (["1.234,5"], ","),
        (["1,234.5", "12,34"], "."),
        (["1'234.5", "n/a", "", "(8, 1, 1)"], "."),
        (["1\u202f234,5"], ","),
        (["1234,567"], ","),
    ],
)
def test_decimal_sign(texts: list[str], sign: str) -> None:
    """Groups have three digits, and there is one sign for decimals."""
    result = DecimalSign()
    for text in texts:
        result.see(text)
    assert result.sign == sign


@pytest.mark.parametrize(
    ("text", "sign", "value"),
    [("1,234.5", ".", 1234.5), ("1.234,5", ",", 1234.5), ("-3e2", ".", -300), ("", ".", None), ("nan", ".", None),
     ("(!) 5", ".", None), ("1\u00a0000", ".", 1000)],
)  # fmt: skip
def test_number(text: str, sign: str, value: float | None) -> None:
    """Grouped, signed, with an exponent, or none."""
    assert number_of(text, sign) == value


def test_older_versions_write_the_launch_as_metrics(tmp_path: Path) -> None:
    """Without columns for grid and block, the metrics of the launch serve."""
    header = "ID,Process ID,Kernel Name,launch__grid_dim_x,launch__grid_dim_y,launch__grid_dim_z,"
    header += "launch__block_dim_x,launch__block_dim_y,launch__block_dim_z,sm__pipe_tensor_cycles_active.sum"
    (launch,) = _read(tmp_path, f"{header}\n,,,,,,,,,cycle\n0,1,k,4,2,1,64,1,1,7\n").launches
    assert (launch.grid, launch.block) == ((4, 2, 1), (64, 1, 1))
    assert launch.values["sm__pipe_tensor_cycles_active.sum"] == 7


def test_cut_off_lines_are_counted(tmp_path: Path) -> None:
    """The tool's own lines are none."""
    text = raw_page([Launch("a()", {TENSOR: "1"})], UNITS) + '"1","1234","pyth\n==PROF== Done\n'
    report = _read(tmp_path, text)
    assert (len(report.launches), report.skipped_rows) == (1, 1)


@pytest.mark.parametrize(
    "text", ["", "Name,Time\na,1\n", "PK\x03\x04\x00\x00binary", '{"traceEvents": []}', "==ERROR== ERR_NVGPUCTRPERM\n"]
)
def test_wrong_file_is_refused_with_a_way_out(tmp_path: Path, text: str) -> None:
    """A summary of Nsight Systems, a binary report, a trace, the tool's own error."""
    with pytest.raises(UnknownFormat, match=r"is not a CSV of Nsight Compute.*ncu --csv --page raw"):
        _read(tmp_path, text)


def test_empty_and_missing_files(tmp_path: Path) -> None:
    """A header without launches, a folder, and no file at all."""
    with pytest.raises(BrokenSource, match="holds no kernel launch"):
        _read(tmp_path, raw_page([], UNITS))
    with pytest.raises(NotFound, match="there is no such file of counters"):
        read_counters(tmp_path / "none.csv")
    with pytest.raises(NotFound, match="is a folder; name the file of counters in it"):
        read_counters(tmp_path)


def test_a_line_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    """Its end is never looked for."""
    path = tmp_path / "report.csv"
    with path.open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(UnknownFormat, match="is not a CSV of Nsight Compute"):
        read_counters(path)
