import Cryptography
import WireJSON

/// The identifiers in an App Store notification, read without verification.
///
/// They may be used only for keys and for the order of deliveries, because anybody can write such a text. A notification that Apple posts
/// and the same one from Apple's history get the same keys here, so that they count once. ``SignedDataVerifier`` verifies notifications.
public struct NotificationSniffer: Sendable, Hashable {
  public let notificationUUID: String?
  public let notificationType: String?
  public let bundleId: String?
  public let environment: String?
  public let originalTransactionId: String?

  /// The longest text that is parsed, bytes. This is our limit; genuine notifications are much shorter.
  public static let maxBytes = 256 << 10

  /// All properties are nil if the text is not a compact JWS with a JSON object as its payload.
  public init(signedPayload: String) {
    let payload = Self.payload(signedPayload) ?? [:]
    let subject = NotificationContents(payload).firstSubject
    let inner = ["signedTransactionInfo", "signedRenewalInfo"].lazy.compactMap { subject?[$0]?.stringValue.flatMap(Self.payload) }.first
    notificationUUID = payload["notificationUUID"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    notificationType = payload["notificationType"]?.stringValue
    bundleId = subject?["bundleId"]?.stringValue
    environment = NotificationContents(payload).environment
    originalTransactionId = inner?["originalTransactionId"]?.stringValue
  }

  /// The natural key of a notification. It is claimed only after the payload was verified.
  public static func naturalKey(environment: String, notificationUUID: String) -> String {
    "appstore:\(environment):\(notificationUUID.lowercased())"
  }

  /// The order key of a notification, which keeps the notifications of one purchase in order.
  public static func orderKey(environment: String, originalTransactionId: String) -> String {
    "appstore:\(environment):\(originalTransactionId)"
  }

  /// The natural key that the notification has if it is genuine; nil without a UUID.
  public var naturalKey: String? {
    notificationUUID.map { Self.naturalKey(environment: environment ?? "", notificationUUID: $0) }
  }

  /// The order key; nil if the notification is not about a purchase.
  public var orderKey: String? {
    originalTransactionId.map { Self.orderKey(environment: environment ?? "", originalTransactionId: $0) }
  }

  /// The idempotency key: the natural key with a digest of the bytes, so that a forgery cannot block a genuine notification.
  public func idempotencyKey(signedPayload: String) -> String {
    (naturalKey ?? "appstore:") + ":" + Hex.encode(SHA256Digest.hash(signedPayload))
  }

  /// The payload of a compact JWS; nil if it is not a JSON object.
  private static func payload(_ jws: String) -> JSONObject? {
    guard jws.utf8.count <= maxBytes else { return nil }
    // The signature is not decoded, so that a rejected notification with a damaged one is still reported with its UUID.
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty, let bytes = Base64.decodeURL(parts[1]) else { return nil }
    return try? JSONValue(parsing: bytes).objectValue
  }
}
