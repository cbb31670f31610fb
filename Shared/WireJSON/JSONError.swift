/// Why a text is not the expected JSON, with the path of the value where the error is.
///
/// A text must follow RFC 8259. Stricter than the RFC, it must not begin with a byte-order mark, names in an object must not repeat, and
/// strings must not contain lone surrogates. ``JSONLimits`` limits the depth and the number of values.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable {
    /// The text is not JSON. The text says what is wrong, and `offset` is the byte at which reading stopped.
    case syntax(String, offset: Int)
    /// An object has this name twice.
    case duplicateKey(String)
    /// Objects and arrays are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The document has more values than the limit.
    case tooManyValues(limit: Int)
    /// The value has another JSON type than the expected one, which is described with an article, such as `a string`.
    case wrongType(expected: String)
    /// The value has the right type, but the field does not allow it. The text is the whole reason.
    case outOfRange(String)
    /// The message has no field of this name.
    case unknownField
  }

  public var kind: Kind
  /// The path of the value, such as `items[3].fidelityType`; empty for the whole document.
  public var path: String

  public init(_ kind: Kind, path: String = "") {
    self.kind = kind
    self.path = path
  }

  /// The same error with a component before its path: for the path `fidelityType`, `inside("items[3]")` gives `items[3].fidelityType`.
  public func inside(_ component: String) -> JSONError {
    if path.isEmpty { return JSONError(kind, path: component) }
    return JSONError(kind, path: path.hasPrefix("[") ? component + path : component + "." + path)
  }

  /// What is wrong, without the path. It contains no value of the document, so it can be logged.
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
