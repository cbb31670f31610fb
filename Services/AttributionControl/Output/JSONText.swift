import WireJSON

/// Formats JSON with an indentation of two spaces. Members keep their order, and numbers keep their digits.
enum JSONText {
  static func text(_ value: JSONValue) -> String {
    var text = ""
    write(value, indent: "", to: &text)
    return text + "\n"
  }

  private static func write(_ value: JSONValue, indent: String, to text: inout String) {
    let inner = indent + "  "
    switch value {
    case .object(let object) where !object.isEmpty:
      text += "{\n"
      for (index, member) in object.members.enumerated() {
        text += inner + JSONValue.string(member.key).serializedString + ": "
        write(member.value, indent: inner, to: &text)
        text += index + 1 == object.members.count ? "\n" : ",\n"
      }
      text += indent + "}"
    case .array(let elements) where !elements.isEmpty:
      text += "[\n"
      for (index, element) in elements.enumerated() {
        text += inner
        write(element, indent: inner, to: &text)
        text += index + 1 == elements.count ? "\n" : ",\n"
      }
      text += indent + "]"
    default: text += value.serializedString
    }
  }
}
