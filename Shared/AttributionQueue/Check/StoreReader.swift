import RedisClient

/// Reads large values in pages, so that no command blocks Redis for long.
struct StoreReader: Sendable {
  /// The number of elements per page, where they contain message bodies, which may have some hundred kilobytes.
  static let bodiesPerPage: Int64 = 64
  /// The number of elements per page, where they are ids of a few bytes.
  static let namesPerPage: Int64 = 512

  let redis: RedisClient

  /// Thrown if a key's value has another type than its name implies.
  struct WrongType: Error { let key: String }

  /// The members of a sorted set and their scores.
  func sortedSet(_ key: String) async throws -> [String: Double] {
    var members: [String: Double] = [:]
    try await scan("ZSCAN", key, count: Self.namesPerPage) { member, score in
      members[Self.name(member)] = score.string.flatMap(Double.init) ?? .nan
    }
    return members
  }

  /// The fields of a hash and their values.
  func hash(_ key: String, count: Int64, _ each: (String, RedisReply) -> Void) async throws {
    try await scan("HSCAN", key, count: count) { each(Self.name($0), $1) }
  }

  /// Passes the entries of a stream after the given one to `page`, until a page is not full. Returns the id of the last entry.
  func stream(
    _ key: String, after start: String, count: Int64, _ page: ([(id: String, fields: RedisReply)]) async throws -> Void
  ) async throws -> String {
    var last = start
    while true {
      let reply = try await send(["XRANGE", .string(key), .string("(" + last), "+", "COUNT", .integer(count)], key)
      let entries = reply.elements.compactMap { entry -> (id: String, fields: RedisReply)? in
        var parts = entry.elements
        guard let id = parts.nextString(), let fields = parts.next() else { return nil }
        return (id, fields)
      }
      guard let end = entries.last else { return last }
      last = end.id
      try await page(entries)
      if entries.count < count { return last }
    }
  }

  /// The elements of a list.
  func list(_ key: String) async throws -> [String] {
    var elements: [String] = []
    while true {
      let start = Int64(elements.count)
      let reply = try await send(["LRANGE", .string(key), .integer(start), .integer(start + Self.namesPerPage - 1)], key)
      let page = reply.elements.map(Self.name)
      elements += page
      if page.count < Self.namesPerPage { return elements }
    }
  }

  /// Reads several values of one shard in one command.
  func values(_ keys: [String]) async throws -> [RedisReply] {
    guard !keys.isEmpty else { return [] }
    return try await redis.send(["MGET"] + keys.map { .string($0) }).array ?? []
  }

  /// Sends one command about a key.
  func send(_ command: [RedisArgument], _ key: String) async throws -> RedisReply {
    let reply = try await redis.sendAllowingErrors(command)
    guard let text = reply.error else { return reply }
    if text.hasPrefix("WRONGTYPE") { throw WrongType(key: key) }
    throw RedisError.refused(text)
  }

  private func scan(_ command: String, _ key: String, count: Int64, _ each: (RedisReply, RedisReply) -> Void) async throws {
    var cursor = "0"
    repeat {
      let reply = try await send([.string(command), .string(key), .string(cursor), "COUNT", .integer(count)], key)
      guard let parts = reply.array, parts.count == 2, let next = parts[0].string else { throw RedisError.unexpectedReply(command) }
      cursor = next
      var words = parts[1].elements
      while let name = words.next(), let value = words.next() { each(name, value) }
    } while cursor != "0"
  }

  private static func name(_ reply: RedisReply) -> String { reply.string ?? String(decoding: reply.bytes ?? [], as: UTF8.self) }
}
