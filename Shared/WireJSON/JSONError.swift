/// Why a text is not the expected JSON, with the position.
///
/// The rules are strict RFC 8259, no repeated names in an object, no lone surrogates, no byte-order mark, nothing after the document,
/// bounded depth and count.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable {
    /// Not JSON at all; `offset` is the byte where reading stopped.
    case syntax(String, offset: Int)
    /// An object has the same name twice.
    case duplicateKey(String)
    /// Deeper than the limit allows.
    case tooDeep(limit: Int)
    /// More values than the limit allows.
    case tooManyValues(limit: Int)
    /// JSON of another type than the expected one.
    case wrongType(expected: String)
    /// A number or text outside of what this field can hold.
    case outOfRange(String)
    /// A field that the message does not have.
    case unknownField
  }

  public var kind: Kind
  /// The path: `items[3].fidelityType`; empty for the whole document.
  public var path: String

  public init(_ kind: Kind, path: String = "") {
    self.kind = kind
    self.path = path
  }

  /// The error with the path of the containing object: `inside("items[3]")`.
  public func inside(_ component: String) -> JSONError {
    if path.isEmpty { return JSONError(kind, path: component) }
    return JSONError(kind, path: path.hasPrefix("[") ? component + path : component + "." + path)
  }

  /// What is wrong, without the path and without any value of the document.
  public var reason: String {
    switch kind {
    case .syntax(let what, let offset): "not valid JSON: \(what) at byte \(offset)"
    case .duplicateKey: "the same name occurs twice in one object"
    case .tooDeep(let limit): "nested deeper than \(limit) levels"
    case .tooManyValues(let limit): "more than \(limit) values"
    case .wrongType(let expected): "must be \(expected)"
    case .outOfRange(let what): what
    case .unknownField: "unknown field"
    }
  }

  public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}
