"""The results of the expert system: findings with numbers, evidence and gain, and rules that could not decide."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from tensorboard_plugin_dlprof.analysis.wording import Number, filled
from tensorboard_plugin_dlprof.diagnosis.answer import Diagnosis


class Feedback(NamedTuple):
    """A row of ``expert_systems_feedback``, DLProf's table of findings."""

    detector: str
    problem: str
    recommendation: str
    javascript_function: str = ""
    """Action of DLProf's viewer."""
    javascript_args: str = ""


class Severity(enum.IntEnum):
    """How much a finding matters; its gain decides the order among findings that have one."""

    INFO = 0
    ADVICE = 1
    WARNING = 2


class Confidence(enum.IntEnum):
    """How sure the estimate is: measured, modelled from measurements, or inferred from a symptom."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


class Evidence(msgspec.Struct, frozen=True):
    """One row behind a finding, which a page can open."""

    kind: str
    """What ``key`` is: ``op`` (op id), ``kernel`` (short name), ``line`` (stack frame of an op), ``function`` (stack
    frame, perhaps of no op), ``range`` (name of a range, or path of several ops), ``call`` (API call), ``iteration``
    (number), ``device`` (id)."""
    key: str
    time_ns: int | None = None
    """Time in all aggregated iterations."""
    count: int | None = None
    detail: str = ""
    fraction: float | None = None
    """Share of the time that the finding is about."""
    path: str = ""
    """Path of the op, or name of the range or function; by default that of ``key``."""
    call: str = ""
    """API or system call."""
    device: int | None = None
    iteration: int | None = None
    """Position, from 0, of the iteration with most of it."""
    from_ns: int | None = None
    """Where its longest stretch in that iteration begins, like ``to_ns`` since the start of the capture."""
    to_ns: int | None = None


class Pool(enum.Enum):
    """What a gain is taken from: exclusive parts of the wall time (``diagnosis.parts``), or kernels by kind."""

    DATA_LOADER = "data_loader"
    IO = "io"
    SETUP = "setup"
    SYNC = "sync"
    LAUNCH = "launch"
    HOST = "host"
    UNRECORDED = "unrecorded"
    COPIES = "copies"
    COMMUNICATION = "communication"
    PRODUCTS = "products"
    LAYOUT = "layout"
    OTHER_KERNELS = "other_kernels"


class Claim(msgspec.Struct, frozen=True):
    """What a finding takes from one pool, per iteration."""

    pool: Pool
    low_ns: int
    high_ns: int


class Gain(msgspec.Struct, frozen=True):
    """The time by which an iteration would become shorter."""

    low_ns: int
    high_ns: int
    """Per iteration, like ``low_ns``."""
    reasoning: str
    """How the range was found, one or two sentences."""
    claims: tuple[Claim, ...] = ()
    """The pools that it is taken from; the claims add up to the gain."""


class Finding(msgspec.Struct, frozen=True):
    """One piece of advice. The texts have placeholders for ``numbers`` (``wording.filled``)."""

    detector: str
    severity: Severity
    confidence: Confidence
    area: str
    """Findings in the same area are different ways to the same gain, of which only the largest counts."""
    problem: str
    recommendation: str
    numbers: Mapping[str, Number]
    evidence: tuple[Evidence, ...] = ()
    gain: Gain | None = None
    """None if the time cannot be estimated."""
    link: str = ""
    action: str = ""
    """Name of the view in DLProf's viewer that lists the ops."""
    cause: str = "compute"
    """What it is about, in one word; several rules may share one."""
    part: str = ""
    """The exclusive part of the time (``diagnosis.parts``) that it is about; empty if none or several."""
    time_ns: int | None = None
    """The time of an iteration that it is about, on the GPU with most of it."""
    device: int | None = None
    """That GPU."""
    cannot_tell: str = ""
    """Why no gain can be told, where there may be one."""
    most_ns: int | None = None
    """The most that ``cannot_tell`` says of it, where no least is known."""
    none_while: str = ""
    """What ``cannot_tell`` says is to be mended before anything is gained: ``launching limits``."""
    missing_work: str = ""
    """Whether the time lacks GPU work: ``some``; ``throughout`` where launches are missing, too."""
    beside: str = ""
    """A sentence for the end of the problem: what kernels would save, and what limits, where the gain is far less; or
    what is not taken out of it."""
    once: bool = False
    """Whether the time is lost once, not in each iteration."""
    overlaps_with: tuple[str, ...] = ()
    """Detectors of findings about the same time."""

    def problem_text(self) -> str:
        """The problem, with its numbers."""
        return " ".join(filter(None, (filled(self.problem, self.numbers), self.beside)))

    def recommendation_text(self) -> str:
        """The recommendation, with its numbers."""
        return filled(self.recommendation, self.numbers)


class Lacks(msgspec.Struct, frozen=True):
    """The result of a rule that could not decide because data is missing."""

    missing: str
    """What is missing, as part of a sentence: ``the shapes of the ops``."""
    hint: str
    """The recording option that would provide it."""


class Undecided(msgspec.Struct, frozen=True):
    """A rule that could not decide, with what it lacks."""

    detector: str
    missing: str
    hint: str


class Verdict(msgspec.Struct):
    """Everything that the expert system says about an aggregation."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    """Largest gain first; then those without a gain, by severity."""
    undecided: list[Undecided] = msgspec.field(default_factory=list)
    iteration_ns: int = 0
    """Mean length of the aggregated iterations without single slow ones, of which times and gains are a share."""
    total_low_ns: int = 0
    total_high_ns: int = 0
    """Per iteration, without adding overlapping gains (``gains.together``); never more than the iteration."""
    iterations: int = 1
    """How many are aggregated."""
    marked: bool = True
    """False if no iterations are marked, so that the whole capture counts as one."""
    diagnosis: Diagnosis | None = None
    """Where the time goes, which the rules read; None if there are no rules to apply."""
