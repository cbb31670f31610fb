public import WireJSON

/// A notification as Apple sends it (responseBodyV2DecodedPayload): the object that it is about, and the JWS inside it.
public struct NotificationContents: Sendable, Hashable {
  /// The JWS inside a notification.
  struct Nested: Sendable, Hashable {
    /// The member of the notification whose object contains the JWS.
    let holder: String
    let name: String
    let kind: SignedDataKind
  }

  static let nested = [
    Nested(holder: "data", name: "signedTransactionInfo", kind: .transaction),
    Nested(holder: "data", name: "signedRenewalInfo", kind: .renewalInfo),
    Nested(holder: "appData", name: "signedAppTransactionInfo", kind: .appTransaction),
  ]

  /// The members with the object that a notification is about. A notification has exactly one of them.
  private static let subjects = ["data", "appData", "summary", "externalPurchaseToken"]

  private let object: JSONObject

  public init(_ object: JSONObject) { self.object = object }

  /// The object that the notification is about; nil unless there is exactly one.
  public var subject: JSONObject? {
    let found = Self.subjects.compactMap { object[$0]?.objectValue }
    return found.count == 1 ? found[0] : nil
  }

  /// The first object that the notification could be about, for texts that are not verified.
  public var firstSubject: JSONObject? { Self.subjects.lazy.compactMap { object[$0]?.objectValue }.first }

  /// The environment of the notification's data; nil if it names none.
  var environment: String? {
    if let token = object["externalPurchaseToken"]?.objectValue {
      // An external purchase token has no environment; it follows from its id.
      guard let id = token["externalPurchaseId"]?.stringValue else { return nil }
      return ExternalPurchaseToken.server(ofId: id).rawValue
    }
    return subject?["environment"]?.stringValue
  }
}
