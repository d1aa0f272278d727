from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProfileMetadata(_message.Message):
    __slots__ = ("schema_version", "database_name", "source_name", "source_fingerprint", "source_format", "rank", "world_size", "gpu_names", "profile_name", "captured_at_ns", "headline")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    DATABASE_NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FORMAT_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    WORLD_SIZE_FIELD_NUMBER: _ClassVar[int]
    GPU_NAMES_FIELD_NUMBER: _ClassVar[int]
    PROFILE_NAME_FIELD_NUMBER: _ClassVar[int]
    CAPTURED_AT_NS_FIELD_NUMBER: _ClassVar[int]
    HEADLINE_FIELD_NUMBER: _ClassVar[int]
    schema_version: int
    database_name: str
    source_name: str
    source_fingerprint: str
    source_format: str
    rank: int
    world_size: int
    gpu_names: _containers.RepeatedScalarFieldContainer[str]
    profile_name: str
    captured_at_ns: int
    headline: Headline
    def __init__(self, schema_version: _Optional[int] = ..., database_name: _Optional[str] = ..., source_name: _Optional[str] = ..., source_fingerprint: _Optional[str] = ..., source_format: _Optional[str] = ..., rank: _Optional[int] = ..., world_size: _Optional[int] = ..., gpu_names: _Optional[_Iterable[str]] = ..., profile_name: _Optional[str] = ..., captured_at_ns: _Optional[int] = ..., headline: _Optional[_Union[Headline, _Mapping]] = ...) -> None: ...

class Headline(_message.Message):
    __slots__ = ("wall_time_ns", "iterations", "average_iteration_ns", "gpu_utilization_fraction", "tensor_core_time_fraction", "tensor_core_efficiency_fraction")
    WALL_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_ITERATION_NS_FIELD_NUMBER: _ClassVar[int]
    GPU_UTILIZATION_FRACTION_FIELD_NUMBER: _ClassVar[int]
    TENSOR_CORE_TIME_FRACTION_FIELD_NUMBER: _ClassVar[int]
    TENSOR_CORE_EFFICIENCY_FRACTION_FIELD_NUMBER: _ClassVar[int]
    wall_time_ns: int
    iterations: int
    average_iteration_ns: float
    gpu_utilization_fraction: float
    tensor_core_time_fraction: float
    tensor_core_efficiency_fraction: float
    def __init__(self, wall_time_ns: _Optional[int] = ..., iterations: _Optional[int] = ..., average_iteration_ns: _Optional[float] = ..., gpu_utilization_fraction: _Optional[float] = ..., tensor_core_time_fraction: _Optional[float] = ..., tensor_core_efficiency_fraction: _Optional[float] = ...) -> None: ...
