"""The contract, compiled from its .proto files, and what its options say."""

import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

from google.protobuf import descriptor_pb2

HERE = pathlib.Path(__file__).resolve().parent
MODULE = HERE.parent
CONTRACT = MODULE / "Contract"
CLIENTS = MODULE.parent / "AttributionClient" / "Generated"
F = descriptor_pb2.FieldDescriptorProto
READ, NATURAL, KEYED = 1, 2, 3
# By file and place in it: the lines of a comment.
Comments = dict[tuple[str, tuple[int, ...]], list[str]]
SCALARS = {  # proto type → (Swift type, default, reader, writer)
    F.TYPE_STRING: ("String", '""', "readString", "string"),
    F.TYPE_BOOL: ("Bool", "false", "readBool", "bool"),
    F.TYPE_INT32: ("Int32", "0", "readInt32", "int"),
    F.TYPE_UINT32: ("UInt32", "0", "readUInt32", "int"),
    F.TYPE_INT64: ("Int64", "0", "readInt64", "int64"),
    F.TYPE_UINT64: ("UInt64", "0", "readUInt64", "uint64"),
    F.TYPE_DOUBLE: ("Double", "0", "readDouble", "double"),
}
SPECIAL = {".google.protobuf.Struct": "JSONObject", ".google.protobuf.Timestamp": "Timestamp"}
SCHEMAS = {
    F.TYPE_STRING: {"type": "string"}, F.TYPE_BOOL: {"type": "boolean"}, F.TYPE_INT32: {"type": "integer", "format": "int32"},
    F.TYPE_UINT32: {"type": "integer", "minimum": 0}, F.TYPE_DOUBLE: {"type": "number"},
    F.TYPE_INT64: {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}], "format": "int64"},
    F.TYPE_UINT64: {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}], "format": "uint64"},
}


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def compiled() -> tuple[list, dict]:
    """The files' descriptors and, by message or method path, the comment in front of it."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "set.bin"
        protos = sorted(str(p.relative_to(CONTRACT)) for p in CONTRACT.rglob("*.proto"))
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"-I{CONTRACT}", f"--descriptor_set_out={out}",
                        "--include_source_info", *protos], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    comments = {}
    for file in files.file:
        for location in file.source_code_info.location:
            if location.leading_comments:
                comments[(file.name, tuple(location.path))] = [line.strip() for line in location.leading_comments.strip().splitlines()]
    return [file for file in files.file if file.name != "attribution/options/v1/options.proto"], comments


def extensions(described: Any) -> dict:
    """Our extensions, read from the unknown fields of the options by their numbers: a number, or texts."""
    found: dict = {}
    data, at = described.options.SerializeToString(), 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        number = varint()
        if number & 7 == 0:
            found[number >> 3] = varint()
        elif number & 7 == 2:
            length = varint()
            text, at = data[at:at + length].decode(), at + length
            found[number >> 3] = found[number >> 3] + [text] if number >> 3 in found else [text]
        else:
            raise SystemExit(f"{described.name}: an option that is neither a number nor a text")
    return found


def options(method: descriptor_pb2.MethodDescriptorProto) -> dict:
    found = extensions(method)
    default = found.get(50002, 0)
    return {"idempotency": found.get(50001, 0), "default": default or 10_000, "max": max(found.get(50003, 0) or 60_000, default),
            "batch": bool(found.get(50004)), "get": method.options.idempotency_level == 1}


def is_open(message: descriptor_pb2.DescriptorProto) -> bool:
    """Whether members that the message does not name are kept."""
    return bool(extensions(message).get(50006))


def event_type(message: descriptor_pb2.DescriptorProto) -> str | None:
    return extensions(message).get(50007, [None])[0]


def shape(field: descriptor_pb2.FieldDescriptorProto) -> str | None:
    """The open message that says what may stand in an object that is carried as it came."""
    return extensions(field).get(50008, [None])[0]


def event_case(text: str) -> str:
    """The case of EventType for a type of events."""
    found = re.search(rf'case (\w+) = "{re.escape(text)}"', (MODULE / "EventType.swift").read_text())
    if not found:
        raise SystemExit(f"{text}: EventType has no such type")
    return found[1]


def not_empty(field: descriptor_pb2.FieldDescriptorProto) -> bool:
    """Whether a list that is given must have items."""
    if not extensions(field).get(50005):
        return False
    if not repeated(field):
        raise SystemExit(f"{field.name}: not_empty is for lists")
    return True


def doc(lines: list[str] | None, indent: str = "") -> str:
    return "".join(f"{indent}/// {line}".rstrip() + "\n" for line in lines or [])


def swift_name(type_name: str) -> str:
    return SPECIAL.get(type_name) or type_name.rsplit(".", 1)[1]


def property_name(field: descriptor_pb2.FieldDescriptorProto) -> str:
    """The JSON name, or the contract's where that is no name in Swift."""
    return field.json_name if field.json_name.isidentifier() else camel(field.name)


def repeated(field: descriptor_pb2.FieldDescriptorProto) -> bool:
    return field.label == F.LABEL_REPEATED


def base(field: descriptor_pb2.FieldDescriptorProto) -> str:
    return swift_name(field.type_name) if field.type == F.TYPE_MESSAGE else SCALARS[field.type][0]
