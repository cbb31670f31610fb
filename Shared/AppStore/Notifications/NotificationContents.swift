public import WireJSON

/// The decoded payload of a notification (responseBodyV2DecodedPayload): finds the object that the notification is about, and the JWS
/// inside it. The contract's `payloads.proto` declares their members: all times are milliseconds since 1970. ``NotificationMessage`` is about the notification's message in the queue.
public struct NotificationContents: Sendable, Hashable {
  /// The position of a JWS inside a notification.
  struct Nested: Sendable, Hashable {
    /// The member of the notification whose object contains the JWS.
    let holder: String
    /// The member of that object that is the JWS.
    let name: String
    let kind: SignedDataKind
  }

  /// All JWS that a notification may contain.
  static let nested = [
    Nested(holder: "data", name: "signedTransactionInfo", kind: .transaction),
    Nested(holder: "data", name: "signedRenewalInfo", kind: .renewalInfo),
    Nested(holder: "appData", name: "signedAppTransactionInfo", kind: .appTransaction),
  ]

  /// The members for what a notification may be about. A notification has exactly one of them.
  private static let subjects = ["data", "appData", "summary", "externalPurchaseToken"]

  private let object: JSONObject

  public init(_ object: JSONObject) { self.object = object }

  /// The object that the notification is about; nil unless there is exactly one.
  public var subject: JSONObject? {
    let found = Self.subjects.compactMap { object[$0]?.objectValue }
    return found.count == 1 ? found[0] : nil
  }

  /// The first object that the notification could be about; nil if there is none. For payloads that are not verified, and may have several.
  public var firstSubject: JSONObject? { Self.subjects.lazy.compactMap { object[$0]?.objectValue }.first }

  /// The environment that the notification names; nil if it names none.
  var environment: String? {
    if let token = object["externalPurchaseToken"]?.objectValue {
      // An external purchase token has no field for the environment, but its id shows it.
      guard let id = token["externalPurchaseId"]?.stringValue else { return nil }
      return ExternalPurchaseToken.server(ofId: id).rawValue
    }
    return subject?["environment"]?.stringValue
  }
}
