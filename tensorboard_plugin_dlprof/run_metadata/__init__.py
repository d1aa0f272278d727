"""What TensorBoard itself stores about a profile: protobuf metadata and scalars in an event file of the run.

Metadata is a hint, never the truth: the files below the log directory are.
"""
