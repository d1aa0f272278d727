"""Ways to cut a capture into iterations, and their order."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.iterations import find_iterations
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate
from tests.timeline import draw


def candidates(text: str, end: int = 1000) -> list[IterationCandidate]:
    """The candidates of a drawn capture."""
    return find_iterations(draw(text), 0, end)


def intervals(candidate: IterationCandidate) -> list[tuple[int, int, int]]:
    """Value, start and stop of each iteration."""
    return list(zip(candidate.values.tolist(), candidate.start_ns.tolist(), candidate.stop_ns.tolist(), strict=True))


def first(text: str, end: int = 1000) -> tuple[str, str, list[tuple[int, int, int]]]:
    """Source, label and intervals of the preselected candidate."""
    best = candidates(text, end)[0]
    return best.source, best.label, intervals(best)


def test_nothing_tells_of_iterations() -> None:
    """The whole capture is iteration 0, from 0 to the end; of an empty capture too."""
    assert first("main op 100-200 aten::mm", end=700) == ("whole_capture", "Whole recording", [(0, 0, 700)])
    assert first("", end=0) == ("whole_capture", "Whole recording", [(0, 0, 0)])


def test_whole_capture_is_from_the_first_to_the_last_gpu_work() -> None:
    """What the host does before and behind is no matter of the GPU; DLProf counts from the session's start."""
    late = """
        main  op     5000-5100 aten::mm
        main  call   5010-5020 cudaLaunchKernel ; corr=1
        gpu0  kernel 5030-5060 gemm ; corr=1
    """
    (whole,) = build_profile(draw(late, end=6000)).iterations
    assert intervals(whole) == [(0, 5030, 5060)]
    marked = (
        late
        + """
        main  marker 5200-5300 {'mod': 'Tensor', 'op': 'relu', 'args': []}
    """
    )
    assert intervals(build_profile(draw(marked, end=6000)).iterations[0])[0][1] == 0


def test_profiler_steps_keep_their_numbers() -> None:
    """In order of time, each cut where the next begins; the gap between two belongs to none."""
    text = """
        main iteration 100-205 ProfilerStep#7
        main iteration 200-300 ProfilerStep#8
        main iteration 400-500 ProfilerStep#9
        """
    assert first(text) == ("profiler_step", "ProfilerStep#N", [(7, 100, 200), (8, 200, 300), (9, 400, 500)])


def test_steps_of_several_ranks_are_one_iteration() -> None:
    """From the first rank that begins to the last that ends."""
    text = """
        r0/main iteration 0-90    ProfilerStep#1
        r1/main iteration 10-110  ProfilerStep#1
        r0/main iteration 105-200 ProfilerStep#2
        """
    assert first(text)[2] == [(1, 0, 105), (2, 105, 200)]


def test_numbers_that_start_again_are_renumbered() -> None:
    """Two recorded windows with the same numbers are different iterations."""
    text = "\n".join(
        f"main iteration {at}-{at + 50} ProfilerStep#{n}" for at, n in ((0, 1), (50, 2), (200, 1), (250, 2))
    )
    assert first(text)[2] == [(0, 0, 50), (1, 50, 100), (2, 200, 250), (3, 250, 300)]


@pytest.mark.parametrize("name", ["step {}", "Batch {}", "iteration_{}", "train/iter[{}]", "Step#{}", "TrainStep{}"])
@pytest.mark.parametrize("kind", ["annotation", "span"])
def test_ranges_numbered_as_steps(name: str, kind: str) -> None:
    """Names that differ in a trailing number only and speak of steps."""
    text = "\n".join(f"main {kind} {i * 100}-{i * 100 + 80} {name.format(i + 3)}" for i in range(3))
    source, _, result = first(text)
    assert (source, result) == ("numbered_range", [(3, 0, 80), (4, 100, 180), (5, 200, 280)])


