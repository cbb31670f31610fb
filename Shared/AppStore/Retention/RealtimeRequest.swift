public import WireJSON

/// The body of the App Store's request for a retention message (RealtimeRequestBody). Its JWS contains a ``RealtimeRequest``.
public struct RealtimeRequestBody: Sendable, Hashable {
  /// The JWS, not verified.
  public let signedPayload: String

  /// Parses a body without verification. Throws ``RequestRefusal``.
  public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(RequestRefusal) {
    let value: JSONValue
    do { value = try JSONValue(parsing: bytes, limits: limits) } catch { throw RequestRefusal(field: error.path, error.reason) }
    guard case .object(let object) = value else { throw RequestRefusal(field: "", "must be a JSON object") }
    guard let text = object["signedPayload"]?.stringValue, !text.isEmpty else {
      throw RequestRefusal(field: "signedPayload", "must be a text, the App Store's signed request")
    }
    signedPayload = text
  }
}

/// The decoded request for a retention message. The App Store sends it when a customer looks at a subscription and may cancel it
/// (DecodedRealtimeRequestBody).
public struct RealtimeRequest: Sendable, Hashable {
  public let originalTransactionId: String
  /// Nil if the request has none, as may be in the sandbox.
  public let appAppleId: Int64?
  /// Empty if the request has none.
  public let productId: String
  /// The customer's locale as the App Store sent it; empty if the request has none.
  public let userLocale: String
  /// A UUID in lower case.
  public let requestIdentifier: String
  public let environment: String
  /// Milliseconds since 1970; the time of receipt if the request has none.
  public let signedDate: Int64
  /// The natural key of the request, made from its environment and identifier.
  public let naturalKey: String

  /// The longest text, bytes (our limit).
  private static let maxTextBytes = 256

  /// Reads a verified payload. Throws ``RequestRefusal`` with the field if it does not say which purchase it is about, or has no identifier or
  /// environment: what else is missing or invalid only leaves fewer rules that apply.
  ///
  /// - Parameter receivedAt: milliseconds since 1970.
  public init(validating payload: JSONObject, receivedAt: Int64) throws(RequestRefusal) {
    originalTransactionId = try Self.text("originalTransactionId", payload)
    appAppleId = payload["appAppleId"]?.int64Value
    productId = (try? Self.text("productId", payload)) ?? ""
    userLocale = (try? Self.text("userLocale", payload)) ?? ""
    requestIdentifier = try RetentionFieldRules.uuid(try Self.text("requestIdentifier", payload), "requestIdentifier")
    environment = try Self.text("environment", payload)
    signedDate = payload["signedDate"]?.int64Value ?? receivedAt
    naturalKey = Self.naturalKey(environment: environment, requestIdentifier: requestIdentifier)
  }

  /// ``userLocale`` as a locale; nil if it is not one.
  public var locale: LocaleTag? { LocaleTag(userLocale) }

  /// The natural key of a request.
  public static func naturalKey(environment: String, requestIdentifier: String) -> String {
    "retention:\(environment):\(requestIdentifier)"
  }

  private static func text(_ name: String, _ payload: JSONObject) throws(RequestRefusal) -> String {
    guard let text = payload[name]?.stringValue, !text.isEmpty, text.utf8.count <= maxTextBytes,
      text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else { throw RequestRefusal(field: name, "must be a text of up to \(maxTextBytes) bytes") }
    return text
  }
}
