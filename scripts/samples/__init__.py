"""Generates the samples with a small simulator of a host, its GPU, and the profiler that records them.

* ``gpus``: peak rates, and how long a piece of work takes by its roofline.
* ``records``, ``process``, ``trace_file``: what a process runs, the process under PyTorch's profiler, and its trace.
* ``resnet``, ``transformer``: what the two models run.
* ``nsight``: the same idea for an Nsight Systems SQLite export.
* ``xplane_file``, ``jax_training``: an XPlane file, and a program with JAX that is recorded in one.
* ``answers``: what is known about a sample because it was generated that way.

Nothing here is random: jitter comes from a seeded generator, so the files are the same bytes on every machine.
"""
