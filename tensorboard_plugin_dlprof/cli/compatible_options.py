"""The options of DLProf 1.8 (command line reference, section 1.2), with their older spellings.

``--name=value``, ``--name value``, ``-n value`` and ``-n=value`` mean the same. A switch takes ``true`` or ``false``;
without a value it is ``true``. Options that are not supported are refused with a sentence that says what to do.
"""

from __future__ import annotations

import difflib
import math
import shlex
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from tensorboard_plugin_dlprof.errors import BadRequest

Value: TypeAlias = str | int | float | bool | None

VERBOSITIES = ("quiet", "minimal", "normal", "detailed", "diagnostic")

SIMPLE = "simple"

MODES = ("pytorch", "tensorflow1", "tensorflow2", "tensorrt", "mxnet", SIMPLE)


class Option(NamedTuple):
    """One option, under its name in 1.8."""

    name: str
    help: str
    read: Callable[[str], Value]
    default: Value = None
    short: str = ""
    synonyms: tuple[str, ...] = ()
    ignored: str = ""
    """Why the option has no effect here, shown when it is given; empty if it has one."""

    @property
    def is_switch(self) -> bool:
        """Whether it takes ``true`` or ``false``."""
        return self.read is _switch


def _switch(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def _iteration(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("the number of an iteration, counted from 0")
    return int(text)


def seconds(text: str) -> float:
    """The number of seconds in the value of an option.

    Raises:
        ValueError: the text is not a number, or it is negative or not finite; the message says what is expected.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError("a number of seconds")
    return value


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return text.lower()

    return read


def _refused(sentence: str) -> Callable[[str], Value]:
    def read(text: str) -> Value:
        raise BadRequest(sentence)

    return read


OPTIONS = (
    Option("force", "replace result files of the same names; otherwise the new ones are numbered", _switch, False, "f"),
    Option("verbosity", ", ".join(VERBOSITIES), _one_of(*VERBOSITIES), "normal", "v"),
    Option(
        "mode",
        f"{', '.join(MODES)}; ops are found by what the recording holds, in the same way for all but {SIMPLE}, in "
        "which one op stands for the whole program",
        _one_of(*MODES),
        "pytorch",
        "m",
    ),
    Option("database", "recorded export (or trace) to use; no program is run", str, synonyms=("nsys_database",)),
    Option(
        "nsys_base_name",
        "name of the files of Nsight Systems",
        str,
        "nsys_profile",
        synonyms=("nsys_base_output_filename",),
    ),
    Option("nsys_opts", "options for nsys profile, quoted as one word", str, "-t cuda,nvtx -s none"),
    Option("nsys_profile_range", "record only between the calls that start and stop the profiler", _switch, False),
    Option("delay", "seconds to wait before recording", seconds, 0.0, "y"),
    Option("duration", "seconds to record; 0: all of the run", seconds, 0.0, "d"),
    Option("key_op", "name or id of the op that ends each iteration", str, "", synonyms=("key_node",)),
    Option("iter_start", "first iteration to aggregate", _iteration),
    Option("iter_stop", "last iteration to aggregate, inclusive", _iteration),
    Option("output_path", "folder for all results", str, "."),
    Option("profile_name", "title of the profile, and beginning of the names of the reports", str, ""),
    Option(
        "reports",
        "summary, detail, iteration, kernel, tensor, op_type, group_op, expert_systems, or all",
        str,
        "",
    ),
    Option("formats", "csv, json; here also xlsx, md, html", str, "csv", synonyms=("file_formats",)),
    Option("suppress_tb_files", "write no event file for TensorBoard", _switch, False, "b"),
    Option("tb_dir", "accepted: the event file lies beside the database, where TensorBoard looks for it", str),
    Option(
        "domains",
        "not supported, nor by DLProf from 1.7 on",
        _refused("--domains is not supported, nor was it by DLProf from 1.7 on; leave it out: all domains are read."),
    ),
    Option(
        "dump_model_data",
        "accepted: the raw data are in the tables read_only_* of the database",
        _switch,
        False,
        ignored="the raw data are in the tables read_only_* of the database; --reports=all --formats=json writes JSON.",
    ),
    Option(
        "graphdef",
        "accepted: the Graph page is made from the profile itself",
        str,
        synonyms=("in_graphdef",),
        ignored="the Graph page is made from the profile itself.",
    ),
)

_BY_NAME: Mapping[str, Option] = {
    **{f"--{name}": option for option in OPTIONS for name in (option.name, *option.synonyms)},
    **{f"-{option.short}": option for option in OPTIONS if option.short},
}


class CommandLine(NamedTuple):
    """A parsed command line of DLProf 1.8."""

    values: Mapping[str, Value]
    """Value of each option by its name, defaults included."""
    given: frozenset[str]
    """Names of the options that were given."""
    program: list[str]

    def ignored(self) -> list[str]:
        """A sentence for each given option that has no effect, with the reason."""
        return [
            f"--{option.name} has no effect: {option.ignored}"
            for option in OPTIONS
            if option.ignored and option.name in self.given and self.values[option.name]
        ]

    def text(self, name: str) -> str:
        """The value of a text option; empty if it was not given."""
        return str(self.values[name] or "")

    def switch(self, name: str) -> bool:
        """The value of a switch."""
        return bool(self.values[name])

    def seconds(self, name: str) -> float:
        """The value of an option in seconds; 0 if it was not given."""
        return float(self.values[name] or 0)

    def iteration(self, name: str) -> int | None:
        """The value of an option that names an iteration; None if it was not given."""
        value = self.values[name]
        return value if isinstance(value, int) else None


def parse(words: Sequence[str]) -> CommandLine:
    """Parse a command line; the first word that is not an option begins the program.

    Raises:
        BadRequest: an option is unknown, or its value is missing or wrong.
    """
    values: dict[str, Value] = {option.name: option.default for option in OPTIONS}
    given: set[str] = set()
    position = 0
    while position < len(words) and words[position].startswith("-"):
        if words[position] == "--":
            position += 1
            break
        name, sign, value = words[position].partition("=")
        option = _option(name)
        position += 1
        if not sign:
            if option.is_switch and words[position : position + 1] not in (["true"], ["false"]):
                value = "true"
            elif position == len(words):
                raise BadRequest(f"{name} needs a value: {option.help}.")
            else:
                value = words[position]
                position += 1
        given.add(option.name)
        try:
            values[option.name] = option.read(value)
        except ValueError as error:
            raise BadRequest(f"{name}={value[:60]}: the value must be {error}.") from None
    return CommandLine(values, frozenset(given), list(words[position:]))


def split_options(text: str, option: str = "--nsys_opts") -> tuple[str, ...]:
    """The words of an ``option``, which DLProf's help wants in quotes of its own: ``'"-t cuda,nvtx -s none"'``.

    Raises:
        BadRequest: a quote is not closed.
    """
    try:
        words = shlex.split(text)
        return tuple(shlex.split(words[0]) if len(words) == 1 else words)
    except ValueError:
        raise BadRequest(f"{option}={text[:60]}: a quote is not closed.") from None


def help_text() -> str:
    """The text of ``dlprof --mode=pytorch --help``."""
    lines = [
        "usage: dlprof [options] PROGRAM [arguments]",
        "       dlprof --database=EXPORT.sqlite [options]",
        "",
        "The command line of NVIDIA's DLProf 1.8. See `dlprof --help` for the other commands.",
        "",
        "options, as --name=value or --name value:",
    ]
    for option in OPTIONS:
        names = ", ".join([*([f"-{option.short}"] if option.short else []), f"--{option.name}"])
        others = "".join(f", --{name}" for name in option.synonyms)
        default = "" if option.default in (None, "", False, 0.0) else f" (default: {option.default})"
        lines.append(f"  {names}{others}")
        lines += textwrap.wrap(option.help + default, 90, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return "\n".join(lines)


def _option(name: str) -> Option:
    spelled = "--" + name[2:].replace("-", "_") if name.startswith("--") else name
    return _BY_NAME.get(spelled) or _unknown(name)


def _unknown(name: str) -> NoReturn:
    near = difflib.get_close_matches(name, _BY_NAME, n=1)
    hint = f"did you mean {near[0]}?" if near else "`dlprof --mode=pytorch --help` lists the options."
    raise BadRequest(f"There is no option {name[:60]}; {hint}")
