"""promises.txt lists the names, numbers and types of the contract on which other systems rely: a change that breaks one is refused."""

from __future__ import annotations

import sys

import pytest
from google.protobuf import descriptor_pb2

from Deployment.repository.test_documentation import ROOT

sys.path.insert(0, str(ROOT / "Shared" / "AttributionProtocol" / "Generator"))
from promises import kept, promises

F = descriptor_pb2.FieldDescriptorProto


def contract() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(package="a.v1")
    message = file.message_type.add(name="Asked")
    message.field.add(name="app_id", json_name="appId", number=1, type=F.TYPE_INT64, label=F.LABEL_OPTIONAL)
    file.service.add(name="S").method.add(name="Ask", input_type=".a.v1.Asked", output_type=".a.v1.Asked")
    file.enum_type.add(name="Colour").value.add(name="RED", number=0)
    return file


def changed(change: str) -> descriptor_pb2.FileDescriptorProto:
    file = contract()
    field = file.message_type[0].field[0]
    changes = {
        "the field is gone": file.message_type[0].field.pop,
        "the field has another number": lambda: setattr(field, "number", 2),
        "the field has another type": lambda: setattr(field, "type", F.TYPE_STRING),
        "the field is a list": lambda: setattr(field, "label", F.LABEL_REPEATED),
        "the field has another JSON name": lambda: setattr(field, "json_name", "app"),
        "the method is gone": file.service[0].method.pop,
        "the method answers another message": lambda: setattr(file.service[0].method[0], "output_type", ".a.v1.Other"),
        "the message is gone": file.message_type.pop,
        "the value has another number": lambda: setattr(file.enum_type[0].value[0], "number", 1),
    }
    changes[change]()
    return file


@pytest.mark.parametrize("change", [
    "the field is gone", "the field has another number", "the field has another type", "the field is a list", "the field has another JSON name",
    "the method is gone", "the method answers another message", "the message is gone", "the value has another number"])
def test_a_promise_that_is_broken_is_refused(change: str) -> None:
    with pytest.raises(SystemExit, match="has promised"):
        kept(promises([contract()]), promises([changed(change)]))


def test_an_added_field_becomes_a_promise() -> None:
    file = contract()
    file.message_type[0].field.add(name="note", json_name="note", number=2, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    now = kept(promises([contract()]), promises([file]))
    assert set(now) - set(promises([contract()])) == {"a.v1.Asked.note = 2 string note"}


def test_a_map_field_is_refused() -> None:
    file = contract()
    file.message_type[0].nested_type.add(name="LabelsEntry").options.map_entry = True
    with pytest.raises(SystemExit, match="Struct"):
        promises([file])


def test_every_promised_method_is_in_openapi_json() -> None:
    """openapi.json is the document that callers read, and is generated separately."""
    lines = (ROOT / "Shared" / "AttributionProtocol" / "Contract" / "promises.txt").read_text().splitlines()
    methods = {line.split(" ")[0] for line in lines if ") returns (" in line}
    text = (ROOT / "Shared" / "AttributionProtocol" / "Contract" / "openapi.json").read_text()
    assert len(methods) > 80 and all(f'"/{method}"' in text for method in methods)
