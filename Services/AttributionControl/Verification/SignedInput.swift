import AppStore
import AppleAttribution
import Cryptography
import WireJSON

/// Signed data or a receipt, whose kind is recognised by its format. It is not verified yet; ``OfflineVerifier`` and ``ServiceVerifier`` do
/// that.
enum SignedInput: Sendable, Hashable {
  case skAdNetworkPostback([UInt8])
  case adAttributionKitPostback([UInt8])
  case appStore(String, SignedDataKind)
  case skAdNetworkImpression(JSONObject)
  case adAttributionKitImpression(String)
  /// Receipts are not verified; only the ids in them are read.
  case appReceipt(String)
  case transactionReceipt(String)
  case verifyReceiptResponse(JSONObject)

  /// The name for display and for `kind` in the output.
  var name: String {
    switch self {
    case .skAdNetworkPostback: "SKAdNetwork postback"
    case .adAttributionKitPostback: "AdAttributionKit postback"
    case .appStore(_, .notification): "App Store notification"
    case .appStore(_, .transaction): "App Store transaction"
    case .appStore(_, .renewalInfo): "App Store renewal information"
    case .appStore(_, .appTransaction): "app transaction"
    case .appStore(_, .realtimeRequest): "App Store real-time request"
    case .skAdNetworkImpression: "SKAdNetwork impression"
    case .adAttributionKitImpression: "AdAttributionKit impression"
    case .appReceipt: "app receipt"
    case .transactionReceipt: "transaction receipt"
    case .verifyReceiptResponse: "answer of verifyReceipt"
    }
  }

  /// The members of JSON objects that contain a JWS of the App Store, with its kind.
  private static let jwsMembers: [(name: String, kind: SignedDataKind)] = [
    ("signedPayload", .notification), ("signedTransactionInfo", .transaction), ("signedTransaction", .transaction),
    ("signedRenewalInfo", .renewalInfo), ("signedAppTransactionInfo", .appTransaction), ("appTransaction", .appTransaction),
  ]

  /// Recognises:
  /// - the JSON of a postback, of signed data of the App Store such as a notification, of an impression, or of verifyReceipt's response
  /// - a bare JWS
  /// - a receipt in Base64
  init(_ bytes: [UInt8]) throws(CommandFailure) {
    let text = String(decoding: bytes, as: UTF8.self)
    let trimmed = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    guard !trimmed.isEmpty else { throw CommandFailure(.refusedInput, "the input is empty") }
    if trimmed.hasPrefix("{") {
      let value: JSONValue
      do throws(JSONError) { value = try JSONValue(parsing: bytes, limits: JSONLimits(depth: 64, values: 1_000_000)) } catch {
        throw CommandFailure(.refusedInput, "the input cannot be read: \(error.reason)" + (error.path.isEmpty ? "" : " (at \(error.path))"))
      }
      try self.init(value.objectValue ?? [:], bytes)
      return
    }
    let unquoted =
      trimmed.hasPrefix("\"") && trimmed.hasSuffix("\"") && trimmed.count > 1 ? String(trimmed.dropFirst().dropLast()) : trimmed
    if unquoted.split(separator: ".", omittingEmptySubsequences: false).count == 3, let jws = try? CompactJWS(unquoted) {
      try self.init(jws, unquoted)
      return
    }
    let receipt = unquoted.filter { !$0.isWhitespace }
    guard let decoded = Base64.decode(receipt), !decoded.isEmpty else {
      throw CommandFailure(.refusedInput, "the input is neither JSON, nor a JWS, nor a receipt in Base64")
    }
    // An app receipt is PKCS#7, which begins with a DER sequence; an old transaction receipt is a property list in braces.
    self = decoded.first == UInt8(ascii: "{") ? .transactionReceipt(receipt) : .appReceipt(receipt)
  }

  private init(_ object: JSONObject, _ bytes: [UInt8]) throws(CommandFailure) {
    func text(_ name: String) -> String? { object[name]?.stringValue }
    if text("jws-string") != nil {
      self = .adAttributionKitPostback(bytes)
    } else if text("attribution-signature") != nil || text("transaction-id") != nil {
      self = .skAdNetworkPostback(bytes)
    } else if let member = Self.jwsMembers.first(where: { text($0.name) != nil }), let jws = text(member.name) {
      self = .appStore(jws, member.kind)
    } else if text("signature") != nil, text("adNetworkId") != nil {
      self = .skAdNetworkImpression(object)
    } else if let jws = text("jws"), let parsed = try? CompactJWS(jws) {
      try self.init(parsed, jws)
    } else if object["receipt"] != nil || object["latest_receipt_info"] != nil {
      self = .verifyReceiptResponse(object)
    } else {
      throw CommandFailure(
        .refusedInput, "the JSON object is of no known kind: its members are \(object.keys.prefix(12).joined(separator: ", "))",
        advice: "Supported: postbacks, notifications, transactions, renewal information, app transactions, real-time requests, "
          + "impressions as signer returns them, and receipts.")
    }
  }

  private init(_ jws: CompactJWS, _ text: String) throws(CommandFailure) {
    guard let payload = try? JSONValue(parsing: jws.payload), case .object(let object) = payload else {
      throw CommandFailure(.refusedInput, "the payload of the JWS is not a JSON object")
    }
    func has(_ name: String) -> Bool { object[name] != nil }
    if has("postback-identifier") {
      self = .adAttributionKitPostback(JSONValue.object(["jws-string": .string(text)]).serialized)
    } else if has("impression-identifier") {
      self = .adAttributionKitImpression(text)
    } else if let kind = SignedDataKind.allCases.first(where: { $0.isKind(of: object) }) {
      self = .appStore(text, kind)
    } else if has("originalTransactionId") {
      self = .appStore(text, .transaction)
    } else {
      throw CommandFailure(
        .refusedInput, "the JWS is of no known kind: its payload has \(object.keys.prefix(12).joined(separator: ", "))")
    }
  }
}
