"""The RPC reference and the event reference, made of the contract."""

from contract import KEYED, NATURAL, READ, Comments, F, event_type, is_open, options, repeated, shape, swift_name
from google.protobuf import descriptor_pb2

PORTS = {"IngestService": ("ingest", 8090), "SignerService": ("signer", 8091), "VerifierService": ("verifier", 8092),
         "EventsService": ("verifier", 8092), "NotificationRecoveryService": ("notification-recovery", 8093),
         "RetentionService": ("notification-recovery", 8093), "AdvancedCommerceService": ("notification-recovery", 8093),
         "ExternalPurchaseService": ("notification-recovery", 8093), "TokenBrokerService": ("asa-token-broker", 8094),
         "QueuesService": ("every service that works a queue", None), "DiagnosticsService": ("every service", None),
         "RetentionDecisionService": ("a server of yours, which ingest calls", None)}
SCALAR_NAMES = {F.TYPE_STRING: "string", F.TYPE_BOOL: "bool", F.TYPE_INT32: "int32", F.TYPE_UINT32: "uint32", F.TYPE_INT64: "int64",
                F.TYPE_UINT64: "uint64", F.TYPE_DOUBLE: "double"}


def reference(files: list[descriptor_pb2.FileDescriptorProto], comments: Comments) -> str:
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

    def text(lines: list[str] | None) -> str:
        return " ".join(lines or []).replace("|", "\\|")

    def kind(field: descriptor_pb2.FieldDescriptorProto) -> str:
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

    def table(file: descriptor_pb2.FileDescriptorProto, message: descriptor_pb2.DescriptorProto) -> str:
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


def event_reference(files: list[descriptor_pb2.FileDescriptorProto], comments: Comments) -> str:
    """The data of events and Apple's objects in them."""

    def text(lines: list[str] | None) -> str:
        return " ".join(lines or []).replace("|", "\\|")

    def kind(field: descriptor_pb2.FieldDescriptorProto) -> str:
        if field.type == F.TYPE_MESSAGE:
            special = {".google.protobuf.Struct": "object", ".google.protobuf.Timestamp": "time (RFC 3339)"}.get(field.type_name)
            message = swift_name(field.type_name)
            name = special or f"[{message}](#{message.lower()})"
        else:
            name = SCALAR_NAMES[field.type]
        return ("list of " if repeated(field) else "") + name

    def section(file: descriptor_pb2.FileDescriptorProto, index: int, message: descriptor_pb2.DescriptorProto) -> str:
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
