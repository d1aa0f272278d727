"""Peak rates of devices as published by their makers: dense (without structured sparsity), at boost clock.

One row per product, in TFLOP/s (TOP/s of integers). ``vector`` is plain arithmetic; ``matrix`` is Tensor Cores or
matrix cores with FP32 accumulation, which is what PyTorch uses. GeForce cards accumulate FP16 and FP8 products in FP32
at half the rate that they have with FP16 accumulation, so that half is given here. Where a maker publishes rates of a
board or a rack, a row has the share of one GPU; where it publishes rates with sparsity, half of them. A product of two
chips that programs see as two devices (MI250, MI250X) has the rates of one. Products that are not listed, and numbers
that were never published, are unknown and not guessed. Power-limited laptop GPUs are listed only where a line card
gives them rates of their own.

``pattern`` is searched in the device's name, ignoring case; the first row that matches counts. ``memory_gb`` tells
products of the same name apart, where the capture has the size of the memory: from the first number to below the
second.

Every row names its maker's document. The rows of ``COMPARED`` (``tests/efficiency/test_peaks.py``) were compared with
it in November 2026, by way of public copies and quotations, in 16-bit rate and bandwidth at least. The others were
taken from such documents earlier and could not be checked again; a test compares their rates with the number of units
and the clock of their architecture. Makers' own documents differ in places: T4 has 320 GB/s in its brief and 300 in its
data sheet; H200 NVL 4.8 TB/s on its page and 4.2 in its data sheet; B200 7.7 TB/s in its data sheet and 8 on the page
of the DGX, while the driver reports a bus of 7,680 bits, which gives 7.7; B300 13.5 PFLOP/s of FP4 as an eighth of a
board, but 14 for one GPU.
"""

from __future__ import annotations

import msgspec

Rates = dict[str, float]


class Row(msgspec.Struct, frozen=True):
    """One product."""

    name: str
    pattern: str
    vector: Rates
    matrix: Rates
    bandwidth_gb_s: float
    source: str
    memory_gb: tuple[int, int] | None = None


_SXM = r"(?=.*(?:sxm|hbm3))"

_V100 = "https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf"
_V100S = "https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf"
_P100 = "https://images.nvidia.com/content/pdf/tesla/whitepaper/pascal-architecture-whitepaper.pdf"
_TURING = (
    "https://images.nvidia.com/aem-dam/en-zz/Solutions/design-visualization/technologies/turing-architecture/"
    "NVIDIA-Turing-Architecture-Whitepaper.pdf"
)
_TURING_SUPER = "https://www.nvidia.com/en-us/geforce/graphics-cards/rtx-2060-super/"
_T4 = "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-product-brief.pdf"
_A100 = "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf"
_A100_40 = "https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf"
_A10 = "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a10/pdf/a10-datasheet.pdf"
_A2 = "https://www.nvidia.com/content/dam/en-zz/solutions/data-center/a2/pdf/a2-datasheet.pdf"
_A30 = "https://www.nvidia.com/content/dam/en-zz/Solutions/data-center/products/a30-gpu/pdf/a30-datasheet.pdf"
_A40 = "https://images.nvidia.com/content/Solutions/data-center/a40/nvidia-a40-datasheet.pdf"
_RTX_A = "https://www.nvidia.com/en-us/design-visualization/desktop-graphics/"
_GA102 = "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf"
_ADA = "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf"
_L4 = "https://resources.nvidia.com/en-us-data-center-overview/l4-gpu-datasheet"
_L40 = "https://images.nvidia.com/content/Solutions/data-center/vgpu-L40-datasheet.pdf"
_L40S = "https://resources.nvidia.com/en-us-l40s/l40s-datasheet-28413"
_LAPTOP = "https://www.nvidia.com/en-us/products/workstations/mobile-workstations/"
_H100 = "https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet"
_H200 = "https://resources.nvidia.com/en-us-data-center-overview-mc/en-us-data-center-overview/hpc-datasheet-sc23-h200"
_GH200 = "https://resources.nvidia.com/en-us-grace-cpu/grace-hopper-superchip"
_BLACKWELL = "https://resources.nvidia.com/en-us-blackwell-architecture/blackwell-architecture-technical-brief"
_RTX50 = "https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf"
_RTX5060 = "https://www.nvidia.com/en-us/geforce/graphics-cards/50-series/rtx-5060-family/"
_ULTRA = "https://resources.nvidia.com/en-us-blackwell-architecture/blackwell-ultra-datasheet"
_HGX = "https://www.nvidia.com/en-us/data-center/hgx/"
_PRO_SERVER = "https://www.nvidia.com/en-us/data-center/rtx-pro-6000-blackwell-server-edition/"
_PRO = (
    "https://www.nvidia.com/content/dam/en-zz/Solutions/design-visualization/quadro-product-literature/"
    "NVIDIA-RTX-Blackwell-PRO-GPU-Architecture-v1.0.pdf"
)
_MI200 = (
    "https://www.amd.com/content/dam/amd/en/documents/instinct-business-docs/white-papers/amd-cdna2-white-paper.pdf"
)
_MI300 = "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/white-papers/amd-cdna-3-white-paper.pdf"
_MI325 = "https://www.amd.com/en/products/accelerators/instinct/mi300/mi325x.html"
_MI350 = "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/product-briefs/amd-instinct-mi350x-gpu-brochure.pdf"
_MI355 = "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/product-briefs/amd-instinct-mi355x-gpu-brochure.pdf"


