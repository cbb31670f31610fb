import Cryptography
import WireJSON

/// The content of an answer's `advancedCommerceData`: a request to modify a subscription with one change (advancedCommerceData;
/// SubscriptionModifyInAppRequest).
public enum AdvancedCommerceOffer {
  private static let operation = "MODIFY_SUBSCRIPTION"
  private static let longest = 16 << 10

  /// Throws for a request that Apple does not accept here.
  static func check(_ text: String) throws(RequestRefusal) {
    guard text.utf8.count <= longest else { throw RequestRefusal(field: "request", "is longer than \(longest) bytes") }
    guard let request = try? JSONValue(parsing: text).objectValue else { throw RequestRefusal(field: "request", "must be a JSON object") }
    guard request["operation"]?.stringValue == operation else { throw RequestRefusal(field: "request.operation", "must be \(operation)") }
    guard request["version"]?.stringValue?.isEmpty == false else { throw RequestRefusal(field: "request.version", "is required") }
    guard let changes = request["changeItems"]?.arrayValue, changes.count == 1 else {
      throw RequestRefusal(field: "request.changeItems", "must hold one item")
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
