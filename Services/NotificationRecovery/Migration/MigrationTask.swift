import AppStore
import Cryptography
import WireJSON

/// A receipt whose purchases are to be looked up at Apple, as a message of the queue `migrations`. ``MigrationWork`` looks them up.
struct MigrationTask: Sendable, Hashable {
  /// The kind of the message.
  static let kind = "receipt"

  let migrationId: String
  let bundleId: String
  /// The server that has the purchases; nil tries production, then the sandbox.
  let server: AppStoreServer?
  /// The caller's id of the receipt; nil if there is none.
  let receiptId: String?
  /// The ids with which the purchases are looked up (``ReceiptContents/ids``).
  let ids: [String]

  /// Identifies the purchases within the migration. Receipts with the same purchases have the same value.
  var member: Int64 {
    let digest = SHA256Digest.hash(ids.sorted().joined(separator: ",") + "|" + (server?.rawValue ?? ""))
    return Int64(bitPattern: digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// The message's body.
  var body: [UInt8] {
    var object: JSONObject = [
      "migrationId": .string(migrationId), "bundleId": .string(bundleId), "ids": .array(ids.map { .string($0) }),
    ]
    object["environment"] = server.map { .string($0.rawValue) }
    object["receiptId"] = receiptId.map { .string($0) }
    return JSONValue.object(object).serialized
  }
}

extension MigrationTask {
  /// Parses a message's body; nil if it is invalid.
  init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body).objectValue, let migrationId = object["migrationId"]?.stringValue,
      let bundleId = object["bundleId"]?.stringValue, let ids = object["ids"]?.arrayValue?.compactMap(\.stringValue), !ids.isEmpty
    else { return nil }
    self.init(
      migrationId: migrationId, bundleId: bundleId, server: object["environment"]?.stringValue.flatMap(AppStoreServer.init(rawValue:)),
      receiptId: object["receiptId"]?.stringValue, ids: ids)
  }
}
