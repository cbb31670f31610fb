"""Makes Swift messages, method tables and typed clients from the contract."""

import pathlib

from contract import (
    KEYED,
    NATURAL,
    READ,
    SCALARS,
    Comments,
    F,
    base,
    doc,
    event_case,
    event_type,
    is_open,
    not_empty,
    options,
    property_name,
    repeated,
    swift_name,
)
from google.protobuf import descriptor_pb2

OPEN_READERS = {F.TYPE_STRING: "string", F.TYPE_BOOL: "bool", F.TYPE_INT32: "int32", F.TYPE_INT64: "int64"}


def open_message(file: descriptor_pb2.FileDescriptorProto, index: int, message: descriptor_pb2.DescriptorProto, comments: Comments) -> str:
    """A message that keeps unknown members and refuses none."""
    name, fields, event = message.name, list(message.field), event_type(message)
    out = doc(comments.get((file.name, (4, index))) or [f"See `{file.name}`."])
    out += f"public struct {name}: {'EventData' if event else 'OpenMessage'} {{\n"
    if event:
        out += f"  public static let eventType = EventType.{event_case(event)}\n\n"
    for number, field in enumerate(fields):
        if not (repeated(field) or field.type == F.TYPE_MESSAGE or field.proto3_optional):
            raise SystemExit(f"{name}.{field.name}: fields of open messages are optional")
        out += doc(comments.get((file.name, (4, index, 2, number))), "  ")
        out += f"  public var {property_name(field)}: {swift_type(field, False)}\n"
    out += "  /// The members that the contract does not name, and those with a value of another type, unchanged.\n  public var other: JSONObject\n"
    out += "\n  public init(\n" + "".join(
        f"    {property_name(field)}: {swift_type(field, False)} = {default(field, False)},\n" for field in fields)
    out += "    other: JSONObject = JSONObject()\n  ) {\n"
    out += "".join(f"    self.{property_name(field)} = {property_name(field)}\n" for field in fields) + "    self.other = other\n  }\n"
    out += (
        "\n  public init(_ object: JSONObject) {\n    self.init(other: JSONObject())\n    for member in object.members {\n      switch member.key {\n"
    )
    for field in fields:
        read = open_reader(field)
        value = f"OpenValue.list(member.value, {{ {read}($0) }})" if repeated(field) else f"{read}(member.value)"
        binding = f": {swift_type(field, False).rstrip('?')}" if field.type == F.TYPE_MESSAGE else ""
        out += f'      case "{field.json_name}":\n        if let value{binding} = {value} {{\n          {property_name(field)} = value\n'
        out += "          continue\n        }\n"
    out += "      default: break\n      }\n      other.append(new: member.key, member.value)\n    }\n  }\n"
    out += "\n  public var object: JSONObject {\n    var object = JSONObject()\n"
    for field in fields:
        value = open_writer(field, "$0")
        if repeated(field):
            name = property_name(field)
            out += f'    if !{name}.isEmpty {{ object.append(new: "{field.json_name}", .array({name}.map {{ {value} }})) }}\n'
        else:
            out += f'    object.append(new: "{field.json_name}", {property_name(field)}.map {{ {value} }})\n'
    out += "    // If a property and `other` both have a member, the value of the property counts.\n"
    out += "    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }\n"
    return out + "    return object\n  }\n}\n"


def open_reader(field: descriptor_pb2.FieldDescriptorProto) -> str:
    if field.type == F.TYPE_MESSAGE:
        return {"JSONObject": "OpenValue.object", "Timestamp": "OpenValue.timestamp"}.get(base(field), "OpenValue.message")
    if field.type not in OPEN_READERS:
        raise SystemExit(f"{field.name}: open messages have no such type")
    return f"OpenValue.{OPEN_READERS[field.type]}"


def open_writer(field: descriptor_pb2.FieldDescriptorProto, value: str) -> str:
    if field.type == F.TYPE_MESSAGE:
        return {"JSONObject": f".object({value})", "Timestamp": f".string({value}.text)"}.get(base(field), f".object({value}.object)")
    return {F.TYPE_STRING: ".string", F.TYPE_BOOL: ".bool"}.get(field.type, ".integer") + f"({value})"


