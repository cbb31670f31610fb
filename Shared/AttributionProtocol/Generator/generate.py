"""Makes the Swift messages, the method tables, the typed clients and openapi.json from the .proto files beside this folder.

    python3 generate.py            writes Generated/**/*.swift, here and in AttributionClient, Contract/openapi.json and
                                   Documentation/rpc-reference.md and event-reference.md
    python3 generate.py --check    says what would change, and fails if anything would
"""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

HERE = pathlib.Path(__file__).resolve().parent
MODULE = HERE.parent
CONTRACT = MODULE / "Contract"
CLIENTS = MODULE.parent / "AttributionClient" / "Generated"
F = descriptor_pb2.FieldDescriptorProto

READ, NATURAL, KEYED = 1, 2, 3
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


def extensions(described) -> dict:
    """Our extensions, read from the unknown fields of the options by their numbers: a number, or texts."""
    found: dict = {}
    data, at = described.options.SerializeToString(), 0

    def varint():
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


def options(method) -> dict:
    found = extensions(method)
    default = found.get(50002, 0)
    return {"idempotency": found.get(50001, 0), "default": default or 10_000, "max": max(found.get(50003, 0) or 60_000, default),
            "batch": bool(found.get(50004)), "get": method.options.idempotency_level == 1}


def is_open(message) -> bool:
    """Whether members that the message does not name are kept."""
    return bool(extensions(message).get(50006))


def event_type(message) -> str | None:
    return extensions(message).get(50007, [None])[0]


def shape(field) -> str | None:
    """The open message that says what may stand in an object that is carried as it came."""
    return extensions(field).get(50008, [None])[0]


def event_case(text: str) -> str:
    """The case of EventType for a type of events."""
    found = re.search(rf'case (\w+) = "{re.escape(text)}"', (MODULE / "EventType.swift").read_text())
    if not found:
        raise SystemExit(f"{text}: EventType has no such type")
    return found[1]


def not_empty(field) -> bool:
    """Whether a list that is given must have items."""
    if not extensions(field).get(50005):
        return False
    if not repeated(field):
        raise SystemExit(f"{field.name}: not_empty is for lists")
    return True


def doc(lines, indent: str = "") -> str:
    return "".join(f"{indent}/// {line}".rstrip() + "\n" for line in lines or [])


def swift_name(type_name: str) -> str:
    return SPECIAL.get(type_name) or type_name.rsplit(".", 1)[1]


OPEN_READERS = {F.TYPE_STRING: "string", F.TYPE_BOOL: "bool", F.TYPE_INT32: "int32", F.TYPE_INT64: "int64"}


def open_message(file, index, message, comments) -> str:
    """A message that keeps what it does not know, and refuses nothing."""
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
    out += "  /// Members that are none of these, or of another type, as they came.\n  public var other: JSONObject\n"
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
    out += "    // A member that was set twice, once by its name and once among the others, is the one that has a name.\n"
    out += "    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }\n"
    return out + "    return object\n  }\n}\n"


def open_reader(field) -> str:
    if field.type == F.TYPE_MESSAGE:
        return {"JSONObject": "OpenValue.object", "Timestamp": "OpenValue.timestamp"}.get(base(field), "OpenValue.message")
    if field.type not in OPEN_READERS:
        raise SystemExit(f"{field.name}: open messages have no such type")
    return f"OpenValue.{OPEN_READERS[field.type]}"


def open_writer(field, value: str) -> str:
    if field.type == F.TYPE_MESSAGE:
        return {"JSONObject": f".object({value})", "Timestamp": f".string({value}.text)"}.get(base(field), f".object({value}.object)")
    return {F.TYPE_STRING: ".string", F.TYPE_BOOL: ".bool"}.get(field.type, ".integer") + f"({value})"


def swift_message(file, index, message, comments) -> str:
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
                out += f"          if {property_name(field)}.isEmpty {{ throw JSONError(.outOfRange(\"must not be empty where it is given\")) }}\n"
            if in_oneof(field):
                others = [property_name(f) for f in fields if in_oneof(f) and f is not field and f.oneof_index == field.oneof_index]
                if others:
                    condition = " || ".join(f"{other} != nil" for other in others)
                    out += f"          if {condition} {{ throw JSONError(.outOfRange(\"only one of its kinds may stand in an item\")) }}\n"
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


