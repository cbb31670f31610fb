import Cryptography
import WireJSON

/// The Advanced Commerce request that an answer offers: to modify the subscription with one change (advancedCommerceData;
/// SubscriptionModifyInAppRequest). ``SubscriptionModification`` has Apple's rules for it.
public enum AdvancedCommerceOffer {
  /// The longest text of a request, bytes (our limit).
  private static let maxBytes = 16 << 10

  /// Throws ``RequestRefusal`` for a request that Apple does not accept in an answer.
  static func check(_ text: String) throws(RequestRefusal) {
    guard text.utf8.count <= maxBytes else { throw RequestRefusal(field: "request", "is longer than \(maxBytes) bytes") }
    guard let request = try? JSONValue(parsing: text).objectValue else { throw RequestRefusal(field: "request", "must be a JSON object") }
    try SubscriptionModification.check(request, path: "request")
  }

  /// Throws for the request of a configured rule if it names one customer, because a rule applies to many.
  public static func checkRule(_ text: String) throws(RequestRefusal) {
    guard let request = try? JSONValue(parsing: text).objectValue else { return }
    if request["requestInfo"]?["requestReferenceId"] != nil {
      throw RequestRefusal(
        field: "request.requestInfo.requestReferenceId", "must be absent: it is added for each customer, as Apple accepts each one once")
    }
    if request["transactionId"] != nil {
      throw RequestRefusal(field: "request.transactionId", "must be absent: it is added for each customer")
    }
  }

  /// The request to sign in the answer to a realtime request. If the text has none, its `requestReferenceId` is the realtime request's
  /// identifier, because Apple accepts each one once, and its transaction is the customer's.
  public static func request(_ text: String, for realtimeRequest: RealtimeRequest) -> String {
    guard var request = try? JSONValue(parsing: text).objectValue else { return text }
    var information = request["requestInfo"]?.objectValue ?? [:]
    if information["requestReferenceId"] == nil { information["requestReferenceId"] = .string(realtimeRequest.requestIdentifier) }
    request["requestInfo"] = .object(information)
    if request["transactionId"] == nil { request["transactionId"] = .string(realtimeRequest.originalTransactionId) }
    return JSONValue.object(request).serializedString
  }

  /// The signed request in the format of `advancedCommerceData` (Sending Advanced Commerce API requests from your app): Base64 of a JSON
  /// object that contains the JWS.
  public static func data(jws: String) -> String {
    Base64.encode(JSONValue.object(["signatureInfo": ["token": .string(jws)]]).serialized)
  }
}
