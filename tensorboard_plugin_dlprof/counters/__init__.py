"""Hardware counters that were measured beside a profile: they prove what a kernel's name only suggests.

* ``ncu_csv.read_counters``: the CSV of Nsight Compute -> ``Measured`` launches.
* ``matching.apply_counters``: joins them to the kernels of a profile, by name, grid and block, then by order.

Counters that an Nsight Systems export holds itself (GPU metrics) are joined where the export is read:
``events.tensor_samples``.
"""
