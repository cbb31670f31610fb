/// The value of a span's attribute.
public enum AttributeValue: Sendable, Hashable {
  case text(String)
  case integer(Int64)
  case flag(Bool)
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

/// An attribute of a span: a name of OpenTelemetry's semantic conventions, or one of ours that begins with `attribution.`, and a value. The
/// value must never be a secret, a token, a person's IP address or an advertising identifier.
public struct SpanAttribute: Sendable, Hashable {
  /// The number of characters to which longer texts are truncated, so that a span's size is limited.
  public static let maxTextLength = 256

  public let name: String
  public let value: AttributeValue

  public init(_ name: StaticString, _ value: AttributeValue) {
    self.name = name.description
    if case .text(let text) = value, text.utf8.count > Self.maxTextLength {
      self.value = .text(String(text.prefix(Self.maxTextLength)))
    } else {
      self.value = value
    }
  }

  public init(_ name: StaticString, _ text: String) { self.init(name, .text(text)) }
}

/// A finished span for export.
public struct FinishedSpan: Sendable, Hashable {
  public let context: SpanContext
  /// 0 for the first span of a trace.
  public let parentID: UInt64
  /// True if the parent is a span of another process.
  public let isParentRemote: Bool
  public let name: String
  public let kind: Span.Kind
  /// The start, in nanoseconds since 1970.
  public let started: Int64
  /// The end, in nanoseconds since 1970.
  public let ended: Int64
  public let attributes: [SpanAttribute]
  /// True if the work failed.
  public let isError: Bool
}
