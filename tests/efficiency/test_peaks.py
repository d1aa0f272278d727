"""Devices are found by name; each rate has a source; what is not published is unknown."""

from __future__ import annotations

import re

import pytest

from tensorboard_plugin_dlprof.efficiency.peak_table import TABLE
from tensorboard_plugin_dlprof.efficiency.peaks import find_peaks

GB = 1 << 30


@pytest.mark.parametrize(
    ("name", "memory", "product", "precision", "teraflops"),
    [
        ("Tesla V100-SXM2-16GB", 0, "V100 SXM2", "fp16", 125.0),
        ("Tesla V100-DGXS-32GB", 32 * GB, "V100 SXM2", "fp16", 125.0),
        ("Tesla V100-PCIE-32GB", 0, "V100 PCIe", "fp16", 112.0),
        ("Tesla T4", 15 * GB, "T4", "fp16", 65.0),
        ("NVIDIA A100-SXM4-40GB", 0, "A100 40GB", "tf32", 156.0),
        ("NVIDIA A100-SXM4-80GB", 79 * GB, "A100 SXM4 80GB", "bf16", 312.0),
        ("NVIDIA A100 80GB PCIe", 79 * GB, "A100 PCIe 80GB", "bf16", 312.0),
        ("NVIDIA A100-PG509-200", 42_505_273_344, "A100 40GB", "bf16", 312.0),
        ("NVIDIA A10", 0, "A10", "bf16", 125.0),
        ("NVIDIA L4", 0, "L4", "fp8", 242.5),
        ("NVIDIA L40S", 0, "L40S", "bf16", 362.05),
        ("NVIDIA H100 80GB HBM3", 79 * GB, "H100 SXM", "bf16", 989.4),
        ("NVIDIA H100 PCIe", 79 * GB, "H100 PCIe", "bf16", 756.0),
        ("NVIDIA H100 NVL", 94 * GB, "H100 NVL", "bf16", 835.5),
        ("NVIDIA H200", 139 * GB, "H200 SXM", "fp8", 1978.9),
        ("NVIDIA GH200 480GB", 95 * GB, "GH200", "bf16", 989.4),
        ("NVIDIA B200", 178 * GB, "B200", "fp4", 9000.0),
        ("NVIDIA GB200", 184 * GB, "GB200", "fp4", 10000.0),
        ("NVIDIA B300 SXM6 AC", 268 * GB, "B300", "bf16", 2250.0),
        ("NVIDIA GB300", 277 * GB, "GB300", "fp4", 15000.0),
        ("NVIDIA GeForce RTX 2060 SUPER", 8 * GB, "RTX 2060 SUPER", "fp16", 28.7),
        ("NVIDIA GeForce RTX 2080 Ti", 11 * GB, "RTX 2080 Ti", "fp16", 53.8),
        ("NVIDIA GeForce RTX 5060 Ti", 16 * GB, "RTX 5060 Ti", "fp16", 47.4),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 95 * GB, "RTX PRO 6000 Blackwell Server", "fp4", 1920.0),
        ("NVIDIA GeForce RTX 3090", 24 * GB, "RTX 3090", "bf16", 71.0),
        ("NVIDIA GeForce RTX 4090", 24 * GB, "RTX 4090", "bf16", 165.2),
        ("NVIDIA GeForce RTX 5090", 32 * GB, "RTX 5090", "fp8", 419.0),
        ("NVIDIA RTX 5000 Ada Generation Laptop GPU", 0, "RTX 5000 Ada Laptop", "bf16", 170.4),
        ("AMD Instinct MI210", 64 * GB, "MI210", "bf16", 181.0),
        ("AMD Instinct MI250X", 64 * GB, "MI250X (one of two chips)", "bf16", 191.5),
        ("AMD Instinct MI300X", 192 * GB, "MI300X", "bf16", 1307.4),
        ("AMD Instinct MI355X", 288 * GB, "MI355X", "fp8", 5033.2),
    ],
)
def test_a_device_is_found_by_its_name(name: str, memory: int, product: str, precision: str, teraflops: float) -> None:
    """As drivers spell it, with the rate of its maker."""
    peaks = find_peaks(name, memory)
    assert peaks is not None
    assert peaks.product == product
    assert peaks.flops_per_second(precision, True) == teraflops * 1e12


