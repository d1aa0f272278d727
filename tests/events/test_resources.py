"""Host time of the data loader and of input and output."""

from __future__ import annotations

import pytest

from tests.events.building import build


@pytest.mark.parametrize(
    "name",
    [
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        "DataLoader",
        "IteratorGetNextSync",
        "DALI pipeline",
    ],
)
def test_data_loader_ranges(name: str) -> None:
    """Fetches of PyTorch, DLProf, TensorFlow and DALI, by start."""
    profile = build(f"main annotation 50-60 {name}\nmain annotation 10-20 {name}\nmain annotation 30-40 data")
    assert (profile.data_loader.start_ns.tolist(), profile.data_loader.stop_ns.tolist()) == ([10, 50], [20, 60])


def test_io_of_threads_that_launch_or_load() -> None:
    """Another thread that reads holds nobody up."""
    profile = build(
        """
        main   call 0-5 cudaLaunchKernel
        loader annotation 0-50 enumerate(DataLoader)#x.__next__
        main   os 10-20 read
        loader os 5-30 pread64
        logger os 0-100 write
        """
    )
    assert (profile.io.start_ns.tolist(), profile.io.stop_ns.tolist()) == ([5, 10], [30, 20])


def test_no_resources() -> None:
    """Both tables are empty where nothing tells of them."""
    profile = build("main op 0-10 aten::relu")
    assert len(profile.data_loader.start_ns) == len(profile.io.start_ns) == 0
