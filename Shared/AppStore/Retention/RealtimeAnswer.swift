public import WireJSON

/// The answer to a realtime request of the App Store: one of four things to show, or nothing, so that the App Store shows the default
/// message (RealtimeResponseBody).
public enum RealtimeAnswer: Sendable, Hashable {
  /// The signature of a promotional offer in one of its two versions (promotionalOffer).
  public enum OfferSignature: Sendable, Hashable {
    /// The second version (``AppStoreRequestJWS``).
    case jws(String)
    /// The first version (``PromotionalOffer``).
    case original(OriginalOfferSignature)
  }

  case defaultMessage
  case message(identifier: String)
  case alternateProduct(identifier: String, productId: String, billingPlanType: String?)
  case promotionalOffer(identifier: String, OfferSignature)
  /// `data` is a Base64-encoded JSON object that contains the signed request (``AdvancedCommerceOffer``).
  case advancedCommerce(identifier: String, data: String)

  /// The kind of the answer, for metrics and events.
  public var kind: String {
    switch self {
    case .defaultMessage: "default"
    case .message: "message"
    case .alternateProduct: "alternateProduct"
    case .promotionalOffer: "promotionalOffer"
    case .advancedCommerce: "advancedCommerceInfo"
    }
  }

  /// The identifier of the message to show; nil for the default message.
  public var messageIdentifier: String? {
    switch self {
    case .defaultMessage: nil
    case .message(let id), .alternateProduct(let id, _, _), .promotionalOffer(let id, _), .advancedCommerce(let id, _): id
    }
  }

  /// The body of the answer.
  public var json: JSONObject {
    switch self {
    case .defaultMessage: return [:]
    case .message(let id): return ["message": ["messageIdentifier": .string(id)]]
    case .alternateProduct(let id, let product, let plan):
      var object: JSONObject = ["messageIdentifier": .string(id), "productId": .string(product)]
      object["billingPlanType"] = plan.map { .string($0) }
      return ["alternateProduct": .object(object)]
    case .promotionalOffer(let id, .jws(let jws)):
      return ["promotionalOffer": ["messageIdentifier": .string(id), "promotionalOfferSignatureV2": .string(jws)]]
    case .promotionalOffer(let id, .original(let signature)):
      return ["promotionalOffer": ["messageIdentifier": .string(id), "promotionalOfferSignatureV1": .object(signature.json)]]
    case .advancedCommerce(let id, let data):
      return ["advancedCommerceInfo": ["messageIdentifier": .string(id), "advancedCommerceData": .string(data)]]
    }
  }

  /// Parses ``json``; nil if it is invalid.
  public init?(json object: JSONObject) {
    guard let member = object.members.first else {
      self = .defaultMessage
      return
    }
    guard object.members.count == 1, let value = member.value.objectValue, let id = value["messageIdentifier"]?.stringValue else {
      return nil
    }
    switch member.key {
    case "message": self = .message(identifier: id)
    case "alternateProduct":
      guard let product = value["productId"]?.stringValue else { return nil }
      self = .alternateProduct(identifier: id, productId: product, billingPlanType: value["billingPlanType"]?.stringValue)
    case "promotionalOffer":
      if let jws = value["promotionalOfferSignatureV2"]?.stringValue {
        self = .promotionalOffer(identifier: id, .jws(jws))
      } else if let signature = value["promotionalOfferSignatureV1"]?.objectValue.flatMap({ OriginalOfferSignature(json: $0) }) {
        self = .promotionalOffer(identifier: id, .original(signature))
      } else {
        return nil
      }
    case "advancedCommerceInfo":
      guard let data = value["advancedCommerceData"]?.stringValue else { return nil }
      self = .advancedCommerce(identifier: id, data: data)
    default: return nil
    }
  }
}

/// The first version of a promotional offer's signature, with the values that were signed (promotionalOfferSignatureV1).
public struct OriginalOfferSignature: Sendable, Hashable {
  /// DER in standard Base64.
  public let encodedSignature: String
  public let productId: String
  /// A UUID in lower case.
  public let nonce: String
  /// Milliseconds since 1970.
  public let timestamp: Int64
  public let keyId: String
  public let offerIdentifier: String
  /// A UUID in lower case.
  public let appAccountToken: String?

  public init(
    encodedSignature: String, productId: String, nonce: String, timestamp: Int64, keyId: String, offerIdentifier: String,
    appAccountToken: String?
  ) {
    self.encodedSignature = encodedSignature
    self.productId = productId
    self.nonce = nonce
    self.timestamp = timestamp
    self.keyId = keyId
    self.offerIdentifier = offerIdentifier
    self.appAccountToken = appAccountToken
  }

  var json: JSONObject {
    var object: JSONObject = [
      "encodedSignature": .string(encodedSignature), "productId": .string(productId), "nonce": .string(nonce),
      "timestamp": .integer(timestamp), "keyId": .string(keyId), "offerIdentifier": .string(offerIdentifier),
    ]
    object["appAccountToken"] = appAccountToken.map { .string($0) }
    return object
  }

  init?(json object: JSONObject) {
    guard let signature = object["encodedSignature"]?.stringValue, let product = object["productId"]?.stringValue,
      let nonce = object["nonce"]?.stringValue, let timestamp = object["timestamp"]?.int64Value, let key = object["keyId"]?.stringValue,
      let offer = object["offerIdentifier"]?.stringValue
    else { return nil }
    self.init(
      encodedSignature: signature, productId: product, nonce: nonce, timestamp: timestamp, keyId: key, offerIdentifier: offer,
      appAccountToken: object["appAccountToken"]?.stringValue)
  }
}
