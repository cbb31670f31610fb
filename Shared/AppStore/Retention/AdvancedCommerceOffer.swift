import Cryptography
import WireJSON

/// The content of an answer's `advancedCommerceData`: a request to modify a subscription with one change (advancedCommerceData;
/// SubscriptionModifyInAppRequest).
public enum AdvancedCommerceOffer {
  private static let maxBytes = 16 << 10

  /// Throws for a request that Apple does not accept here.
  static func check(_ text: String) throws(RequestRefusal) {
    guard text.utf8.count <= maxBytes else { throw RequestRefusal(field: "request", "is longer than \(maxBytes) bytes") }
    guard let request = try? JSONValue(parsing: text).objectValue else { throw RequestRefusal(field: "request", "must be a JSON object") }
    try SubscriptionModification.check(request, path: "request")
  }

  /// Throws for a request of a rule that names one customer, because a rule applies to many.
  public static func checkRule(_ text: String) throws(RequestRefusal) {
    guard let request = try? JSONValue(parsing: text).objectValue else { return }
    if request["requestInfo"]?["requestReferenceId"] != nil {
      throw RequestRefusal(
        field: "request.requestInfo.requestReferenceId", "must be absent: each customer's request gets one, and Apple accepts each once")
    }
    if request["transactionId"] != nil {
      throw RequestRefusal(field: "request.transactionId", "must be absent: it is the customer's")
    }
  }

  /// The request to sign for one realtime request. Apple accepts each `requestReferenceId` once, so it is the realtime request's
  /// identifier; the transaction is the customer's.
  public static func request(_ text: String, for question: RealtimeRequest) -> String {
    guard var request = try? JSONValue(parsing: text).objectValue else { return text }
    var information = request["requestInfo"]?.objectValue ?? [:]
    if information["requestReferenceId"] == nil { information["requestReferenceId"] = .string(question.requestIdentifier) }
    request["requestInfo"] = .object(information)
    if request["transactionId"] == nil { request["transactionId"] = .string(question.originalTransactionId) }
    return JSONValue.object(request).serializedString
  }

  /// The signed request in the form of `advancedCommerceData` (Sending Advanced Commerce API requests from your app).
  public static func data(jws: String) -> String {
    Base64.encode(JSONValue.object(["signatureInfo": ["token": .string(jws)]]).serialized)
  }
}
