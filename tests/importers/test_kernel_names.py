"""Short names of kernels follow Nsight Systems."""

from __future__ import annotations

import sqlite3

import pytest

from tensorboard_plugin_dlprof.importers.kernel_names import short_kernel_name
from tests.shared_data import shared_data


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN", "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN"),
        ("loop_convert_fusion.kd", "loop_convert_fusion.kd"),
        ("vecAdd(double *, double *, double *, int)", "vecAdd"),
        (
            "void at::native::vectorized_elementwise_kernel<4, F<float>, A<char*, 1> >(int)",
            "vectorized_elementwise_kernel",
        ),
        ("void at::native::(anonymous namespace)::softmax<float>(float*)", "softmax"),
        ("void <unnamed>::store<(int)4>(T1 *)", "store"),
        ("std::enable_if<(4 > 2), void>::type ns::kernel<int>(int)", "kernel"),
        ("void k<a::operator()(int) const::{lambda(int)#1}>(int)", "k"),
        ("void k<&f<(bool)0>, a->b>(x)", "k"),
        ("void k<int>(float) [clone .kd]", "k"),
        ("void at::native::cut_in_the_middle<4, at::nat", "cut_in_the_middle"),
        ("void plain", "plain"),
        ("", ""),
        ("(", "("),
    ],
)
def test_a_short_name_is_the_functions_own_name(name: str, short: str) -> None:
    """Return type, namespaces, template arguments and parameters go."""
    assert short_kernel_name(name) == short


def test_every_kernel_of_the_nsight_exports_gets_nsights_short_name() -> None:
    """Nsight stores both names of each kernel; ours from the long one equals its short one."""
    query = """SELECT DISTINCT d.value, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
        JOIN StringIds AS s ON s.id = k.shortName JOIN StringIds AS d ON d.id = k.demangledName"""
    pairs: dict[str, str] = {}
    for path in sorted((shared_data() / "nsight").glob("*/*.sqlite")):
        connection = sqlite3.connect(path.as_uri() + "?mode=ro&immutable=1", uri=True)
        try:
            pairs.update(connection.execute(query))
        except sqlite3.OperationalError:
            continue  # the export of a program without GPU work has no such table
        finally:
            connection.close()
    assert len(pairs) > 100
    assert {name: short_kernel_name(name) for name in pairs} == pairs
