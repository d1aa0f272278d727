"""Runs a program while Nsight Systems or the PyTorch profiler records it. Nothing here reads what was recorded."""