def property_name(field) -> str:
    """The JSON name, or the contract's where that is no name in Swift."""
    return field.json_name if field.json_name.isidentifier() else camel(field.name)


def repeated(field) -> bool:
    return field.label == F.LABEL_REPEATED


def base(field) -> str:
    return swift_name(field.type_name) if field.type == F.TYPE_MESSAGE else SCALARS[field.type][0]


def swift_type(field, oneof: bool) -> str:
    if repeated(field):
        return f"[{base(field)}]"
    return base(field) + ("?" if field.type == F.TYPE_MESSAGE or field.proto3_optional or oneof else "")


def default(field, oneof: bool) -> str:
    if repeated(field):
        return "[]"
    return "nil" if swift_type(field, oneof).endswith("?") else SCALARS[field.type][1]


def read_one(field) -> str:
    if field.type == F.TYPE_MESSAGE:
        special = {"JSONObject": "reader.readObjectValue()", "Timestamp": "reader.readTimestamp()"}.get(base(field))
        return "try " + (special or f"{base(field)}(reading: &reader)")
    return f"try reader.{SCALARS[field.type][2]}()"


def read(field) -> str:
    if repeated(field):
        return f"{property_name(field)} = try reader.readList {{ (reader) throws(JSONError) in {read_one(field)} }}"
    return f"{property_name(field)} = {read_one(field)}"


def write_one(field, value: str) -> str:
    if field.type == F.TYPE_MESSAGE:
        return {"JSONObject": f"writer.object({value})", "Timestamp": f"writer.string({value}.text)"}.get(
            base(field), f"{value}.write(to: &writer)")
    return f"writer.{SCALARS[field.type][3]}({value})"


def write(field, oneof: bool) -> str:
    name, key = property_name(field), f'writer.key("{field.json_name}")'
    if repeated(field):
        return (f"    if !{name}.isEmpty {{\n      {key}\n      writer.beginArray()\n"
                f"      for element in {name} {{ {write_one(field, 'element')} }}\n      writer.endArray()\n    }}\n")
    if swift_type(field, oneof).endswith("?"):
        return f"    if let {name} {{\n      {key}\n      {write_one(field, name)}\n    }}\n"
    empty = {"String": f"!{name}.isEmpty", "Bool": name}.get(base(field), f"{name} != 0")
    return f"    if {empty} {{\n      {key}\n      {write_one(field, name)}\n    }}\n"


def messages_name(file) -> str:
    """What the Swift files of a file's messages are called: after its service, or after itself where it has none."""
    if file.service:
        return f"{file.service[0].name}Messages"
    return "".join(part.capitalize() for part in pathlib.Path(file.name).stem.split("_"))


HEADER = "// Made by Generator/generate.py from the contract; change the .proto file instead.\n\n"


def swift_files(files, comments) -> dict[str, str]:
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


def client_files(files, comments) -> dict[str, str]:
    """A structure for each service, with a function for each method."""
    made = {}
    for file in files:
        if not file.service:
            continue
        service = file.service[0]
        fields = {message.name: len(message.field) for message in file.message_type}
        out = HEADER + "public import AttributionProtocol\n\n" + doc(comments.get((file.name, (6, 0))))
        out += f"public struct {service.name}Client: Sendable {{\n  /// What carries the calls.\n  public let rpc: RPCClient\n\n"
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


def schema_of(field, opened: bool = False) -> dict:
    if field.type == F.TYPE_MESSAGE and shape(field):
        one = {"$ref": f"#/components/schemas/{shape(field).rsplit('.', 1)[1]}"}
    elif opened and field.type == F.TYPE_INT64:
        # Apple's own numbers stay numbers.
        one = {"type": "integer", "format": "int64"}
    elif field.type == F.TYPE_MESSAGE:
        one = {".google.protobuf.Struct": {"type": "object", "additionalProperties": True},
               ".google.protobuf.Timestamp": {"type": "string", "format": "date-time"}}.get(
            field.type_name) or {"$ref": f"#/components/schemas/{swift_name(field.type_name)}"}
    else:
        one = dict(SCHEMAS[field.type])
    if not repeated(field):
        return one
    return {"type": "array", "items": one} | ({"minItems": 1} if not_empty(field) else {})


