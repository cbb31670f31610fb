import WireJSON
import Yams

/// Formats a JSON value as YAML. A string that a reader would take for another type, such as `yes` or `12`, is quoted.
enum YAMLText {
  static func text(_ value: JSONValue) -> String { (try? Yams.serialize(node: node(value), width: -1, allowUnicode: true)) ?? "" }

  private static func node(_ value: JSONValue) -> Node {
    switch value {
    case .null: return Node("null", Tag(.null))
    case .bool(let flag): return Node(flag ? "true" : "false", Tag(.bool))
    case .number(let number): return Node(number.text, Tag(number.isPlainInteger ? .int : .float))
    case .string(let text):
      let plain = Node(text)
      let isNull = text.isEmpty || text == "~" || text.lowercased() == "null"
      let isPlain = !isNull && plain.bool == nil && plain.int == nil && plain.float == nil && plain.timestamp == nil
      return Node(text, Tag(.str), text.contains("\n") ? .literal : isPlain ? .any : .doubleQuoted)
    case .array(let elements): return Node(elements.map(node), Tag(.seq), elements.isEmpty ? .flow : .block)
    case .object(let object):
      return Node(object.members.map { (Node($0.key, Tag(.str)), node($0.value)) }, Tag(.map), object.isEmpty ? .flow : .block)
    }
  }
}