def swift_message(file: descriptor_pb2.FileDescriptorProto, index: int, message: descriptor_pb2.DescriptorProto, comments: Comments) -> str:
    if is_open(message):
        return open_message(file, index, message, comments)
    name = message.name
    fields = list(message.field)
    oneofs = {i: o for i, o in enumerate(message.oneof_decl) if not o.name.startswith("_")}
    in_oneof = lambda f: f.HasField("oneof_index") and f.oneof_index in oneofs  # noqa: E731
    comment = comments.get((file.name, (4, index))) or [f"See `{file.name}`."]
    out = doc(comment) + f"public struct {name}: RPCMessage, Hashable {{\n"
    for number, field in enumerate(fields):
        out += doc(comments.get((file.name, (4, index, 2, number))), "  ")
        out += f"  public var {property_name(field)}: {swift_type(field, in_oneof(field))}\n"
    if fields:
        out += "\n  public init(\n" + ",\n".join(
            f"    {property_name(field)}: {swift_type(field, in_oneof(field))} = {default(field, in_oneof(field))}" for field in fields)
        out += "\n  ) {\n" + "".join(f"    self.{property_name(field)} = {property_name(field)}\n" for field in fields) + "  }\n"
        out += "\n  public init() {\n" + "".join(
            f"    self.{property_name(field)} = {default(field, in_oneof(field))}\n" for field in fields) + "  }\n"
    else:
        out += "  public init() {}\n"
    # reading
    out += "\n  public init(reading reader: inout JSONReader) throws(JSONError) {\n    self.init()\n"
    if fields:
        out += "    var seen = FieldSet()\n"
    out += "    try reader.beginObject()\n    while let key = try reader.nextKey() {\n"
    if fields:
        out += "      do throws(JSONError) {\n        switch key {\n"
        for number, field in enumerate(fields):
            names = sorted({field.json_name, field.name}, key=lambda text: text != field.json_name)
            out += "        case " + ", ".join(f'"{text}"' for text in names) + ":\n"
            out += f"          try seen.insert({number}, key)\n"
            out += "          if try reader.readNull() { continue }\n"
            out += f"          {read(field)}\n"
            if not_empty(field):
                out += f"          if {property_name(field)}.isEmpty {{ throw JSONError(.outOfRange(\"must not be empty if it is given\")) }}\n"
            if in_oneof(field):
                others = [property_name(f) for f in fields if in_oneof(f) and f is not field and f.oneof_index == field.oneof_index]
                if others:
                    condition = " || ".join(f"{other} != nil" for other in others)
                    out += f"          if {condition} {{ throw JSONError(.outOfRange(\"only one of the alternatives may be given\")) }}\n"
        out += "        default: throw JSONError(.unknownField)\n        }\n"
        out += "      } catch {\n        throw error.inside(key)\n      }\n"
    else:
        out += "      throw JSONError(.unknownField, path: key)\n"
    out += "    }\n  }\n"
    # writing
    out += "\n  public func write(to writer: inout JSONWriter) {\n    writer.beginObject()\n"
    for field in fields:
        out += write(field, in_oneof(field))
    out += "    writer.endObject()\n  }\n}\n"
    return out


def swift_type(field: descriptor_pb2.FieldDescriptorProto, oneof: bool) -> str:
    if repeated(field):
        return f"[{base(field)}]"
    return base(field) + ("?" if field.type == F.TYPE_MESSAGE or field.proto3_optional or oneof else "")


def default(field: descriptor_pb2.FieldDescriptorProto, oneof: bool) -> str:
    if repeated(field):
        return "[]"
    return "nil" if swift_type(field, oneof).endswith("?") else SCALARS[field.type][1]


def read_one(field: descriptor_pb2.FieldDescriptorProto) -> str:
    if field.type == F.TYPE_MESSAGE:
        special = {"JSONObject": "reader.readObjectValue()", "Timestamp": "reader.readTimestamp()"}.get(base(field))
        return "try " + (special or f"{base(field)}(reading: &reader)")
    return f"try reader.{SCALARS[field.type][2]}()"


def read(field: descriptor_pb2.FieldDescriptorProto) -> str:
    if repeated(field):
        return f"{property_name(field)} = try reader.readList {{ (reader) throws(JSONError) in {read_one(field)} }}"
    return f"{property_name(field)} = {read_one(field)}"


def write_one(field: descriptor_pb2.FieldDescriptorProto, value: str) -> str:
    if field.type == F.TYPE_MESSAGE:
        return {"JSONObject": f"writer.object({value})", "Timestamp": f"writer.string({value}.text)"}.get(
            base(field), f"{value}.write(to: &writer)")
    return f"writer.{SCALARS[field.type][3]}({value})"