def _vector(fp32: float, fp64: float | None = None, fp16: float | None = None, bf16: float | None = None) -> Rates:
    rates = {"fp32": fp32, "fp64": fp64, "fp16": fp16, "bf16": bf16}
    return {precision: rate for precision, rate in rates.items() if rate is not None}


def _half(fp16: float, **more: float) -> Rates:
    """Rates of matrix units with the same rate for FP16 and BF16."""
    return {"fp16": fp16, "bf16": fp16, **more}


def _geforce(name: str, pattern: str, fp32: float, matrix: Rates, bandwidth: float, source: str) -> Row:
    """A GeForce card, with one rate of plain arithmetic. FP64 is left out: its few units are for compatibility only."""
    return Row(name, pattern, _vector(fp32), matrix, bandwidth, source)


TABLE: tuple[Row, ...] = (
    # Pascal has no matrix units.
    Row("Quadro GP100", r"gp100", _vector(10.3, 5.2, 20.7), {}, 717, _P100),
    Row("P100 PCIe", r"p100-pcie", _vector(9.3, 4.7, 18.7), {}, 732, _P100),
    Row("P100 SXM2", r"p100-sxm", _vector(10.6, 5.3, 21.2), {}, 720, _A100_40),
    # Volta.
    Row("V100S PCIe", r"v100s", _vector(16.4, 8.2, 32.8), {"fp16": 130.0}, 1134, _V100S),
    Row("V100 PCIe", r"v100-(?:pcie|fhhl)", _vector(14.0, 7.0, 28.0), {"fp16": 112.0}, 900, _V100),
    Row("V100 SXM2", r"v100-(?:sxm2|dgxs)", _vector(15.7, 7.8, 31.4), {"fp16": 125.0}, 900, _V100),
    Row("TITAN V", r"titan v\b", _vector(14.9, 7.5, 29.8), {"fp16": 110.0}, 653,
        "https://www.nvidia.com/en-us/titan/titan-v/"),
    # Turing.
    Row("T4", r"\bt4\b", _vector(8.1, None, 16.2), {"fp16": 65.0, "int8": 130.0}, 320, _T4),
    Row("TITAN RTX", r"titan rtx", _vector(16.3, None, 32.6), {"fp16": 130.5, "int8": 261.0}, 672, _TURING),
    Row("Quadro RTX 6000/8000", r"quadro rtx [68]000$", _vector(16.3, None, 32.6), {"fp16": 130.5,
        "int8": 261.0}, 672, _TURING),
    Row("Quadro RTX 5000", r"quadro rtx 5000$", _vector(11.2, None, 22.3), {"fp16": 89.2,
        "int8": 178.4}, 448, _TURING),
    _geforce("RTX 2080 Ti", r"rtx 2080 ti", 13.4, {"fp16": 53.8, "int8": 215.2}, 616, _TURING),
    _geforce("RTX 2080 SUPER", r"rtx 2080 super(?! with)", 11.2, {"fp16": 44.6, "int8": 178.4}, 496, _TURING),
    _geforce("RTX 2080", r"rtx 2080$", 10.1, {"fp16": 40.3, "int8": 161.1}, 448, _TURING),
    _geforce("RTX 2070 SUPER", r"rtx 2070 super(?! with)", 9.1, {"fp16": 36.3, "int8": 145.0}, 448, _TURING),
    _geforce("RTX 2070", r"rtx 2070$", 7.5, {"fp16": 29.9, "int8": 119.4}, 448, _TURING),
    _geforce("RTX 2060 SUPER", r"rtx 2060 super(?! with)", 7.2, {"fp16": 28.7, "int8": 114.8}, 448, _TURING_SUPER),
    _geforce("RTX 2060", r"rtx 2060$", 6.5, {"fp16": 25.8, "int8": 103.2}, 336, _TURING),
    # Ampere.
    Row("A100 PCIe 80GB", r"a100.*(?:80gb pcie|pcie-80gb)|a800.*pcie", _vector(19.5, 9.7, 78.0, 39.0),
        _half(312.0, fp64=19.5, tf32=156.0, int8=624.0), 1935, _A100),
    Row("A100 SXM4 80GB", r"a100.*sxm4-80gb|a800.*sxm4", _vector(19.5, 9.7, 78.0, 39.0),
        _half(312.0, fp64=19.5, tf32=156.0, int8=624.0), 2039, _A100),
    Row("A100 40GB", r"a100-(?:sxm4-40gb|pcie-40gb|pg509|sxm-40gb)", _vector(19.5, 9.7, 78.0, 39.0),
        _half(312.0, fp64=19.5, tf32=156.0, int8=624.0), 1555, _A100_40, (38, 45)),
    Row("A100 80GB", r"a100-(?:sxm|pg509)", _vector(19.5, 9.7, 78.0, 39.0),
        _half(312.0, fp64=19.5, tf32=156.0, int8=624.0), 2039, _A100, (75, 90)),
    Row("A30", r"\ba30\b", _vector(10.3, 5.2), _half(165.0, fp64=10.3, tf32=82.0, int8=330.0), 933, _A30),
    Row("A40", r"\ba40\b", _vector(37.4), _half(149.7, tf32=74.8, int8=299.3), 696, _A40),
    Row("A10", r"\ba10\b", _vector(31.2), _half(125.0, tf32=62.5, int8=250.0), 600, _A10),
    Row("A2", r"nvidia a2$", _vector(4.5), _half(18.0, tf32=9.0, int8=36.0), 200, _A2),
    Row("RTX A6000", r"rtx a6000", _vector(38.7), _half(154.8, tf32=77.4, int8=309.7), 768, _RTX_A),
    Row("RTX A5000", r"rtx a5000$", _vector(27.8), _half(111.1, tf32=55.6, int8=222.2), 768, _RTX_A),
    Row("RTX A4000", r"rtx a4000$", _vector(19.2), _half(76.7, tf32=38.3, int8=153.4), 448, _RTX_A),
    _geforce("RTX 3090 Ti", r"rtx 3090 ti", 40.0, _half(80.0, tf32=40.0, int8=320.0), 1008, _GA102),
    _geforce("RTX 3090", r"rtx 3090$", 35.6, _half(71.0, tf32=35.6, int8=284.0), 936, _GA102),
    _geforce("RTX 3080 Ti", r"rtx 3080 ti$", 34.1, _half(68.2, tf32=34.1, int8=273.0), 912, _GA102),
    Row("RTX 3080 12GB", r"rtx 3080$", _vector(30.6), _half(61.3, tf32=30.6, int8=245.1), 912, _GA102, (11, 14)),
    Row("RTX 3080", r"rtx 3080$", _vector(29.8), _half(59.5, tf32=29.8, int8=238.0), 760, _GA102, (9, 11)),
    _geforce("RTX 3070 Ti", r"rtx 3070 ti$", 21.7, _half(43.5, tf32=21.7, int8=174.0), 608, _GA102),
    _geforce("RTX 3070", r"rtx 3070$", 20.3, _half(40.6, tf32=20.3, int8=163.0), 448, _GA102),
    _geforce("RTX 3060 Ti", r"rtx 3060 ti$", 16.2, _half(32.4, tf32=16.2, int8=129.6), 448, _GA102),
    Row("RTX 3060", r"rtx 3060$", _vector(12.7), _half(25.5, tf32=12.7, int8=102.0), 360, _GA102, (11, 14)),
    # Ada.
    Row("L40S", r"\bl40s\b", _vector(91.6), _half(362.05, tf32=183.0, fp8=733.0, int8=733.0), 864, _L40S),
    Row("L40", r"\bl40\b", _vector(90.5), _half(181.05, tf32=90.5, fp8=362.0, int8=362.0), 864, _L40),
    Row("L4", r"\bl4\b", _vector(30.3), _half(121.0, tf32=60.0, fp8=242.5, int8=242.5), 300, _L4),
    Row("RTX 5000 Ada Laptop", r"rtx 5000 ada generation laptop", _vector(42.6),
        _half(170.4, tf32=85.2, fp8=340.9, int8=340.9), 576, _LAPTOP),
    Row("RTX 4000 Ada Laptop", r"rtx 4000 ada generation laptop", _vector(33.6),
        _half(134.5, tf32=67.2, fp8=269.0, int8=269.0), 432, _LAPTOP),
    Row("RTX 3500 Ada Laptop", r"rtx 3500 ada generation laptop", _vector(23.0),
        _half(92.1, tf32=46.0, fp8=184.3, int8=184.3), 432, _LAPTOP),
    Row("RTX 6000 Ada", r"rtx 6000 ada", _vector(91.1), _half(364.2, tf32=182.1, fp8=728.5, int8=728.5), 960, _RTX_A),
    Row("RTX 5000 Ada", r"rtx 5000 ada", _vector(65.3), _half(261.1, tf32=130.6, fp8=522.2, int8=522.2), 576, _RTX_A),
    Row("RTX 4500 Ada", r"rtx 4500 ada", _vector(39.6), _half(158.5, tf32=79.3, fp8=317.0, int8=317.0), 432, _RTX_A),
    Row("RTX 4000 Ada", r"rtx 4000 ada generation$", _vector(26.7),
        _half(106.9, tf32=53.4, fp8=213.8, int8=213.8), 360, _RTX_A),
    _geforce("RTX 4090", r"rtx 4090$", 82.6, _half(165.2, tf32=82.6, fp8=330.3, int8=660.6), 1008, _ADA),
    _geforce("RTX 4080 SUPER", r"rtx 4080 super$", 52.2, _half(104.4, tf32=52.2, fp8=208.9, int8=417.7), 736, _ADA),
    _geforce("RTX 4080", r"rtx 4080$", 48.7, _half(97.5, tf32=48.7, fp8=194.9, int8=389.9), 716.8, _ADA),
    _geforce("RTX 4070 Ti SUPER", r"rtx 4070 ti super$", 44.1,
        _half(88.2, tf32=44.1, fp8=176.4, int8=352.8), 672, _ADA),
    _geforce("RTX 4070 Ti", r"rtx 4070 ti$", 40.1, _half(80.2, tf32=40.1, fp8=160.4, int8=320.7), 504, _ADA),
    _geforce("RTX 4070 SUPER", r"rtx 4070 super$", 35.5, _half(71.0, tf32=35.5, fp8=141.9, int8=283.9), 504, _ADA),
    _geforce("RTX 4070", r"rtx 4070$", 29.1, _half(58.3, tf32=29.1, fp8=116.6, int8=233.2), 504, _ADA),
    _geforce("RTX 4060 Ti", r"rtx 4060 ti$", 22.1, _half(44.1, tf32=22.1, fp8=88.3, int8=176.5), 288, _ADA),
    _geforce("RTX 4060", r"rtx 4060$", 15.1, _half(30.2, tf32=15.1, fp8=60.5, int8=121.0), 272, _ADA),
    # Hopper.
    Row("GH200 144GB", r"gh200", _vector(67.0, 34.0, 133.8, 133.8),
        _half(989.4, fp64=67.0, tf32=494.7, fp8=1978.9, int8=1978.9), 4900, _GH200, (120, 160)),
    Row("GH200", r"gh200", _vector(67.0, 34.0, 133.8, 133.8),
        _half(989.4, fp64=67.0, tf32=494.7, fp8=1978.9, int8=1978.9), 4000, _GH200, (80, 120)),
    Row("H200 NVL", r"h200 nvl", _vector(60.0, 30.0),
        _half(835.5, fp64=60.0, tf32=417.5, fp8=1670.5, int8=1670.5), 4800, _H200),
    Row("H200 SXM", r"\bh200\b", _vector(67.0, 34.0, 133.8, 133.8),
        _half(989.4, fp64=67.0, tf32=494.7, fp8=1978.9, int8=1978.9), 4800, _H200),
    Row("H100 NVL", r"h100 nvl", _vector(60.0, 30.0),
        _half(835.5, fp64=60.0, tf32=417.5, fp8=1670.5, int8=1670.5), 3938, _H100),
    Row("H100 PCIe", r"h100 pcie", _vector(51.2, 25.6),
        _half(756.0, fp64=51.2, tf32=378.0, fp8=1513.0, int8=1513.0), 2039, _H100),
    Row("H100 SXM", r"h100" + _SXM, _vector(67.0, 34.0, 133.8, 133.8),
        _half(989.4, fp64=67.0, tf32=494.7, fp8=1978.9, int8=1978.9), 3352, _H100),
    Row("H100 SXM", r"h100 80gb hbm3", _vector(67.0, 34.0, 133.8, 133.8),
        _half(989.4, fp64=67.0, tf32=494.7, fp8=1978.9, int8=1978.9), 3352, _H100),
    # Blackwell.
    Row("GB200", r"\bgb200\b", _vector(80.0, 40.0),
        _half(2500.0, fp64=40.0, tf32=1250.0, fp8=5000.0, int8=5000.0, fp4=10000.0), 8000, _BLACKWELL),
    Row("B200", r"\bb200\b", _vector(75.0, 37.0),
        _half(2250.0, fp64=37.0, tf32=1100.0, fp8=4500.0, int8=4500.0, fp4=9000.0), 7700, _BLACKWELL),
    Row("B100", r"\bb100\b", _vector(60.0, 30.0),
        _half(1750.0, fp64=30.0, tf32=875.0, fp8=3500.0, int8=3500.0, fp4=7000.0), 8000, _BLACKWELL),
    Row("GB300", r"\bgb300\b", _vector(80.0, 1.3),
        _half(2500.0, tf32=1250.0, fp8=5000.0, fp4=15000.0), 8000, _ULTRA),
    Row("B300", r"\bb300\b", _vector(75.0, 1.25),
        _half(2250.0, tf32=1125.0, fp8=4500.0, fp4=13500.0), 7700, _HGX),
    Row("RTX PRO 6000 Blackwell", r"rtx pro 6000 blackwell workstation", _vector(126.0),
        _half(503.8, tf32=251.9, fp8=1007.6, fp4=2015.2), 1792, _PRO),
    Row("RTX PRO 6000 Blackwell Server", r"rtx pro 6000 blackwell server", _vector(120.0),
        _half(480.0, tf32=240.0, fp8=960.0, fp4=1920.0), 1597, _PRO_SERVER),
    _geforce("RTX 5090", r"rtx 5090$", 104.8,
        _half(209.5, tf32=104.8, fp8=419.0, int8=838.0, fp4=1676.0), 1792, _RTX50),
    _geforce("RTX 5080", r"rtx 5080$", 56.3, _half(112.6, tf32=56.3, fp8=225.1, int8=450.2, fp4=900.4), 960, _RTX50),
    _geforce("RTX 5070 Ti", r"rtx 5070 ti$", 43.9,
        _half(87.9, tf32=43.9, fp8=175.8, int8=351.5, fp4=703.0), 896, _RTX50),
    _geforce("RTX 5070", r"rtx 5070$", 30.9, _half(61.7, tf32=30.9, fp8=123.5, int8=246.9, fp4=493.9), 672, _RTX50),
    _geforce("RTX 5060 Ti", r"rtx 5060 ti$", 23.7,
        _half(47.4, tf32=23.7, fp8=94.9, int8=189.8, fp4=379.5), 448, _RTX5060),
    _geforce("RTX 5060", r"rtx 5060$", 19.2, _half(38.4, tf32=19.2, fp8=76.8, int8=153.5, fp4=307.0), 448, _RTX5060),
    # AMD CDNA. A program sees each of the two chips of MI250 and MI250X as a device.
    Row("MI210", r"mi210", _vector(22.6, 22.6), _half(181.0, fp64=45.3, fp32=45.3, int8=181.0), 1638.4, _MI200),
    Row("MI250X (one of two chips)", r"mi250x", _vector(23.95, 23.95),
        _half(191.5, fp64=47.85, fp32=47.85, int8=191.5), 1638.4, _MI200),
    Row("MI250 (one of two chips)", r"mi250", _vector(22.65, 22.65),
        _half(181.05, fp64=45.25, fp32=45.25, int8=181.05), 1638.4, _MI200),
    Row("MI300A", r"mi300a|gfx942, 228 cus", _vector(122.6, 61.3),
        _half(980.6, fp64=122.6, fp32=122.6, tf32=490.3, fp8=1961.2, int8=1961.2), 5325, _MI300),
    Row("MI300X", r"mi300x", _vector(163.4, 81.7),
        _half(1307.4, fp64=163.4, fp32=163.4, tf32=653.7, fp8=2614.9, int8=2614.9), 5325, _MI300),
    Row("MI325X", r"mi325x", _vector(163.4, 81.7),
        _half(1307.4, fp64=163.4, fp32=163.4, tf32=653.7, fp8=2614.9, int8=2614.9), 6000, _MI325),
    Row("MI300X", r"gfx942, 304 cus", _vector(163.4, 81.7),
        _half(1307.4, fp64=163.4, fp32=163.4, tf32=653.7, fp8=2614.9, int8=2614.9), 5325, _MI300, (0, 210)),
    Row("MI325X", r"gfx942, 304 cus", _vector(163.4, 81.7),
        _half(1307.4, fp64=163.4, fp32=163.4, tf32=653.7, fp8=2614.9, int8=2614.9), 6000, _MI325, (210, 300)),
    Row("MI350X", r"mi350x?\b", _vector(144.2, 72.1),
        _half(2307.0, fp64=72.1, fp32=144.2, fp8=4614.0, int8=4614.0, fp4=9228.0), 8000, _MI350),
    Row("MI355X", r"mi355x?\b", _vector(157.3, 78.6),
        _half(2516.6, fp64=78.6, fp32=157.3, fp8=5033.2, int8=5033.2, fp4=10066.3), 8000, _MI355),
)  # fmt: skip
