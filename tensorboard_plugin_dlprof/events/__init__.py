"""The neutral event tables, and the way from them to a profile.

``tables`` is what every importer produces. ``build`` goes the whole way: ``nesting`` and ``linking``
find parents and callers; ``instances``, ``directions``, ``paths`` and ``framework_ops`` find ops, or
``dlprof_markers`` does where DLProf's own markers are; ``identity`` joins the calls of one op;
``op_tables`` and ``work_tables`` fill the profile's tables, ``integrity`` checks them.
"""
