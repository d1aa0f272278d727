"""In which of their Python functions users are told that the host was while the GPU waited."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.aggregation import Selection
from tensorboard_plugin_dlprof.analysis.tables import Evidence
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.analysis.scenes import Body, Step, found, said_by, scene

STEP_NS = 20_000_000
GAP = (6_000_000, 16_000_000)
LOAD, LOG, LIBRARY = "data.py(7): load", "train.py(9): log", "torch/storage.py(4): tolist"


def waiting(*, during: Body = lambda _step: None) -> Profile:
    """Half of each step is one gap; ``during`` draws what goes on in it."""

    def body(step: Step) -> None:
        step.good(0, GAP[0], at=10)
        during(step)
        step.good(GAP[1], STEP_NS, at=GAP[1] - 1_000)

    profile = scene(body, step_ns=STEP_NS)
    profile.info.recorded |= {"stacks"}
    return profile


def functions(profile: Profile, detector: str = "unrecorded_detector") -> list[Evidence]:
    """Of the evidence of a finding."""
    return [each for each in said_by(detector, profile).evidence if each.kind == "function"]


def _load_and_log(step: Step) -> None:
    step.line("main", "frame", 5_000_000, 12_000_000, LOAD)
    step.line("main", "frame", 7_000_000, 11_000_000, LIBRARY)
    step.line("main", "frame", 11_000_000, 12_000_000, "<built-in method read of _io.FileIO object at 0x7f12ab>")
    step.line("main", "frame", 12_500_000, 14_500_000, LOG)
    step.line("main", "frame", 15_000_000, 15_090_000, "train.py(1): too short to tell")


def test_the_functions_in_which_the_host_was_are_evidence() -> None:
    """Most time first, of all steps together, with their share of the gaps; the rest is not known, and so not told."""
    profile = waiting(during=_load_and_log)
    assert functions(profile) == [
        Evidence("function", LOAD, 18_000_000, None, f"mostly in {LIBRARY} (67 %)", pytest.approx(0.6, abs=1e-4)),
        Evidence("function", LOG, 6_000_000, None, "", pytest.approx(0.2, abs=1e-4)),
    ]
    told = said_by("unrecorded_detector", profile)
    assert told.problem_text().endswith(f"that was recorded, 60 % of it in {LOAD}.")
    assert told.recommendation_text().startswith("Look at the functions listed")
    assert [each.key for each in told.evidence if each.kind == "iteration"] == ["2", "3", "4"]


def test_objects_of_one_type_are_one_function() -> None:
    """The addresses of built-in methods tell nothing; a function of a library stands where none is the program's."""

    def during(step: Step) -> None:
        for number in range(4):
            begin = (7 + 2 * number) * 1_000_000
            step.line(
                "main", "frame", begin, begin + 1_000_000, f"<built-in method read of FileIO object at 0x7f1{number}>"
            )

    assert functions(waiting(during=during)) == [
        Evidence(
            "function", "<built-in method read of FileIO object>", 12_000_000, None, "", pytest.approx(0.4, abs=1e-4)
        )
    ]


def test_other_iterations_have_functions_of_their_own() -> None:
    """What is aggregated is what is told of."""

    def during(step: Step) -> None:
        step.line("main", "frame", *GAP, LOAD if step.number == 1 else LOG)

    profile = waiting(during=during)
    assert [each.key for each in functions(profile)] == [LOG, LOAD]
    assert sum(each.fraction or 0 for each in functions(profile)) == 1
    alone = said_by("unrecorded_detector", profile, Selection(iter_start=3, iter_stop=3))
    assert [(each.key, each.fraction) for each in alone.evidence if each.kind == "function"] == [(LOAD, 1.0)]


def test_moments_in_ops_and_calls_are_not_unrecorded() -> None:
    """A function counts for what it did outside of them."""

    def during(step: Step) -> None:
        step.line("main", "frame", *GAP, LOAD)
        step.line("main", "op", 6_000_000, 8_000_000, "aten::unique")

    (told,) = functions(waiting(during=during))
    assert (told.key, told.time_ns, told.fraction) == (LOAD, pytest.approx(24_000_000, abs=1_000), 1.0)


def test_what_the_data_loader_does_in_the_training_process_is_told() -> None:
    """The data set's own function, not the loader's."""

    def during(step: Step) -> None:
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        step.line("main", "annotation", 6_000_000, 14_000_000, name)
        step.line("main", "frame", 6_000_000, 14_000_000, "torch/utils/data/dataloader.py(700): __next__")
        step.line("main", "frame", 7_000_000, 13_000_000, LOAD)

    assert functions(waiting(during=during), "dataloader_detector") == [
        Evidence("function", LOAD, 18_000_000, None, "", 0.75),
        Evidence("function", "torch/utils/data/dataloader.py(700): __next__", 6_000_000, None, "", 0.25),
    ]


def test_a_busy_host_without_lines_of_its_own_is_in_functions() -> None:
    """Ops in a library's functions: the innermost of all is better than none. Lines, which open ops, are enough."""

    def of(around: str) -> Body:
        def during(step: Step) -> None:
            step.line("main", "frame", 5_900_000, 15_999_000, around)
            step.line("main", "op", 6_000_000, 15_999_000, "aten::unique")

        return during

    (told,) = functions(waiting(during=of(LIBRARY)), "host_detector")
    assert (told.key, told.fraction) == (LIBRARY, pytest.approx(1, abs=1e-4))
    assert functions(waiting(during=of(LOG)), "host_detector") == []
    assert any(each.kind == "line" for each in said_by("host_detector", waiting(during=of(LOG))).evidence)


def test_without_functions_the_finding_says_how_to_find_out() -> None:
    """Nothing is made of a recording without stacks."""
    profile = waiting()
    assert "unrecorded_detector" in found(profile)
    assert functions(profile) == []
    assert said_by("unrecorded_detector", profile).problem_text().endswith("no API call that was recorded.")
