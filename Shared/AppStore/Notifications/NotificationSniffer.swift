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

  /// Nil when the text is no compact JWS with a JSON object as its payload.
  public static func inspect(_ signedPayload: String) -> NotificationSniffer? {
    guard let payload = payload(signedPayload) else { return nil }
    // One of three: transactions, a summary of many, a token for a purchase outside.
    let data = payload["data"] ?? payload["summary"] ?? payload["externalPurchaseToken"] ?? payload["appData"]
    let transaction = data?["signedTransactionInfo"]?.stringValue.flatMap(Self.payload)
    let renewal = transaction == nil ? data?["signedRenewalInfo"]?.stringValue.flatMap(Self.payload) : nil
    return NotificationSniffer(
      notificationUUID: payload["notificationUUID"]?.stringValue, notificationType: payload["notificationType"]?.stringValue,
      bundleId: data?["bundleId"]?.stringValue, environment: data?["environment"]?.stringValue,
      originalTransactionId: (transaction ?? renewal)?["originalTransactionId"]?.stringValue)
  }

  /// What makes two notifications the same one. Claimed with a verified payload only.
  public static func naturalKey(environment: String?, notificationUUID: String) -> String {
    "appstore:\(environment ?? ""):\(notificationUUID.lowercased())"
  }

  /// What must stay in order: the notifications of one purchase.
  public static func orderKey(environment: String?, originalTransactionId: String) -> String {
    "appstore:\(environment ?? ""):\(originalTransactionId)"
  }

  public var naturalKey: String? {
    notificationUUID.map { Self.naturalKey(environment: environment, notificationUUID: $0) }
  }

  public var orderKey: String? {
    originalTransactionId.map { Self.orderKey(environment: environment, originalTransactionId: $0) }
  }

  /// The key of a delivery: the natural key with a digest of the bytes, so that a forgery cannot occupy a genuine one's place.
  public func idempotencyKey(for signedPayload: String) -> String {
    (naturalKey ?? "appstore:") + ":" + Hex.encode(SHA256Digest.hash(Array(signedPayload.utf8)))
  }

  private static func payload(_ jws: String) -> JSONObject? {
    guard jws.utf8.count <= maxBytes else { return nil }
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty, let bytes = Base64.decodeURL(String(parts[1])) else { return nil }
    return try? JSONValue(parsing: bytes).objectValue
  }
}