@pytest.mark.parametrize(
    ("name", "memory", "gigabytes"),
    [
        ("Tesla V100-SXM2-32GB", 0, 900), ("Tesla T4", 0, 320), ("NVIDIA A100-SXM4-40GB", 0, 1555),
        ("NVIDIA A100-SXM4-80GB", 0, 2039), ("NVIDIA A100 80GB PCIe", 0, 1935), ("NVIDIA H100 80GB HBM3", 0, 3352),
        ("NVIDIA H100 PCIe", 0, 2039), ("NVIDIA H100 NVL", 0, 3938), ("NVIDIA H200", 0, 4800),
        ("NVIDIA GH200 480GB", 95 * GB, 4000), ("NVIDIA GH200 144G HBM3e", 141 * GB, 4900), ("NVIDIA B200", 0, 7700),
        ("NVIDIA GB200", 0, 8000), ("NVIDIA B300 SXM6 AC", 0, 7700),
        ("NVIDIA L40S", 0, 864), ("NVIDIA GeForce RTX 3090", 0, 936), ("NVIDIA GeForce RTX 4090", 0, 1008),
        ("NVIDIA GeForce RTX 5090", 0, 1792), ("AMD Instinct MI250X", 0, 1638.4), ("AMD Instinct MI300X", 0, 5325),
        ("AMD Instinct MI325X", 0, 6000), ("AMD Instinct MI350X", 0, 8000),
    ],
)  # fmt: skip
def test_memory_has_the_rate_of_its_product(name: str, memory: int, gigabytes: float) -> None:
    """Products of one name differ in it: A100 of 40 and 80 GB, H100 as a board, a card and a pair of cards."""
    peaks = find_peaks(name, memory)
    assert peaks is not None
    assert peaks.bytes_per_second == pytest.approx(gigabytes * 1e9)


def test_geforce_accumulates_in_fp32_at_half_the_rate() -> None:
    """Twice plain FP32, a quarter of INT8; the same chip in a card for workstations or servers does twice as much."""
    geforce = [row for row in TABLE if re.fullmatch(r"RTX [345]0\d\d( Ti| SUPER| 12GB)*", row.name)]
    assert len(geforce) > 20
    for row in geforce:
        assert row.matrix["fp16"] == pytest.approx(2 * row.vector["fp32"], rel=0.02), row.name
        assert row.matrix["tf32"] == pytest.approx(row.vector["fp32"], rel=0.02), row.name
        assert row.matrix["int8"] == pytest.approx(4 * row.matrix["fp16"], rel=0.02), row.name
    card, server = find_peaks("NVIDIA GeForce RTX 4090"), find_peaks("NVIDIA L40S")
    assert card is not None
    assert server is not None
    assert server.matrix_flops["fp16"] / server.vector_flops["fp32"] == pytest.approx(
        2 * card.matrix_flops["fp16"] / card.vector_flops["fp32"], rel=0.02
    )


