"""openapi.json, made of the contract."""

import json

from contract import HERE, KEYED, NATURAL, READ, SCHEMAS, Comments, F, event_type, is_open, not_empty, options, repeated, shape, swift_name
from google.protobuf import descriptor_pb2


def schema_of(field: descriptor_pb2.FieldDescriptorProto, opened: bool = False) -> dict:
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


def openapi(files: list[descriptor_pb2.FileDescriptorProto], comments: Comments) -> dict:
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
