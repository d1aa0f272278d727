"""Generates the sample profiles: ``python -m scripts.samples.generate [OUTDIR]``.

Needs only this package, and writes the same content every time; its output is in ``samples/data``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.samples.answers import of_export, of_process, of_training
from scripts.samples.jax_training import jax_training
from scripts.samples.nsight import mnist_export
from scripts.samples.resnet import resnet50
from scripts.samples.trace_file import write_trace
from scripts.samples.transformer import transformer
from tensorboard_plugin_dlprof.samples import DATA

ANSWERS = "answers.json"


def generate(folder: Path) -> dict[str, Any]:
    """Writes the samples and their answers.

    Args:
        folder: Created if it is missing; files with the same names are replaced.

    Returns:
        File name -> what is known about it, as written to ``answers.json``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    answers: dict[str, Any] = {}
    processes = {
        "generated-resnet50-fp32.pt.trace.json.gz": resnet50(mixed_precision=False),
        "generated-resnet50-amp.pt.trace.json.gz": resnet50(mixed_precision=True),
        **{f"generated-transformer-bf16-rank{rank.rank}.pt.trace.json.gz": rank for rank in transformer()},
    }
    for name, process in processes.items():
        answers[name] = of_process(process)
        write_trace(process, folder / name)
    export = mnist_export()
    name = "generated-mnist-nsys.sqlite.gz"
    answers[name] = of_export(export)
    export.write(folder / name)
    training = jax_training()
    name = "generated-transformer-jax.xplane.pb"
    answers[name] = of_training(training)
    training.write(folder / name)
    text = json.dumps(answers, indent=1, sort_keys=True)
    (folder / ANSWERS).write_text(text + "\n", encoding="utf-8")
    return answers


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Generate the sample profiles.")
    parser.add_argument(
        "folder", type=Path, nargs="?", default=DATA, metavar="OUTDIR", help="default: the package's own"
    )
    folder: Path = parser.parse_args(arguments).folder
    for name, facts in generate(folder).items():
        print(f"{folder / name}: {facts['kernels']} kernels, {facts['kernel_time_ns'] / 1e6:.3f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
