public import WireJSON

/// The decoded payload of a notification (responseBodyV2DecodedPayload): finds the objects that the notification is about, and the JWS
/// inside them. The contract's `payloads.proto` declares their members: all times are milliseconds since 1970. ``NotificationMessage`` is
/// about the notification's message in the queue.
///
/// Apple adds types of notifications, and with them objects. So an object under any name is read, and a notification is never refused
/// because of its type or of the names of its objects.
public struct NotificationContents: Sendable, Hashable {
  /// An object that may name the app and the environment, and contain JWS.
  struct Holder: Sendable, Hashable {
    /// The name of the object's member in the payload; nil for the payload itself.
    let name: String?
    let object: JSONObject

    /// The environment that the object names; nil if it names none.
    var environment: String? {
      // An external purchase token has no field for the environment, but its id shows it.
      if name == "externalPurchaseToken", let id = object["externalPurchaseId"]?.stringValue {
        return ExternalPurchaseToken.server(ofId: id).rawValue
      }
      return object.nonEmptyText("environment")
    }
  }

  /// The names of the objects that a notification may be about, and that this version knows.
  private static let knownNames = ["data", "appData", "summary", "externalPurchaseToken"]

  /// The names of the members of the payload that are about nothing, whatever type their value has.
  private static let plainNames = ["notificationType", "subtype", "notificationUUID", "version", "signedDate"]

  /// The names of the JWS that an object may contain.
  private static let signedMembers: [(name: String, kind: SignedDataKind)] = [
    ("signedTransactionInfo", .transaction), ("signedRenewalInfo", .renewalInfo), ("signedAppTransactionInfo", .appTransaction),
  ]

  let payload: JSONObject
  /// The objects in groups: what an earlier group names counts before what a later one names. First the objects that this version knows,
  /// then the payload itself, then its other objects.
  let holders: [[Holder]]

  public init(_ payload: JSONObject) {
    self.payload = payload
    var known: [Holder] = []
    var others: [Holder] = []
    for member in payload.members {
      guard let object = member.value.objectValue, !Self.plainNames.contains(member.key) else { continue }
      if Self.knownNames.contains(member.key) {
        known.append(Holder(name: member.key, object: object))
      } else {
        others.append(Holder(name: member.key, object: object))
      }
    }
    holders = [known, [Holder(name: nil, object: payload)], others]
  }

  /// The notification's UUID; nil if it has none.
  public var uuid: String? { payload.nonEmptyText("notificationUUID") }

  /// The JWS inside the notification. All transactions come first, and those of objects that this version knows before those of others.
  var signedParts: [(name: String, kind: SignedDataKind, jws: String)] {
    var parts: [(name: String, kind: SignedDataKind, jws: String)] = []
    for (name, kind) in Self.signedMembers {
      for holder in holders.joined() {
        if let jws = holder.object.nonEmptyText(name) { parts.append((name, kind, jws)) }
      }
    }
    return parts
  }

  /// True if this version knows the type of the notification and all objects that it is about. Only such a notification may change a
  /// history.
  var isKnown: Bool {
    guard let type = payload["notificationType"]?.stringValue else { return false }
    return NotificationFilterRule.knows(type: type) && !holders[0].isEmpty && holders[2].isEmpty
  }
}

extension JSONObject {
  /// The text of a member; nil if it is missing, of another type, or empty.
  func nonEmptyText(_ name: String) -> String? {
    guard let text = self[name]?.stringValue, !text.isEmpty else { return nil }
    return text
  }
}
