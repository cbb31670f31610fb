import AttributionQueue
import RedisClient

/// Indexes in Redis that list names by start time, newest first: one index for all apps, and one for each app. The lists of recoveries,
/// migrations, Advanced Commerce calls and external purchase reports use them.
struct StartTimeIndex: Sendable {
  /// The maximum number of entries that are read at a time.
  private static let step = 200
  /// The number of old entries that are checked when expired ones are removed.
  private static let sample: Int64 = 20
  /// How long the indexes of apps count as complete after ``completeAppIndexes(_:)``, seconds.
  private static let completeSeconds: Int64 = 3600

  private let redis: RedisClient
  private let name: String
  /// The key of the index of all apps.
  private let all: String
  /// The key that exists while the indexes of apps count as complete.
  private let completeKey: String

  /// - Parameters:
  ///   - name: the name of the indexes' keys.
  ///   - shard: the text that determines the shard of the index of all apps. The index of an app is in the app's shard.
  init(redis: RedisClient, name: String, shardOf shard: String) {
    self.redis = redis
    self.name = name
    all = Keys.own("recovery", name, shardOf: shard)
    completeKey = Keys.own("recovery", "\(name)-filed", shardOf: shard)
  }

  /// The key of an app's index, or of the index of all apps if `bundleId` is nil.
  private func key(_ bundleId: String?) -> String {
    bundleId.map { Keys.own("recovery", "\(name):\($0)", shardOf: $0) } ?? all
  }

  /// Adds a name with its start time (milliseconds since 1970). A known name keeps its time.
  func add(_ id: String, of bundleId: String, startedAt moment: Int64) async throws(RedisError) {
    for key in [all, key(bundleId)] { try await redis.send(["ZADD", .string(key), "NX", .integer(moment), .string(id)]) }
  }

  /// Removes a name.
  func remove(_ id: String, of bundleId: String) async throws(RedisError) {
    for key in [all, key(bundleId)] { try await redis.send(["ZREM", .string(key), .string(id)]) }
  }

  /// Removes names whose start time is before `moment`.
  func forget(before moment: Int64, of bundleId: String?) async throws(RedisError) {
    for key in Set([all, key(bundleId)]) {
      try await redis.send(["ZREMRANGEBYSCORE", .string(key), "-inf", .string("(\(moment)")])
    }
  }

  /// Checks a few names whose start time is before `moment`, and removes those for which `isGone` returns true. The names are chosen at
  /// random, because otherwise the same old names that still exist could be checked each time.
  func forgetSome(
    before moment: Int64, of bundleId: String, isGone: @escaping @Sendable (String) async throws(RedisError) -> Bool
  ) async throws(RedisError) {
    for key in [all, key(bundleId)] {
      let old = try await redis.send(["ZCOUNT", .string(key), "-inf", .string("(\(moment)")]).integer ?? 0
      guard old > 0 else { continue }
      let reply = try await redis.send([
        "ZRANGEBYSCORE", .string(key), "-inf", .string("(\(moment)"), "LIMIT", .integer(Int64.random(in: 0...max(0, old - Self.sample))),
        .integer(Self.sample),
      ])
      let ids = (reply.array ?? []).compactMap(\.string)
      let gone = zip(ids, try await ConcurrentQueries.all(ids, isGone)).filter { $0.1 }.map { $0.0 }
      if !gone.isEmpty { try await redis.send(["ZREM", .string(key)] + gone.map { .string($0) }) }
    }
  }

  /// Adds the names that are only in the index of all apps to the indexes of their apps. An earlier version writes only the index of all
  /// apps and may still run, so this is repeated once an hour.
  ///
  /// - Parameter app: returns the app of a name; nil if it is unknown.
  func completeAppIndexes(_ app: @escaping @Sendable (String) async throws(RedisError) -> String?) async throws(RedisError) {
    if try await redis.send(["EXISTS", .string(completeKey)]).integer == 1 { return }
    var offset: Int64 = 0
    while true {
      let (ids, moments) = try await read([
        "ZREVRANGE", .string(all), .integer(offset), .integer(offset + Int64(Self.step) - 1), "WITHSCORES",
      ])
      var additions: [String: [RedisArgument]] = [:]
      for (index, bundleId) in try await ConcurrentQueries.all(ids, app).enumerated() {
        if let bundleId { additions[bundleId, default: []] += [.integer(moments[index]), .string(ids[index])] }
      }
      for (bundleId, entries) in additions { try await redis.send(["ZADD", .string(key(bundleId)), "NX"] + entries) }
      if ids.count < Self.step { break }
      offset += Int64(Self.step)
    }
    try await redis.send(["SET", .string(completeKey), "1", "EX", .integer(Self.completeSeconds)])
  }

  /// A page of an app's entries, or of those of all apps if `bundleId` is nil. `next` is the start of the next page; nil on the last one.
  ///
  /// - Parameter load: reads the entries of names; nil for a name without an entry, which is skipped.
  func page<Entry>(
    of bundleId: String?, limit: Int, after token: PageToken?, load: ([String]) async throws(RedisError) -> [Entry?]
  ) async throws(RedisError) -> (entries: [Entry], next: PageToken?) {
    var found: [Entry] = []
    var position = token
    var next: PageToken?
    let step = min(limit + 1, Self.step)
    while true {
      // Redis returns entries in descending order of time and then of name. The entries up to the position are skipped.
      let (ids, moments) = try await read([
        "ZREVRANGEBYSCORE", .string(key(bundleId)), position.map { .integer($0.moment) } ?? "+inf", "-inf", "WITHSCORES", "LIMIT",
        .integer(Int64(position?.offset ?? 0)), .integer(Int64(step)),
      ])
      for (entry, moment) in zip(ids.isEmpty ? [] : try await load(ids), moments) {
        if entry != nil, found.count == limit { return (found, next) }
        position = PageToken.after(moment, previous: position)
        guard let entry else { continue }
        found.append(entry)
        next = position
      }
      if ids.count < step { return (found, nil) }
    }
  }

  /// Reads names and their times, by a command with `WITHSCORES`.
  private func read(_ command: [RedisArgument]) async throws(RedisError) -> (ids: [String], moments: [Int64]) {
    let pairs = (try await redis.send(command).array ?? []).compactMap(\.string)
    let indexes = stride(from: 0, to: pairs.count - 1, by: 2)
    return (indexes.map { pairs[$0] }, indexes.map { Int64(Double(pairs[$0 + 1]) ?? 0) })
  }
}
