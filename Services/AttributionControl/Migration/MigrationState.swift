import Cryptography
import WireJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The progress of sending a file of receipts. It is stored beside the file, so that the same command resumes the migration.
struct MigrationState: Sendable, Hashable {
  let migrationId: String
  /// The number of bytes, and of lines, of the file that have been sent.
  var offset: Int64 = 0
  var lines = 0
  /// The number of sent receipts by the state in the service's answer, such as `queued`.
  var states: [String: Int64] = [:]
  /// Receipts per call. It is stored, because the service recognises a repeated batch only if it is identical. So a changed `--batch` must
  /// not affect a resumed migration.
  let batch: Int

  init(migrationId: String, batch: Int) {
    self.migrationId = migrationId
    self.batch = batch
  }

  init?(json: [UInt8]) {
    guard let object = try? JSONValue(parsing: json).objectValue, let id = object["migrationId"]?.stringValue,
      let offset = object["offset"]?.int64Value, let lines = object["lines"]?.int64Value
    else { return nil }
    migrationId = id
    self.offset = offset
    self.lines = Int(lines)
    batch = object["batch"]?.int64Value.map { Int($0) } ?? 500
    for member in object["states"]?.objectValue?.members ?? [] { states[member.key] = member.value.int64Value }
  }

  var json: [UInt8] {
    let states = states.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) }
    return JSONValue.object([
      "migrationId": .string(migrationId), "offset": .integer(offset), "lines": .integer(lines), "states": .object(JSONObject(states)),
      "batch": .integer(batch),
    ]).serialized
  }

  static func path(of file: String) -> String { file + ".migration.json" }

  /// Derives the migration's name from the file's size and first bytes, the app and the environment, so that the same command for the same
  /// file always continues the same migration.
  static func name(size: Int64, bundleId: String, environment: String?, beginning: [UInt8]) -> String {
    let digest = SHA256Digest.hash(Array("\(size):\(bundleId):\(environment ?? "None"):".utf8) + beginning)
    return "file-" + Hex.encode(digest).prefix(24)
  }

  /// Reads the stored state; nil if there is none.
  static func stored(for file: String) throws(CommandFailure) -> MigrationState? {
    guard let bytes = FileManager.default.contents(atPath: path(of: file)) else { return nil }
    guard let state = MigrationState(json: Array(bytes)) else {
      throw CommandFailure(.refusedInput, "\(path(of: file)) cannot be read", advice: "Delete it to start over.")
    }
    return state
  }
}
