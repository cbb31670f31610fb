import Cryptography
import WireJSON

/// The identifiers in an App Store notification, read without verification.
///
/// They may be used for keys and for the order of deliveries only, because anybody can write such a text. All notifications, whether Apple
/// posts them or they come from its history, get their keys here, so that copies of one count once.
public struct NotificationSniffer: Sendable, Hashable {
  public let notificationUUID: String?
  public let notificationType: String?
  public let bundleId: String?
  public let environment: String?
  public let originalTransactionId: String?

  /// The longest text that is parsed, bytes (our limit; no genuine one is nearly as long).
  public static let maxBytes = 256 << 10

  /// All properties are nil if the text is not a compact JWS with a JSON object as its payload.
  public init(signedPayload: String) {
    let payload = Self.payload(signedPayload) ?? [:]
    let holder = NotificationContents(payload).firstSubject
    let inner = ["signedTransactionInfo", "signedRenewalInfo"].lazy.compactMap { holder?[$0]?.stringValue.flatMap(Self.payload) }.first
    notificationUUID = payload["notificationUUID"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    notificationType = payload["notificationType"]?.stringValue
    bundleId = holder?["bundleId"]?.stringValue
    environment = NotificationContents(payload).environment
    originalTransactionId = inner?["originalTransactionId"]?.stringValue
  }

  /// The natural key, which is claimed only for a verified payload.
  public static func naturalKey(environment: String, notificationUUID: String) -> String {
    "appstore:\(environment):\(notificationUUID.lowercased())"
  }

  /// The order key: the notifications of one purchase stay in order.
  public static func orderKey(environment: String, originalTransactionId: String) -> String {
    "appstore:\(environment):\(originalTransactionId)"
  }

  public var naturalKey: String? {
    notificationUUID.map { Self.naturalKey(environment: environment ?? "", notificationUUID: $0) }
  }

  public var orderKey: String? {
    originalTransactionId.map { Self.orderKey(environment: environment ?? "", originalTransactionId: $0) }
  }

  /// The idempotency key: the natural key with a digest of the bytes, so that a forgery cannot block a genuine notification.
  public func idempotencyKey(signedPayload: String) -> String {
    (naturalKey ?? "appstore:") + ":" + Hex.encode(SHA256Digest.hash(signedPayload))
  }

  private static func payload(_ jws: String) -> JSONObject? {
    guard jws.utf8.count <= maxBytes else { return nil }
    // The signature is not decoded, so that a rejected notification with a damaged one is still reported with its UUID.
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty, let bytes = Base64.decodeURL(parts[1]) else { return nil }
    return try? JSONValue(parsing: bytes).objectValue
  }
}