@pytest.mark.parametrize(
    "name",
    ["", "NVIDIA A10G", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 3070 Ti Laptop GPU",
     "Quadro RTX 5000 with Max-Q Design", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA H100", "NVIDIA Z9000", "Orin"],
)  # fmt: skip
def test_what_is_not_published_is_unknown(name: str) -> None:
    """Slices, laptops without a rate of their own, names that several products share."""
    assert find_peaks(name) is None


def test_every_row_has_a_source_and_plausible_rates() -> None:
    """A typing error of a factor of ten would show."""
    for row in TABLE:
        assert row.source.startswith("https://"), row.name
        assert re.compile(row.pattern)
        assert 190 < row.bandwidth_gb_s <= 8_000, row.name
        assert 4 < row.vector["fp32"] < 170, row.name
        if row.matrix:
            half = row.matrix["fp16"]
            assert half >= 1.9 * row.vector["fp32"], row.name
            assert row.matrix.get("bf16", half) == half, row.name
            for precision, factor in (("tf32", 0.5), ("fp8", 2.0), ("fp4", 8.0)):
                if precision in row.matrix:
                    assert row.matrix[precision] <= factor * half * 1.03, (row.name, precision)


UNITS = {
    "V100 SXM2": (80, 1.530, 1024), "V100 PCIe": (80, 1.380, 1024), "T4": (40, 1.590, 1024),
    "A100 40GB": (108, 1.410, 2048), "A30": (56, 1.440, 2048), "A10": (72, 1.695, 1024), "A40": (84, 1.740, 1024),
    "A2": (10, 1.770, 1024), "RTX A6000": (84, 1.800, 1024), "RTX A5000": (64, 1.695, 1024),
    "RTX A4000": (48, 1.560, 1024), "RTX 3090 Ti": (84, 1.860, 512), "RTX 3080": (68, 1.710, 512),
    "RTX 3070": (46, 1.725, 512), "RTX 4090": (128, 2.520, 512), "RTX 4080": (76, 2.505, 512),
    "RTX 4070": (46, 2.475, 512), "RTX 6000 Ada": (142, 2.505, 1024), "L4": (58, 2.040, 1024),
    "H100 SXM": (132, 1.830, 4096), "H100 PCIe": (114, 1.620, 4096), "RTX 5090": (170, 2.407, 512),
    "RTX 5080": (84, 2.617, 512), "MI210": (104, 1.700, 1024), "MI250X (one of two chips)": (110, 1.700, 1024),
    "MI300X": (304, 2.100, 2048), "MI325X": (304, 2.100, 2048), "MI350X": (256, 2.200, 4096),
    "MI355X": (256, 2.400, 4096),
}  # fmt: skip
"""Multiprocessors (compute units), boost clock in GHz, and operations of 16 bits per clock of each."""


@pytest.mark.parametrize("product", UNITS)
def test_a_rate_is_that_of_its_units_at_their_clock(product: str) -> None:
    """What makers publish is the product of the three, whichever document one reads."""
    multiprocessors, gigahertz, operations = UNITS[product]
    rows = [row for row in TABLE if row.name == product]
    assert rows
    for row in rows:
        assert row.matrix["fp16"] == pytest.approx(multiprocessors * gigahertz * operations / 1000, rel=0.02)


COMPARED: frozenset[str] = frozenset(
    {
        "P100 SXM2", "V100 SXM2", "TITAN RTX", "Quadro RTX 6000/8000", "RTX 2080 Ti", "T4",
        "A100 PCIe 80GB", "A100 SXM4 80GB", "A100 40GB", "A100 80GB", "A10", "RTX A6000", "RTX 3090",
        "L40S", "L4", "RTX 6000 Ada", "RTX 4090",
        "H200 NVL", "H200 SXM", "H100 NVL", "H100 PCIe", "H100 SXM",
        "GB200", "B200", "GB300", "B300", "RTX PRO 6000 Blackwell", "RTX 5090",
        "MI210", "MI250 (one of two chips)", "MI300A", "MI300X", "MI350X", "MI355X",
    }
)  # fmt: skip
"""Names of the rows that were compared with what their makers publish."""


def test_what_was_compared_is_in_the_table() -> None:
    """And what was not is named by its absence; every row has a document either way."""
    assert {row.name for row in TABLE} >= COMPARED


def test_a_name_is_matched_by_the_row_of_its_product_alone() -> None:
    """No earlier row takes the name that a later one stands for."""
    for row in TABLE:
        if row.memory_gb is None and row.name.startswith("RTX") and "Ada" not in row.name and "A6000" not in row.name:
            result = find_peaks(f"NVIDIA GeForce {row.name}")
            assert result is None or result.product == row.name