def openapi(files, comments) -> dict:
    error = {"description": "An RPC error; `code` decides.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    schemas: dict = {"Error": {
        "type": "object", "required": ["code", "message"], "properties": {
            "code": {"type": "string", "enum": [
                "canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
                "resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal", "unavailable",
                "data_loss", "unauthenticated"]},
            "message": {"type": "string"},
            "details": {"type": "array", "items": {"type": "object", "required": ["type", "value"], "properties": {
                "type": {"type": "string"}, "value": {"type": "string"}, "debug": {"type": "object", "additionalProperties": True}}}}}}}
    paths: dict = {}
    for file in files:
        for index, message in enumerate(file.message_type):
            properties = {}
            for number, field in enumerate(message.field):
                one = schema_of(field, is_open(message))
                comment = comments.get((file.name, (4, index, 2, number)))
                if comment:
                    one = {**one, "description": " ".join(comment)}
                properties[field.json_name] = one
            schemas[message.name] = {"type": "object", "properties": properties,
                                     "additionalProperties": not message.name.endswith("Request")}
            comment = comments.get((file.name, (4, index)))
            if comment:
                schemas[message.name]["description"] = " ".join(comment)
            if event_type(message):
                schemas[message.name]["x-event-type"] = event_type(message)
        for index, method in enumerate(file.service[0].method if file.service else []):
            service = file.service[0]
            o = options(method)
            response = {"200": {"description": "Done.", "content": {"application/json": {
                "schema": {"$ref": f"#/components/schemas/{swift_name(method.output_type)}"}}}}, "default": error}
            common = {"tags": [f"{file.package}.{service.name}"], "summary": " ".join(comments.get((file.name, (6, 0, 2, index)), [])),
                      "x-idempotency": {READ: "read", NATURAL: "natural", KEYED: "keyed"}[o["idempotency"]],
                      "x-default-timeout-ms": o["default"], "x-max-timeout-ms": o["max"], "x-batch": o["batch"],
                      "security": [{"bearer": []}]}
            post = {"operationId": method.name, **common, "requestBody": {"required": True, "content": {"application/json": {
                "schema": {"$ref": f"#/components/schemas/{swift_name(method.input_type)}"}}}}, "responses": response}
            if o["idempotency"] != READ:
                post["parameters"] = [{"name": "Idempotency-Key", "in": "header", "required": o["idempotency"] == KEYED,
                                       "schema": {"type": "string", "minLength": 1, "maxLength": 255}}]
            path = {"post": post}
            if o["get"]:
                path["get"] = {"operationId": f"{method.name}ByGet", **common, "parameters": [
                    {"name": "encoding", "in": "query", "required": True, "schema": {"const": "json"}},
                    {"name": "message", "in": "query", "required": True, "schema": {"type": "string"}},
                    {"name": "base64", "in": "query", "schema": {"const": "1"}},
                    {"name": "compression", "in": "query", "schema": {"enum": ["identity", "gzip"]}},
                    {"name": "connect", "in": "query", "schema": {"const": "v1"}}], "responses": response}
            paths[f"/{file.package}.{service.name}/{method.name}"] = path
    schemas |= json.loads((HERE / "public-routes.json").read_text())["schemas"]
    paths |= json.loads((HERE / "public-routes.json").read_text())["paths"]
    return {"openapi": "3.1.0", "info": {"title": "Apple attribution services", "version": "1",
                    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "RPC by the Connect unary protocol "
                           "with JSON on the internal ports; the tag `public` marks what ingest serves on its public port."},
            "servers": [{"url": "http://127.0.0.1:8080", "description": "ingest, public"}] + [
                {"url": f"http://127.0.0.1:{port}", "description": name} for name, port in (
                    ("ingest, internal", 8090), ("signer", 8091), ("verifier and event feed", 8092),
                    ("notification-recovery", 8093), ("asa-token-broker", 8094))],
            "paths": paths, "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}, "schemas": schemas}}


PORTS = {"IngestService": ("ingest", 8090), "SignerService": ("signer", 8091), "VerifierService": ("verifier", 8092),
         "EventsService": ("verifier", 8092), "NotificationRecoveryService": ("notification-recovery", 8093),
         "RetentionService": ("notification-recovery", 8093), "AdvancedCommerceService": ("notification-recovery", 8093),
         "ExternalPurchaseService": ("notification-recovery", 8093), "TokenBrokerService": ("asa-token-broker", 8094),
         "QueuesService": ("every service that works a queue", None), "DiagnosticsService": ("every service", None),
         "RetentionDecisionService": ("a server of yours, which ingest calls", None)}
SCALAR_NAMES = {F.TYPE_STRING: "string", F.TYPE_BOOL: "bool", F.TYPE_INT32: "int32", F.TYPE_UINT32: "uint32", F.TYPE_INT64: "int64",
                F.TYPE_UINT64: "uint64", F.TYPE_DOUBLE: "double"}


def reference(files, comments) -> str:
    """The contract for reading: each method with its message, its answer and how it may be called."""
    out = """# RPC reference

Made by `Shared/AttributionProtocol/Generator/generate.py` from the `.proto` files; change these instead.

Each method is `POST /PACKAGE.SERVICE/METHOD` with a JSON body and `Content-Type: application/json`, \
by Connect's unary protocol; `{}` is the empty message.
Names in JSON are those below. Absent and null are the same. 64-bit integers come as numbers up to 2^53 and as texts beyond. How often a call may be
made: **read** any number of times, **natural** too, since the message names what it is about, **keyed** once for each `Idempotency-Key`, which
is required then. Errors are `{"code": …, "message": …, "details": […]}`.

"""

    def anchor(name: str) -> str:
        return name.lower()

    def page(type_name: str) -> str:
        """Where a message is described, seen from this page."""
        return "event-reference.md" if swift_name(type_name) in opened else ""

    opened = {message.name for file in files for message in file.message_type if is_open(message)}
    # A message that a method is asked or answered with stands below that method.
    below = {swift_name(name): method.name for file in files for service in file.service for method in reversed(service.method)
             for name in (method.input_type, method.output_type)}
    served = sorted((file for file in files if file.service), key=lambda file: list(PORTS).index(file.service[0].name))

    def text(lines) -> str:
        return " ".join(lines or []).replace("|", "\\|")

    def kind(field) -> str:
        if field.type == F.TYPE_MESSAGE:
            special = {".google.protobuf.Struct": "object", ".google.protobuf.Timestamp": "time (RFC 3339)"}.get(field.type_name)
            message = swift_name(field.type_name)
            name = special or f"[{message}]({page(field.type_name)}#{anchor(below.get(message, message))})"
            if shape(field):
                kept = swift_name(shape(field))
                name = f"object ([{kept}]({page(shape(field))}#{anchor(kept)}))"
        else:
            name = SCALAR_NAMES[field.type]
        return ("list of " if repeated(field) else "") + name

    def table(file, message) -> str:
        index = list(file.message_type).index(message)
        if not message.field:
            return "No fields.\n"
        rows = "| field | type | meaning |\n| --- | --- | --- |\n"
        for number, field in enumerate(message.field):
            meaning = text(comments.get((file.name, (4, index, 2, number))))
            rows += f"| `{field.json_name}` | {kind(field)} | {meaning} |\n"
        return rows

    for file in served:
        out += f"- [{file.service[0].name}](#{anchor(file.service[0].name)})\n"
    for file in served:
        service = file.service[0]
        answered, port = PORTS[service.name]
        out += f"\n## {service.name}\n\n{text(comments.get((file.name, (6, 0))))} `{file.package}.{service.name}`, answered by {answered}"
        out += f", port {port}.\n" if port else ".\n"
        messages = {message.name: message for message in file.message_type}
        asked = {swift_name(method.input_type) for method in service.method} | {swift_name(method.output_type) for method in service.method}
        for index, method in enumerate(service.method):
            o = options(method)
            calls = {READ: "read", NATURAL: "natural", KEYED: "keyed"}[o["idempotency"]]
            out += f"\n### {method.name}\n\n{text(comments.get((file.name, (6, 0, 2, index))))}\n\n"
            out += f"{calls.capitalize()}; {o['default'] / 1000:g} s unless asked otherwise, at most {o['max'] / 1000:g} s"
            out += "; by GET too" if o["get"] else ""
            out += "; up to 1,000 items.\n" if o["batch"] else ".\n"
            for title, name in (("Asked with", swift_name(method.input_type)), ("Answered with", swift_name(method.output_type))):
                comment = text(comments.get((file.name, (4, list(file.message_type).index(messages[name])))))
                out += f"\n{title} `{name}`. {comment}".rstrip() + f"\n\n{table(file, messages[name])}"
        others = [message for message in file.message_type if message.name not in asked]
        for message in others:
            comment = text(comments.get((file.name, (4, list(file.message_type).index(message)))))
            out += f"\n### {message.name}\n\n" + (f"{comment}\n\n" if comment else "") + table(file, message)
    return out


EVENTS = """# Event reference

Made by `Shared/AttributionProtocol/Generator/generate.py` from the `.proto` files; change these instead.

An event is a CloudEvent 1.0; [the feed](feed.md) says how to get at it. Below is what stands in its `data`, by its `type`, and behind that Apple's
objects. These are carried under Apple's names with every member that Apple sent: a member that is not listed is there all the same, and one that is
listed may be absent. Fields are added, \
so pass over what you do not know. `CloudEvent.data(as:)` of the Swift library reads them typed and keeps the rest.

"""


def event_reference(files, comments) -> str:
    """The data of events and Apple's objects in them."""

    def text(lines) -> str:
        return " ".join(lines or []).replace("|", "\\|")

    def kind(field) -> str:
        if field.type == F.TYPE_MESSAGE:
            special = {".google.protobuf.Struct": "object", ".google.protobuf.Timestamp": "time (RFC 3339)"}.get(field.type_name)
            message = swift_name(field.type_name)
            name = special or f"[{message}](#{message.lower()})"
        else:
            name = SCALAR_NAMES[field.type]
        return ("list of " if repeated(field) else "") + name

    def section(file, index, message) -> str:
        comment = text(comments.get((file.name, (4, index))))
        title = f"`{event_type(message)}`. " if event_type(message) else ""
        rows = f"\n### {message.name}\n\n{title}{comment}".rstrip() + "\n\n| field | type | meaning |\n| --- | --- | --- |\n"
        for number, field in enumerate(message.field):
            meaning = text(comments.get((file.name, (4, index, 2, number))))
            rows += f"| `{field.json_name}` | {kind(field)} | {meaning} |\n"
        return rows

    found = [(file, index, message) for file in files for index, message in enumerate(file.message_type) if is_open(message)]
    out = EVENTS + "| type | data |\n| --- | --- |\n"
    for _, _, message in found:
        if event_type(message):
            out += f"| `{event_type(message)}` | [{message.name}](#{message.name.lower()}) |\n"
    out += "\n## Data of events\n"
    files_of_events = {file.name for file, _, message in found if event_type(message)}
    out += "".join(section(*one) for one in found if one[0].name in files_of_events)
    out += "\n## Apple's objects\n"
    return out + "".join(section(*one) for one in found if one[0].name not in files_of_events)


def formatted(made: dict[str, str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in made.items():
            (pathlib.Path(folder) / name).write_text(text)
        configuration = MODULE.parent.parent / ".swift-format"
        subprocess.run(["swift", "format", "-i", "--parallel", "--recursive", "--configuration", str(configuration), folder], check=True)
        return {name: (pathlib.Path(folder) / name).read_text() for name in made}


def folder_of(name: str) -> str:
    """The folder of a generated file: the service or the file of the contract that it is made from."""
    return re.sub(r"(Messages)?\d*\.swift$", "", name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    files, comments = compiled()
    made = {MODULE / "Generated" / folder_of(name) / name: text for name, text in formatted(swift_files(files, comments)).items()}
    made |= {CLIENTS / name: text for name, text in formatted(client_files(files, comments)).items()}
    made[MODULE.parent.parent / "Documentation" / "rpc-reference.md"] = reference(files, comments)
    made[MODULE.parent.parent / "Documentation" / "event-reference.md"] = event_reference(files, comments)
    made[CONTRACT / "openapi.json"] = json.dumps(openapi(files, comments), indent=1, ensure_ascii=False) + "\n"
    stale = [path for folder in (MODULE / "Generated", CLIENTS) for path in folder.rglob("*.swift") if path not in made]
    different = False
    for path, text in made.items():
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        different = True
        if check:
            sys.stdout.writelines(list(difflib.unified_diff(old.splitlines(True), text.splitlines(True), str(path), "as made"))[:40])
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in stale:
        different = True
        print(f"{path}: no longer made from the contract")
        if not check:
            path.unlink()
    if check and different:
        raise SystemExit("the contract and what is made from it differ: run generate.py")


if __name__ == "__main__":
    main()
