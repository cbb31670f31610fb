import Cryptography
import WireJSON

/// What an App Store notification says of itself, read without verifying anything.
///
/// Good for keys and for placing a delivery, never for acting on: anybody can write such a text. Whoever takes a notification in
/// (from Apple's post, or from its history) takes the keys from here, so that all copies of one melt into one.
public struct NotificationSniffer: Sendable, Hashable {
  public let notificationUUID: String?
  public let notificationType: String?
  public let bundleId: String?
  public let environment: String?
  public let originalTransactionId: String?

  /// Longest text that is looked into, bytes (ours: no genuine one comes near).
  public static let maxBytes = 256 << 10

  /// Everything is nil when the text is no compact JWS with a JSON object as its payload.
  public init(signedPayload: String) {
    let payload = Self.payload(signedPayload) ?? [:]
    let holder = ["data", "appData", "summary", "externalPurchaseToken"].lazy.compactMap { payload[$0]?.objectValue }.first
    let inner = ["signedTransactionInfo", "signedRenewalInfo"].lazy.compactMap { holder?[$0]?.stringValue.flatMap(Self.payload) }.first
    notificationUUID = payload["notificationUUID"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    notificationType = payload["notificationType"]?.stringValue
    bundleId = holder?["bundleId"]?.stringValue
    environment = SignedDataIdentity.environment(.notification, payload)
    originalTransactionId = inner?["originalTransactionId"]?.stringValue
  }

  /// What makes two notifications the same one. Claimed with a verified payload only.
  public static func naturalKey(environment: String, notificationUUID: String) -> String {
    "appstore:\(environment):\(notificationUUID.lowercased())"
  }

  /// What must stay in order: the notifications of one purchase.
  public static func orderKey(environment: String, originalTransactionId: String) -> String {
    "appstore:\(environment):\(originalTransactionId)"
  }

  public var naturalKey: String? {
    notificationUUID.map { Self.naturalKey(environment: environment ?? "", notificationUUID: $0) }
  }

  public var orderKey: String? {
    originalTransactionId.map { Self.orderKey(environment: environment ?? "", originalTransactionId: $0) }
  }

  /// The key of a delivery: the natural key with a digest of the bytes, so that a forgery cannot occupy a genuine one's place.
  public func idempotencyKey(signedPayload: String) -> String {
    (naturalKey ?? "appstore:") + ":" + Hex.encode(SHA256Digest.hash(signedPayload))
  }

  private static func payload(_ jws: String) -> JSONObject? {
    guard jws.utf8.count <= maxBytes else { return nil }
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty, let bytes = Base64.decodeURL(parts[1]) else { return nil }
    return try? JSONValue(parsing: bytes).objectValue
  }
}
