import AppStore
import AttributionProtocol
import Cryptography
import WireJSON

/// Converts a line of a file of receipts for `MigrateReceipts`. A line is one of:
///
/// - `{"id": …, "appReceipt": "<Base64>"}`, with `transactionReceipt` or `verifyReceiptResponse` in place of appReceipt;
/// - the JSON request or answer of verifyReceipt;
/// - a receipt in Base64, or a JWS of the App Store, such as a signed transaction, by itself or in the JSON in which Apple sends it.
///
/// A line that cannot be read is sent without a receipt, with its line number as the id, so that it appears in the list of failures.
enum ReceiptLine {
  /// The maximum length of a caller's id, in bytes.
  static let maxIdBytes = 256
  private static let limits = JSONLimits(depth: 64, values: 1_000_000)

  static func receipt(_ line: [UInt8], number: Int) -> ReceiptToMigrate {
    var receipt = empty(number)
    let text = String(decoding: line, as: UTF8.self).drop(while: \.isWhitespace)
    guard text.first == "{" else {
      let unquoted = String(text.reversed().drop { $0.isWhitespace || $0 == "\"" }.reversed().drop { $0 == "\"" })
      // An old transaction receipt is a property list in braces; an app receipt is binary. The service recognises the others.
      let start = Base64.decode(String(unquoted.prefix(64))) ?? []
      if start.first(where: { $0 > 32 }) == UInt8(ascii: "{") {
        receipt.transactionReceipt = unquoted
      } else {
        receipt.appReceipt = unquoted
      }
      return receipt
    }
    guard let object = try? JSONValue(parsing: line, limits: limits).objectValue else { return receipt }
    if let id = object["id"].flatMap(text(of:)) { receipt.id = shortened(id) }
    receipt.appReceipt = (object["appReceipt"] ?? object["receipt-data"] ?? object["receipt"])?.stringValue
    receipt.transactionReceipt = object["transactionReceipt"]?.stringValue
    if let response = object["verifyReceiptResponse"] {
      receipt.verifyReceiptResponse = response.objectValue.map(reduced)
      // The answer as text.
      if let text = response.stringValue { receipt.appReceipt = text }
    } else if receipt.appReceipt == nil, receipt.transactionReceipt == nil {
      if let signed = signedParts(of: object) {
        receipt.appReceipt = signed
      } else if ["receipt", "latest_receipt_info", "status"].contains(where: { object[$0] != nil }) {
        receipt.verifyReceiptResponse = reduced(object)
      }
    }
    return receipt
  }

  /// The JSON of an object's members that are JWS, or contain them, as Apple names them; nil if there is none. The service finds the JWS.
  private static func signedParts(of object: JSONObject) -> String? {
    SignedParts.find(in: object).isEmpty ? nil : JSONValue.object(object).serializedString
  }

  /// A receipt without content, whose id is its line number.
  static func empty(_ number: Int) -> ReceiptToMigrate { ReceiptToMigrate(id: "line \(number)") }

  /// The members of a verifyReceipt answer that the service reads: the ids of purchases, the app and the status. The others, such as the
  /// latest receipt, would make the call many times larger.
  static func reduced(_ response: JSONObject) -> JSONObject {
    func purchase(_ entry: JSONObject) -> JSONObject {
      JSONObject(
        entry.members.filter { ["original_transaction_id", "transaction_id"].contains($0.key) && text(of: $0.value) != nil })
    }
    func purchases(_ value: JSONValue) -> JSONValue? {
      switch value {
      case .object(let entry): .object(purchase(entry))
      case .array(let entries): .array(entries.compactMap { $0.objectValue.map { .object(purchase($0)) } })
      default: nil
      }
    }
    var result = JSONObject()
    for name in ["latest_receipt_info", "pending_renewal_info"] { result[name] = response[name].flatMap(purchases) }
    if let status = response["status"], status.int64Value != nil { result["status"] = status }
    if let receipt = response["receipt"]?.objectValue {
      var reducedReceipt = purchase(receipt)
      for name in ["bundle_id", "bid"] where receipt[name]?.stringValue != nil { reducedReceipt[name] = receipt[name] }
      reducedReceipt["in_app"] = receipt["in_app"].flatMap(purchases)
      result["receipt"] = .object(reducedReceipt)
    }
    return result
  }

  /// A string, or an integer as a string.
  private static func text(of value: JSONValue) -> String? {
    value.stringValue ?? value.numberValue.flatMap { $0.isPlainInteger ? $0.text : nil }
  }

  /// Cuts the id to at most `maxIdBytes`, never within a character.
  private static func shortened(_ id: String) -> String {
    guard id.utf8.count > maxIdBytes else { return id }
    var short = ""
    for character in id {
      guard short.utf8.count + character.utf8.count <= maxIdBytes else { break }
      short.append(character)
    }
    return short
  }
}
