import Cryptography

/// Signs requests by the rules of Standard Webhooks: HMAC-SHA256 over id, time and body, with each secret of an endpoint.
struct WebhookSigner: Sendable {
  private let macs: [HMACSHA256]

  /// - Parameter secrets: the newest first: one, or two while the older one is being replaced.
  init(_ secrets: [WebhookSecret]) { macs = secrets.map { HMACSHA256(key: $0.bytes) } }

  /// The value of the header `webhook-signature`: one signature for each secret, so that a receiver with either secret can verify it.
  ///
  /// - Parameters:
  ///   - id: must not contain a full stop, which separates the signed parts.
  ///   - timestamp: seconds since 1970.
  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    var signed: [UInt8] = []
    signed.reserveCapacity(id.utf8.count + body.count + 24)
    signed += id.utf8
    signed.append(UInt8(ascii: "."))
    signed += String(timestamp).utf8
    signed.append(UInt8(ascii: "."))
    signed += body
    var text = ""
    for mac in macs {
      if !text.isEmpty { text += " " }
      text += "v1," + Base64.encode(mac.authenticate(signed))
    }
    return text
  }
}