@pytest.mark.parametrize("name", ["run {}", "inference_{}", "VideoFrame{}", "timed[{}]", "img/sample:{}", "Warm-up {}"])
def test_ranges_numbered_as_turns(name: str) -> None:
    """What programs do again and again has other names than steps, too."""
    text = "\n".join(f"main annotation {i * 100}-{i * 100 + 80} {name.format(i + 3)}" for i in range(3))
    source, _, result = first(text, end=300)
    assert (source, result) == ("numbered_range", [(3, 0, 80), (4, 100, 180), (5, 200, 280)])


@pytest.mark.parametrize("step", ["train_step", "step 1"])
def test_turns_in_a_step(step: str) -> None:
    """A step may hold several: they come after it, and before what only repeats."""
    lines = []
    for i in range(3):
        at = i * 100
        lines += [f"main annotation {at}-{at + 90} {step.replace('1', str(i))}"]
        for j in range(2):
            start = at + j * 40
            lines += [
                f"main annotation {start}-{start + 40} sample_{j}",
                f"main annotation {start}-{start + 39} forward",
            ]
    labels = [item.label for item in candidates("\n".join(lines), end=300)]
    assert labels == [step.replace("1", "N"), "sample N", "forward", "Whole recording"]


def test_turns_that_hold_little() -> None:
    """Half of the work at least, where nothing speaks of steps."""
    text = "\n".join(f"main annotation {i * 10}-{i * 10 + 10} token_{i}" for i in range(4))
    assert [item.label for item in candidates(text, end=100)] == ["Whole recording"]


@pytest.mark.parametrize(("warm_up", "measured"), [("Warm-up Step", "step"), ("warmup", "measure")])
def test_warm_ups_come_after_what_counts(warm_up: str, measured: str) -> None:
    """Though they are more."""
    lines = [f"main annotation {i * 10}-{i * 10 + 10} {warm_up} {i}" for i in range(5)]
    lines += [f"main annotation {50 + i * 25}-{50 + i * 25 + 25} {measured} {i}" for i in range(2)]
    labels = [item.label for item in candidates("\n".join(lines), end=100)]
    assert labels == [f"{measured} N", f"{warm_up} N", "Whole recording"]


@pytest.mark.parametrize(("in_each", "times", "counts"), [(1, 5, True), (2, 5, False), (1, 2, False)])
def test_what_a_warm_up_does_once_in_each_step_is_measured_later(in_each: int, times: int, counts: bool) -> None:
    """Though less of the work is there, and one range of the user's is around it: a layer is in a step several times,
    and what is done twice is no loop."""
    lines = [f"main annotation 300-{300 + times * 20} benchmark"]
    for i in range(3):
        lines.append(f"main annotation {i * 100}-{i * 100 + 100} warm-up step {i}")
        lines += [f"main annotation {i * 100 + j * 20}-{i * 100 + j * 20 + 20} forward" for j in range(in_each)]
    lines += [f"main annotation {300 + i * 20}-{300 + i * 20 + 20} forward" for i in range(times)]
    labels = [item.label for item in candidates("\n".join(lines), end=300 + times * 20)]
    assert labels == [*(["forward"] if counts else []), "warm-up step N", "Whole recording"]
    if counts:
        assert first("\n".join(lines), end=400)[2][0] == (0, 300, 320)


def test_numbered_layers_are_no_iterations() -> None:
    """Parts of a model are numbered too."""
    text = "\n".join(f"main annotation {i * 100}-{i * 100 + 100} layer_{i}" for i in range(5))
    assert first(text)[0] == "whole_capture"


def test_numbered_ranges_that_launch_nothing_are_none() -> None:
    """``load batch 3``, however many there are."""
    lines = [f"main annotation {i * 10}-{i * 10 + 5} load batch {i}" for i in range(20)]
    for i in range(2):
        lines += [f"main annotation {i * 100}-{i * 100 + 100} step {i}"]
        lines += [f"main call {i * 100 + 7}-{i * 100 + 8} launch ; corr={i + 1}"]
    assert [item.label for item in candidates("\n".join(lines))] == ["step N", "Whole recording"]


