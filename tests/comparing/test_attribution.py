"""Rows add up to the change exactly."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.comparing.as_json import as_json
from tensorboard_plugin_dlprof.comparing.attribution import largest_remainder
from tensorboard_plugin_dlprof.comparing.comparison import Comparison, compare
from tensorboard_plugin_dlprof.comparing.recording import Recording
from tensorboard_plugin_dlprof.comparing.writing import html, markdown, text
from tests.comparing.ops import op, recording

PATHS = st.sampled_from(["/m/a", "/m/b", "/m/layer1/c", "/m/layer2/c", "/n/d", "/n/x/e", "free"])
OPS = st.lists(st.builds(op, PATHS, st.integers(0, 10**9), st.integers(0, 9)), max_size=12)
LENGTHS = st.lists(st.integers(10**10, 10**11), max_size=7)


def check(result: Comparison) -> None:
    """All promises about sums."""
    data = as_json(result)
    for key, total in (("a_ns", result.a_ns), ("b_ns", result.b_ns), ("change_ns", result.change_ns)):
        assert sum(row[key] for row in data["rows"]) == total
    assert data["b"]["value_ns"] - data["a"]["value_ns"] == data["change_ns"]
    for row in result.rows:
        assert row.work_ns is None or row.work_ns + (row.speed_ns or 0) == row.change_ns
    if result.parts:
        assert sum(b - a for _, a, b in result.parts) == result.change_ns


@given(st.lists(st.integers(-(10**15), 10**15), max_size=20), st.fractions(Fraction(1, 9), 999))
def test_rounded_numbers_add_up_to_their_rounded_sum(numbers: list[int], divisor: Fraction) -> None:
    """Each is off by less than one."""
    rounded = largest_remainder(numbers, divisor)
    assert 2 * abs(sum(rounded) - sum(numbers) / divisor) <= 1
    assert all(abs(one - number / divisor) < 1 for one, number in zip(rounded, numbers, strict=True))


@given(OPS, OPS, LENGTHS, LENGTHS)
def test_any_pair_adds_up_and_swaps_to_its_negative(
    a: list[object], b: list[object], of_a: list[int], of_b: list[int]
) -> None:
    """With marked iterations and without."""
    left, right = recording(a, iterations=of_a), recording(b, iterations=of_b)  # type: ignore[arg-type]
    result, swapped = compare([left], [right]), compare([right], [left])
    check(result)
    assert swapped.change_ns == -result.change_ns
    assert sorted(row.change_ns for row in swapped.rows) == sorted(-row.change_ns for row in result.rows)


def test_more_calls_are_work_and_longer_calls_are_speed() -> None:
    """From 4 calls of 100 ns to 6 of 150 ns: 200 ns more work at the old speed, 300 ns from slower calls."""
    a, b = op("/m/a", 400, 4), op("/m/a", 900, 6)
    comparison = compare([recording([a], iterations=[10**6])], [recording([b], iterations=[10**6])])
    (row,) = (row for row in comparison.rows if row.kind == "op")
    assert (row.change_ns, row.work_ns, row.speed_ns) == (500, 200, 300)


def test_a_program_recorded_for_longer_is_compared_per_call() -> None:
    """4 passes and 10: the totals differ by 150 %, the calls not at all."""
    a = recording([op("/m/a", 4_000, 4), op("/m/b", 800, 8)])
    b = recording([op("/m/a", 10_000, 10), op("/m/b", 2_000, 20)])
    comparison = compare([a], [b])
    assert (comparison.per, comparison.a_ns, comparison.change_ns) == ("call", 1_200, 0)
    assert "B has 2.5 times as many calls of everything; compared per call." in comparison.comparability
    check(comparison)


def test_gone_rows_stand_after_the_row_that_preceded_them() -> None:
    """In the order of the program."""
    a, b = [op("/m/a"), op("/m/gone"), op("/m/z")], [op("/m/a"), op("/n/new"), op("/m/z")]
    comparison = compare([recording(a)], [recording(b)])
    assert [row.name for row in comparison.rows] == ["/m/a", "/m/gone", "/n/new", "/m/z"]


def test_several_recordings_are_means() -> None:
    """Two of A against one of B."""
    a = [recording([op("/m/a", 100)]), recording([op("/m/a", 201), op("/m/b", 10)])]
    comparison = compare(a, [recording([op("/m/a", 100)])])
    assert (comparison.a_ns, comparison.b_ns) == (156, 100)
    check(comparison)


def test_what_holds_memory_adds_up_to_the_peaks() -> None:
    """Of several recordings, the one that holds most counts; what a side does not tell is said, and never 0."""

    def of_memory(**held: int) -> Recording:
        reserved = sum(held.values()) + 5
        return recording([], memory_peak_bytes=sum(held.values()), memory_reserved_bytes=reserved, memory_at_peak=held)

    a, b = [of_memory(gradient=9), of_memory(gradient=6, activation=20)], [of_memory(activation=12, parameter=8)]
    comparison = compare(a, b)
    data = as_json(comparison)
    assert [(row["category"], row["change_bytes"]) for row in data["memory"]] == [
        ("activation", -8),
        ("parameter", 8),
        ("gradient", -6),
    ]
    assert sum(row["a_bytes"] for row in data["memory"]) == data["measures"]["memory_peak"]["a"] == 26
    assert sum(row["b_bytes"] for row in data["memory"]) == data["measures"]["memory_peak"]["b"] == 20
    assert (data["measures"]["memory_reserved"]["a"], data["measures"]["memory_reserved"]["b"]) == (31, 25)
    assert data["headline"] == (
        "Cannot tell: neither recording holds GPU work. "
        "B needs 20 bytes of memory at its peak instead of 26 bytes (-23.1 %)."
    )
    assert data["comparability"] == ["Neither recording holds GPU work, so times tell nothing."]
    for write in (text, markdown, html):
        written = write([(comparison, [])], 5)
        assert "activation" in written
        assert ("Overlap and boundaries" in written, "Peak memory" in written) == (False, False)
        assert "Who allocated what A and B held at the peak was not recorded." in written
    assert data["memory_by_op"] == []
    before_categories = recording([], memory_peak_bytes=9)
    for silent in (recording([]), before_categories):
        data = as_json(compare(a, [silent]))
        assert (data["memory"], data["memory_by_op"]) == ([], [])
        assert data["memory_not_recorded"] == "What B holds at the peak of memory was not recorded."
    assert as_json(compare([recording([])], [recording([])]))["memory_not_recorded"] is None


def test_memory_by_op_adds_up_to_the_peaks() -> None:
    """Ops are matched by path, then by path without numbers; those beyond 20 are one row."""

    def of_ops(held: dict[str, int]) -> Recording:
        total = sum(held.values())
        return recording([], memory_peak_bytes=total, memory_at_peak={"activation": total}, memory_by_op=held)

    small = {f"/small_{chr(97 + number)}": number + 1 for number in range(25)}
    a = of_ops({**small, "/m/linear": 500, "train.py(10): step": 90, "held before the recording": 300})
    b = of_ops({"/m/linear": 200, "train.py(12): step": 95, "/new": 40, "held before the recording": 300})
    comparison = compare([a], [b])
    data = as_json(comparison)
    rows = [(row["op"], row["a_bytes"], row["b_bytes"], row["change_bytes"]) for row in data["memory_by_op"]]
    assert rows[:2] == [("/m/linear", 500, 200, -300), ("/new", 0, 40, 40)]
    assert ("train.py(#): step", 90, 95, 5) in rows
    assert ("held before the recording", 300, 300, 0) in rows
    assert (len(rows), rows[-1]) == (21, ("others (9)", 45, 0, -45))
    assert sum(row[1] for row in rows) == data["measures"]["memory_peak"]["a"]
    assert sum(row[2] for row in rows) == data["measures"]["memory_peak"]["b"]
    for write in (text, markdown, html):
        assert "/m/linear" in write([(comparison, [])], 5)
