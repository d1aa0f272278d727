"""What a name tells: the family and matrix-unit use of a kernel, the eligibility of an op, a data type.

Pure functions of names over commented tables; nothing here knows where a name came from.

* ``kernels.classify``: kernel name -> ``KernelClass``; the tables of rules are in ``rules``, in order.
* ``ops.eligibility``: op type -> ``Eligibility``; the names are in ``op_names``.
* ``dtypes.data_type``: a source's spelling of a type -> DLProf's.
"""
