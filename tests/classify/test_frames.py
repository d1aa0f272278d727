"""Which frames of a stack are of the program's own code."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.classify.frames import is_own

OWN = (
    "train.py(42): step",
    "profile.py(12): main",
    "data/loader.py(7): __getitem__",
    "/workspace/models/transformers/flux.py(264): forward",
    "/workspace/torch_models/unet.py(3): forward",
    r"C:\work\train.py(42): step",
    "/home/me/lib/python_tools/run.py(1): main",
    "<ipython-input-3-1f2e>(5): step",
    "transformers/generation/utils.py(2215): generate",
    "diffusers/hooks/hooks.py(268): _set_context",
    "inspection.py(3): look",
    "",
)
OTHERS = (
    "<built-in function len>",
    "<built-in method tensor of type object at 0x7f1abc7fc9c0>",
    "<frozen importlib._bootstrap>(1024): _find_and_load",
    "<string>(2): __init__",
    "nn.Module: Linear_0",
    "torch/nn/modules/module.py(1779): _call_impl",
    "/opt/pytorch/torch/nn/modules/linear.py(114): forward",
    "/usr/lib/python3.10/threading.py(953): run",
    "/venv/lib/site-packages/einops/einops.py(3): rearrange",
    r"C:\venv\Lib\site-packages\einops\einops.py(3): rearrange",
    "threading.py(973): _bootstrap",
    "multiprocessing/process.py(108): run",
    "numpy/core/multiarray.py(346): where",
    "/tmp/torchinductor_me/dn/cdnigg.py(16165): call",
)


@pytest.mark.parametrize("frame", OWN)
def test_the_programs_files_are_its_own(frame: str) -> None:
    """Wherever they lie, and whatever their folders are called."""
    assert is_own(frame)


@pytest.mark.parametrize("frame", OTHERS)
def test_pythons_and_pytorchs_frames_are_others(frame: str) -> None:
    """What is built in, in no file, installed, generated, or a module of Python."""
    assert not is_own(frame)
