"""What the contract has promised: its methods, fields and values, which never change.

`Contract/promises.txt` has a line for each. A new one is added when the contract is made; one that is removed, renamed, renumbered or of
another type is refused, since other systems rely on it.
"""

from google.protobuf import descriptor_pb2

F = descriptor_pb2.FieldDescriptorProto


def promises(files: list[descriptor_pb2.FileDescriptorProto]) -> list[str]:
    """The lines of what the files contain, in order of their names."""
    lines: list[str] = []
    for file in files:
        for service in file.service:
            for method in service.method:
                lines.append(f"{file.package}.{service.name}/{method.name} ({method.input_type[1:]}) returns ({method.output_type[1:]})")
        for message in file.message_type:
            lines += of_message(file.package, message)
        for values in file.enum_type:
            lines += [f"{file.package}.{values.name}.{value.name} = {value.number}" for value in values.value]
    return sorted(lines)


def of_message(scope: str, message: descriptor_pb2.DescriptorProto) -> list[str]:
    name = f"{scope}.{message.name}"
    lines = [f"{name}"]
    for field in message.field:
        kind = field.type_name[1:] if field.type_name else F.Type.Name(field.type).removeprefix("TYPE_").lower()
        many = "repeated " if field.label == F.LABEL_REPEATED else ""
        lines.append(f"{name}.{field.name} = {field.number} {many}{kind} {field.json_name}")
    for nested in message.nested_type:
        if nested.options.map_entry:
            raise SystemExit(f"{name}: the contract has no map fields; an object with any members is a google.protobuf.Struct")
        lines += of_message(name, nested)
    for values in message.enum_type:
        lines += [f"{name}.{values.name}.{value.name} = {value.number}" for value in values.value]
    return lines


def kept(promised: list[str], current: list[str]) -> list[str]:
    """All promises, with those that are new. Exits if one is not kept."""
    broken = sorted(set(promised) - set(current))
    if broken:
        raise SystemExit("the contract has promised what it no longer has; add a successor instead:\n  " + "\n  ".join(broken))
    return current
