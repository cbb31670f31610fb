import AttributionProtocol
import RedisClient
import ServiceRuntime

/// The rule for the names of migrations (`migrationId`), which callers may choose.
enum MigrationName {
  /// Returns the name if it is valid, or nil if none is given.
  static func checked(_ name: String?) throws(RPCError) -> String? {
    guard let name, !name.isEmpty else { return nil }
    let isAllowed = name.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
      default: false
      }
    }
    guard isAllowed, name.utf8.count <= 64 else {
      throw .invalidArgument(field: "migrationId", "must be 1 to 64 of A-Z a-z 0-9 . _ -")
    }
    return name
  }
}

extension MigrationStore {
  /// Reads the migration that a caller names. Throws `NOT_FOUND` if there is none.
  func known(_ id: String?) async throws(RPCError) -> MigrationRecord {
    guard let id = try MigrationName.checked(id) else { throw .invalidArgument(field: "migrationId", "is missing") }
    do throws(RedisError) {
      if let record = try await migration(id) { return record }
    } catch { throw RPCError(error) }
    throw .notFound("no such migration", field: "migrationId")
  }
}