def write(field: descriptor_pb2.FieldDescriptorProto, oneof: bool) -> str:
    name, key = property_name(field), f'writer.key("{field.json_name}")'
    if repeated(field):
        return (f"    if !{name}.isEmpty {{\n      {key}\n      writer.beginArray()\n"
                f"      for element in {name} {{ {write_one(field, 'element')} }}\n      writer.endArray()\n    }}\n")
    if swift_type(field, oneof).endswith("?"):
        return f"    if let {name} {{\n      {key}\n      {write_one(field, name)}\n    }}\n"
    empty = {"String": f"!{name}.isEmpty", "Bool": name}.get(base(field), f"{name} != 0")
    return f"    if {empty} {{\n      {key}\n      {write_one(field, name)}\n    }}\n"


def messages_name(file: descriptor_pb2.FileDescriptorProto) -> str:
    """The name of the Swift files for the messages of a contract file: that of its service, or of the file if it has no service."""
    if file.service:
        return f"{file.service[0].name}Messages"
    return "".join(part.capitalize() for part in pathlib.Path(file.name).stem.split("_"))


HEADER = "// Generated by Generator/generate.py from the contract; change the .proto file instead.\n\n"


def swift_files(files: list[descriptor_pb2.FileDescriptorProto], comments: Comments) -> dict[str, str]:
    made = {}
    for file in files:
        chunks, part, size = [], "", 0
        for index, message in enumerate(file.message_type):
            text = swift_message(file, index, message, comments)
            if part and size + text.count("\n") > 480:
                chunks.append(part)
                part, size = "", 0
            part += "\n" + text
            size += text.count("\n")
        chunks.append(part)
        for number, chunk in enumerate(chunks):
            suffix = "" if len(chunks) == 1 else str(number + 1)
            opened = any(is_open(message) for message in file.message_type)
            made[f"{messages_name(file)}{suffix}.swift"] = HEADER + ("public " if opened else "") + "import WireJSON\n" + chunk
        if not file.service:
            continue
        service = file.service[0]
        full = f"{file.package}.{service.name}"
        out = HEADER + doc(comments.get((file.name, (6, 0)))) + f"public enum {service.name} {{\n"
        out += f'  /// The full RPC name.\n  public static let name = "{full}"\n\n'
        out += "  /// Every method, in the order of the contract.\n  public static let methods: [any RPCMethod.Type] = [\n"
        out += "".join(f"    {method.name}.self,\n" for method in service.method) + "  ]\n"
        for index, method in enumerate(service.method):
            o = options(method)
            kind = {READ: f".read(getAllowed: {'true' if o['get'] else 'false'})", NATURAL: ".natural", KEYED: ".keyed"}[o["idempotency"]]
            out += "\n" + doc(comments.get((file.name, (6, 0, 2, index))), "  ")
            out += f"  public enum {method.name}: RPCMethod {{\n"
            out += (
                f"    public typealias Request = {swift_name(method.input_type)}\n    public typealias Response = {swift_name(method.output_type)}\n"
            )
            out += f"    public static let service = {service.name}.name\n    public static let name = \"{method.name}\"\n"
            out += f"    public static let idempotency = IdempotencyClass{kind}\n"
            out += f"    public static let timeLimit = RPCTimeLimit(default: .milliseconds({o['default']}), maximum: .milliseconds({o['max']}))\n"
            out += f"    public static let isBatch = {'true' if o['batch'] else 'false'}\n  }}\n"
        made[f"{service.name}.swift"] = out + "}\n"
    return made


def client_files(files: list[descriptor_pb2.FileDescriptorProto], comments: Comments) -> dict[str, str]:
    """A structure for each service, with a function for each method."""
    made = {}
    for file in files:
        if not file.service:
            continue
        service = file.service[0]
        fields = {message.name: len(message.field) for message in file.message_type}
        out = HEADER + "public import AttributionProtocol\n\n" + doc(comments.get((file.name, (6, 0))))
        out += f"public struct {service.name}Client: Sendable {{\n  /// The client that makes the calls.\n  public let rpc: RPCClient\n\n"
        out += "  public init(_ rpc: RPCClient) { self.rpc = rpc }\n"
        for index, method in enumerate(service.method):
            request, response = swift_name(method.input_type), swift_name(method.output_type)
            absent = f" = {request}()" if fields.get(request) == 0 else ""
            out += "\n" + doc(comments.get((file.name, (6, 0, 2, index))), "  ")
            out += f"  public func {method.name[0].lower() + method.name[1:]}(_ request: {request}{absent}, options: CallOptions = CallOptions()) "
            out += f"async throws(RPCError) -> {response} {{\n"
            out += f"    try await rpc.call({service.name}.{method.name}.self, request, options)\n  }}\n"
        made[f"{service.name}Client.swift"] = out + "}\n"
    return made