def test_layers_of_a_pass_and_requests_of_a_server_are_no_iterations() -> None:
    """Equal ranges inside one that holds them all; ranges of several threads, one begun while another runs."""
    layers = ["main annotation 0-900 forward"]
    requests = []
    for i in range(6):
        layers += [f"main annotation {i * 100}-{i * 100 + 95} encoder"]
        requests += [f"w{i % 3} annotation {i * 100}-{i * 100 + 250} request {i}"]
        requests += [f"w{i % 3} annotation {i * 100 + 1}-{i * 100 + 249} generate"]
        for lines, thread in ((layers, "main"), (requests, f"w{i % 3}")):
            lines += [f"{thread} call {i * 100 + n}-{i * 100 + n + 1} launch ; corr={i * 100 + n}" for n in (10, 50)]
    for lines in (layers, requests):
        assert [item.source for item in candidates("\n".join(lines))] == ["whole_capture"]
    assert first("\n".join(layers[1:]))[:2] == ("repeated_range", "encoder")


def test_repeated_range_that_holds_most_of_the_work() -> None:
    """One name again and again; a forward pass that holds half of it is no iteration."""
    lines = []
    for i in range(4):
        at = i * 100
        lines += [f"main annotation {at}-{at + 95} train", f"main annotation {at + 1}-{at + 40} forward"]
        lines += [f"main call {at + n}-{at + n + 1} launch ; corr={at + n}" for n in (10, 20, 50, 60)]
    assert first("\n".join(lines)) == (
        "repeated_range",
        "train",
        [(0, 0, 95), (1, 100, 195), (2, 200, 295), (3, 300, 395)],
    )


@pytest.mark.parametrize(("wait", "source"), [(30, "whole_capture"), (80, "repeated_range")])
def test_repeated_range_that_ends_before_its_gpu_work(wait: int, source: str) -> None:
    """The host marks what it launches, and waits for the GPU outside: what the GPU does belongs to no range."""
    lines = []
    for at in range(0, 400, 100):
        lines += [f"main annotation {at}-{at + wait} model", f"main call {at + 2}-{at + 3} launch ; corr={at + 1}"]
        lines += [f"gpu0 kernel {at + 5}-{at + 95} gemm ; corr={at + 1}"]
    assert first("\n".join(lines))[0] == source


@pytest.mark.parametrize("others", ["r1/main", "worker"])
def test_repeated_range_of_several_threads_at_once(others: str) -> None:
    """Ranks of one report, or replicas of one process, see the same iteration: not one each, cut where the next
    begins."""
    text = f"""
        main     annotation 0-100   train_step
        {others} annotation 5-110   train_step
        main     annotation 105-200 train_step
        {others} annotation 112-207 train_step
        main     annotation 210-300 train_step
        {others} annotation 211-305 train_step
        """
    assert first(text, 305) == ("repeated_range", "train_step", [(0, 0, 105), (1, 105, 207), (2, 210, 305)])


def test_threads_created_in_each_iteration() -> None:
    """As for replicas: each iteration has threads of its own."""
    text = "\n".join(
        f"t{at}{replica} annotation {at + replica}-{at + 90} forward" for at in (0, 100, 200) for replica in range(4)
    )
    assert first(text, 300)[2] == [(0, 0, 90), (1, 100, 190), (2, 200, 290)]


