"""Hardware counters that were measured beside a profile: they prove what a kernel's name only suggests.

* ``reading.read_report``: a file -> ``Measured`` launches. ``ncu_csv`` reads the CSV of Nsight Compute,
  ``kineto_ranges`` PyTorch's traces with counters in place of kernels.
* ``matching.apply_counters``: joins them to the kernels of a profile, by name, grid and block, then by order.

Samples that a profile holds itself (GPU metrics of Nsight Systems, CUPTI PM sampling of PyTorch) are joined where it is
read: ``events.tensor_samples``.
"""
