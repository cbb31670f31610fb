import Cryptography
import WireJSON

/// The identifiers in an App Store notification, read without verification.
///
/// They may be used only for keys and for the order of deliveries, because anybody can write such a text. A notification that Apple posts
/// and the same one from Apple's history get the same keys here, so that they count once. ``SignedDataVerifier`` verifies notifications.
public struct NotificationSniffer: Sendable, Hashable {
  public let notificationUUID: String?
  /// Identifies the notification: its UUID or, if Apple omits it, a digest of its payload.
  public let identifier: String?
  public let notificationType: String?
  public let bundleId: String?
  public let appAppleId: Int64?
  public let environment: String?
  public let originalTransactionId: String?

  /// All properties are nil if the text is not a compact JWS with a JSON object as its payload. The caller limits the text's length.
  public init(signedPayload: String) {
    let bytes = Self.payload(signedPayload) ?? []
    let payload = Self.object(bytes)
    let contents = NotificationContents(payload ?? [:])
    // Lazy, because nearly always only the first of them is needed.
    let parts = contents.signedParts.lazy.compactMap { part in
      Self.payload(part.jws).flatMap(Self.object).map { (kind: part.kind, payload: $0) }
    }
    var identity = SignedDataIdentity(contents)
    if identity.isIncomplete { identity.complete(from: parts.map { SignedDataIdentity($0.kind, $0.payload) }) }
    notificationUUID = contents.uuid
    identifier = contents.uuid ?? payload.map { _ in "payload-\(Hex.encode(SHA256Digest.hash(bytes).prefix(16)))" }
    notificationType = contents.payload["notificationType"]?.stringValue
    bundleId = identity.bundleId ?? parts.compactMap { $0.payload.nonEmptyText("bundleId") }.first
    appAppleId = identity.appAppleId
    environment = identity.environment
    originalTransactionId = parts.compactMap { $0.payload["originalTransactionId"]?.stringValue }.first
  }

  /// The natural key of a notification with this ``identifier``. It is claimed only after the payload was verified.
  public static func naturalKey(environment: String, identifier: String) -> String {
    "appstore:\(environment):\(identifier.lowercased())"
  }

  /// The order key of a notification, which keeps the notifications of one purchase in order.
  public static func orderKey(environment: String, originalTransactionId: String) -> String {
    "appstore:\(environment):\(originalTransactionId)"
  }

  /// The natural key that the notification has if it is genuine; nil if the text is no notification.
  public var naturalKey: String? {
    identifier.map { Self.naturalKey(environment: environment ?? "", identifier: $0) }
  }

  /// The order key; nil if the notification is not about a purchase.
  public var orderKey: String? {
    originalTransactionId.map { Self.orderKey(environment: environment ?? "", originalTransactionId: $0) }
  }

  /// The idempotency key: the natural key with a digest of the bytes, so that a forgery cannot block a genuine notification.
  public func idempotencyKey(signedPayload: String) -> String {
    (naturalKey ?? "appstore:") + ":" + Hex.encode(SHA256Digest.hash(signedPayload))
  }

  /// The payload of a compact JWS; nil if it is not one.
  private static func payload(_ jws: String) -> [UInt8]? {
    // The signature is not decoded, so that a rejected notification with a damaged one is still reported with its UUID.
    // A fourth part shows that it is no JWS, however many there are.
    let parts = jws.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
    return Base64.decodeURL(Substring(parts[1]))
  }

  private static func object(_ bytes: [UInt8]) -> JSONObject? { try? JSONValue(parsing: bytes).objectValue }
}