def test_repeated_range_of_threads_by_turns() -> None:
    """One thread after the other: each range is an iteration."""
    text = "\n".join(
        f"{'main' if at % 200 else 'other'} annotation {at}-{at + 95} train_step" for at in range(0, 600, 100)
    )
    assert first(text, 600)[2] == [(at // 100, at, at + 95) for at in range(0, 600, 100)]


def test_numbers_that_start_again_on_several_ranks() -> None:
    """Each epoch counts its batches from 0 on both ranks, which see the same ones."""
    text = "\n".join(
        f"{rank} annotation {at + late}-{at + 48 + late} batch {n}"
        for at, n in ((0, 0), (50, 1), (100, 0), (150, 1))
        for rank, late in (("r0/main", 0), ("r1/main", 3))
    )
    assert first(text, 201)[2] == [(0, 0, 50), (1, 50, 100), (2, 100, 150), (3, 150, 201)]


def test_repeated_range_with_one_number() -> None:
    """``step 1`` again and again is a name that repeats."""
    text = "\n".join(f"main annotation {i * 100}-{i * 100 + 90} step 1" for i in range(3))
    assert first(text, end=300) == ("repeated_range", "step N", [(0, 0, 90), (1, 100, 190), (2, 200, 290)])


def test_outer_repeated_range_comes_before_the_parts_inside() -> None:
    """Attention repeats more often and holds the work as well."""
    lines = []
    for i in range(3):
        lines += [f"main annotation {i * 100}-{i * 100 + 90} forward"]
        for j in range(4):
            at = i * 100 + j * 20
            lines += [
                f"main annotation {at}-{at + 15} attention",
                f"main call {at + 2}-{at + 3} launch ; corr={at + 1}",
            ]
    assert first("\n".join(lines))[1] == "forward"


def test_serving_steps_with_varying_names() -> None:
    """``step[DECODE bs=31]`` and ``step[DECODE bs=32]`` are iterations of one loop."""
    text = "\n".join(f"main annotation {i * 100}-{i * 100 + 90} step[DECODE bs={30 + i}]" for i in range(9))
    source, label, result = first(text, end=900)
    assert (source, label, len(result)) == ("repeated_range", "step", 9)


def test_optimizer_steps_end_iterations() -> None:
    """The first begins with the capture's first event; what follows the last step belongs to none."""
    text = "main op 80-90 aten::mm\n"
    text += "\n".join(f"main annotation {at}-{at + 20} Optimizer.step#SGD.step" for at in (100, 300, 500))
    result = build_profile(draw(text)).iterations[0]
    assert (result.source, result.label) == ("optimizer_step", "Optimizer.step#SGD.step")
    assert intervals(result) == [(0, 80, 120), (1, 120, 320), (2, 320, 520)]


@pytest.mark.parametrize("name", ["Optimizer.step#SGD.step", "enumerate(DataLoader)#_BaseDataLoaderIter.__next__"])
def test_one_step_on_each_thread_cuts_nothing(name: str) -> None:
    """The whole capture is left, of which one step would leave out a part."""
    assert first(f"one annotation 100-120 {name}\ntwo annotation 300-320 {name}")[0] == "whole_capture"


def test_as_many_ways_as_a_list_can_show_are_offered() -> None:
    """A server that numbers the steps of each request: those with the most steps."""
    lines = [
        f"main annotation {at * 100 + step * 10}-{at * 100 + step * 10 + 9} request {at}x step {step}"
        for at in range(90)
        for step in range(3 if at == 70 else 2)
    ]
    result = candidates("\n".join(lines), end=9_000)
    assert [item.source for item in result] == ["numbered_range"] * 20 + ["whole_capture"]
    assert result[0].label == "request 70x step N"


def test_data_loader_fetches_begin_iterations() -> None:
    """The last one ends with the capture."""
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    text = "\n".join(f"main annotation {at}-{at + 20} {name}" for at in (100, 300))
    assert first(text) == ("data_loader", name, [(0, 100, 300), (1, 300, 1000)])


def test_all_candidates_best_first() -> None:
    """Every way that exists is offered; the whole capture is last."""
    lines = []
    for i in range(3):
        at = i * 100
        lines += [f"main iteration {at}-{at + 100} ProfilerStep#{i}", f"main annotation {at + 1}-{at + 99} step {i}"]
        lines += [f"main annotation {at + 2}-{at + 98} train", f"main annotation {at + 80}-{at + 90} Optimizer.step#A"]
        lines += [f"main annotation {at + 3}-{at + 9} enumerate(DataLoader)#x.__next__"]
    assert [item.source for item in candidates("\n".join(lines), end=300)] == [
        "profiler_step",
        "numbered_range",
        "repeated_range",
        "optimizer_step",
        "data_loader",
        "whole_capture",
    ]
