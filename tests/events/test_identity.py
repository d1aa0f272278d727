"""Which calls are calls of one op."""

from __future__ import annotations

from tests.events.building import build, calls, op

STEP = """
main iteration {0}-{9} ProfilerStep#{n}
main op {1}-{2} aten::linear ; shapes=[[8,4],[2,4]] ; dtypes=["float","float"]
main op {3}-{4} aten::linear ; shapes=[[8,2],[5,2]] ; dtypes=["float","float"]
main op {5}-{6} aten::relu
"""


def steps(numbers: range) -> str:
    """A network of two linear layers and a relu, run once a step."""
    return "".join(STEP.format(*range(n * 100, n * 100 + 100, 10), n=n) for n in numbers)


def test_occurrence_in_the_iteration_tells_calls_apart() -> None:
    """The second ``linear`` of each iteration is one op, called once an iteration."""
    profile = build(steps(range(3)))
    assert calls(profile) == {"LINEAR_1": 3, "LINEAR_2": 3, "RELU_1": 3}
    assert profile.instances.start_ns.tolist() == [10, 110, 210, 30, 130, 230, 50, 150, 250]


def test_ops_are_numbered_by_first_start_within_their_type() -> None:
    """Not by name, thread or row."""
    profile = build(
        "b op 50-60 aten::mm\nb op 20-30 aten::relu\na op 40-45 aten::mm\na annotation 0-9 x\na op 5-8 aten::mm"
    )
    starts = {item.op_id: profile.instances.start_ns[row] for row, item in enumerate(profile.ops)}
    assert starts == {"MM_1": 5, "MM_2": 40, "MM_3": 50, "RELU_1": 20}
    assert op(profile, "MM_1").name == "/x/mm"


def test_differing_occurrences_are_joined_by_shapes() -> None:
    """An extra call in one iteration: calls of a key are told apart by their shapes, other keys as before."""
    profile = build(steps(range(3)) + 'main op 292-293 aten::linear ; shapes=[[8,2],[5,2]] ; dtypes=["float","float"]')
    profile_300 = build(
        steps(range(3)) + 'main op 282-283 aten::linear ; shapes=[[8,2],[5,2]] ; dtypes=["float","float"]'
    )
    # At 292 no iteration runs (the last ends at 290); at 282 the third does.
    assert calls(profile) == {"LINEAR_1": 4, "LINEAR_2": 3, "RELU_1": 3}
    assert calls(profile_300) == {"LINEAR_1": 3, "LINEAR_2": 4, "RELU_1": 3}


def test_iterations_without_a_call_do_not_differ() -> None:
    """An evaluation every second step is one op with fewer calls."""
    profile = build(
        steps(range(4))
        + "main op 70-75 aten::argmax\nmain op 76-80 aten::argmax\n"
        + "main op 270-275 aten::argmax\nmain op 276-280 aten::argmax"
    )
    assert calls(profile) == {"LINEAR_1": 4, "LINEAR_2": 4, "RELU_1": 4, "ARGMAX_1": 2, "ARGMAX_2": 2}


def test_calls_outside_the_iterations_are_calls_of_the_same_ops() -> None:
    """Warm-up before the first step runs the network in the same order."""
    warm_up = STEP.replace("iteration", "span").format(*range(0, 100, 10), n=0)
    profile = build(warm_up + steps(range(1, 4)))
    assert calls(profile) == {"LINEAR_1": 4, "LINEAR_2": 4, "RELU_1": 4}


def test_a_loop_is_one_op() -> None:
    """More than a thousand calls in one iteration are no layers."""
    profile = build("\n".join(f"main op {i * 10}-{i * 10 + 5} aten::add" for i in range(1001)))
    assert calls(profile) == {"ADD_1": 1001}


def test_ranks_run_the_same_ops() -> None:
    """Occurrences are counted for each process."""
    profile = build(
        "r0/main op 0-5 aten::mm\nr1/main op 1-6 aten::mm\nr0/main op 10-15 aten::mm\nr1/main op 11-16 aten::mm"
    )
    assert calls(profile) == {"MM_1": 2, "MM_2": 2}
    assert profile.instances.process_id.tolist() == [100, 101, 100, 101]
