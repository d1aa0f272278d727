"""Records the CPU sample: ``python record_cpu.py OUTFILE``, with PyTorch 2.x installed (a CPU build will do).

A block of a ResNet, trained for four steps on the CPU with shapes, stacks, modules and memory recorded. The trace is
real, but has no device work: it shows what a profile without kernels looks like. PyTorch is not a dependency of this
package, so the script does not import the package. Paths of the recording machine are removed from the trace.
"""
# mypy: ignore-errors
# PyTorch is not installed where this package is checked.

from __future__ import annotations

import gzip
import re
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 4


class Block(nn.Module):
    """Two convolutions with a shortcut, as in ResNet-18."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block's output, with the shape of ``x``."""
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + x)


class Network(nn.Module):
    """A stem, one block and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.block = Block(16)
        self.classifier = nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of ten classes."""
        return self.classifier(self.block(self.stem(x)).mean(dim=(2, 3)))


def record(path: Path) -> None:
    """Trains and writes the trace, gzip-compressed, to ``path``."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    images = torch.utils.data.TensorDataset(torch.randn(STEPS * 8 + 8, 3, 32, 32), torch.randint(10, (STEPS * 8 + 8,)))
    loader = torch.utils.data.DataLoader(images, batch_size=8)
    with profile(
        activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=STEPS, repeat=1),
        record_shapes=True, with_stack=True, with_modules=True, profile_memory=True,
    ) as profiler:  # fmt: skip
        for x, target in loader:
            loss = nn.functional.cross_entropy(network(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(raw))
        text = raw.read_text(encoding="utf-8")
    text = re.sub(r'[^\s"(]*/(?=site-packages/|record_cpu\.py|lib/python3)', "", text)
    text = re.sub(r'("traceName": *)"[^"]*"', r'\1"recorded-resnet-block-cpu.pt.trace.json"', text)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    record(Path(sys.argv[1]))
