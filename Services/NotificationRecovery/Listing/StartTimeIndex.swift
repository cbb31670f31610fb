import AttributionQueue
import RedisClient

/// Indexes of names by start time, newest first: one for all apps, and one for each app.
struct StartTimeIndex: Sendable {
  /// The number of entries that are read at a time.
  private static let step = 200
  /// The number of old entries that are checked when expired ones are removed.
  private static let sample: Int64 = 20
  /// How long the indexes of apps count as complete, seconds.
  private static let filedSeconds: Int64 = 3600

  private let redis: RedisClient
  private let name: String
  private let all: String
  private let filed: String

  /// `shard`: the text that determines the shard of the index of all apps.
  init(redis: RedisClient, name: String, shardOf shard: String) {
    self.redis = redis
    self.name = name
    all = Keys.own("recovery", name, shardOf: shard)
    filed = Keys.own("recovery", "\(name)-filed", shardOf: shard)
  }

  private func key(_ bundleId: String?) -> String {
    bundleId.map { Keys.own("recovery", "\(name):\($0)", shardOf: $0) } ?? all
  }

  /// Adds a name. A known name keeps its time (milliseconds since 1970).
  func add(_ id: String, of bundleId: String, startedAt moment: Int64) async throws(RedisError) {
    for key in [all, key(bundleId)] { try await redis.send(["ZADD", .string(key), "NX", .integer(moment), .string(id)]) }
  }

  /// Removes a name.
  func remove(_ id: String, of bundleId: String) async throws(RedisError) {
    for key in [all, key(bundleId)] { try await redis.send(["ZREM", .string(key), .string(id)]) }
  }

  /// Removes names that were started before that time.
  func forget(before moment: Int64, of bundleId: String?) async throws(RedisError) {
    for key in Set([all, key(bundleId)]) {
      try await redis.send(["ZREMRANGEBYSCORE", .string(key), "-inf", .string("(\(moment)")])
    }
  }

  /// Checks a few names that were started before that time, and removes the expired ones. The names are chosen at random; otherwise
  /// long-lived ones at the beginning would hide expired ones.
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

  /// Adds to the apps' indexes the names that are only in the index of all apps. An earlier version writes only that index and may still
  /// run, so this is repeated from time to time.
  func fileByApp(_ app: @escaping @Sendable (String) async throws(RedisError) -> String?) async throws(RedisError) {
    if try await redis.send(["EXISTS", .string(filed)]).integer == 1 { return }
    var offset: Int64 = 0
    while true {
      let (ids, moments) = try await read([
        "ZREVRANGE", .string(all), .integer(offset), .integer(offset + Int64(Self.step) - 1), "WITHSCORES",
      ])
      var words: [String: [RedisArgument]] = [:]
      for (index, bundleId) in try await ConcurrentQueries.all(ids, app).enumerated() {
        if let bundleId { words[bundleId, default: []] += [.integer(moments[index]), .string(ids[index])] }
      }
      for (bundleId, entries) in words { try await redis.send(["ZADD", .string(key(bundleId)), "NX"] + entries) }
      if ids.count < Self.step { break }
      offset += Int64(Self.step)
    }
    try await redis.send(["SET", .string(filed), "1", "EX", .integer(Self.filedSeconds)])
  }

  /// A page of an app's names or of all, and the start of the next page; nil if there is none. Names that `load` does not find are skipped.
  func page<Entry>(
    of bundleId: String?, limit: Int, after token: PageToken?, load: ([String]) async throws(RedisError) -> [Entry?]
  ) async throws(RedisError) -> (entries: [Entry], next: PageToken?) {
    var found: [Entry] = []
    var place = token
    var next: PageToken?
    let step = min(limit + 1, Self.step)
    while true {
      // Entries come in descending order of time and then of name. Those up to the token's position are skipped.
      let (ids, moments) = try await read([
        "ZREVRANGEBYSCORE", .string(key(bundleId)), place.map { .integer($0.moment) } ?? "+inf", "-inf", "WITHSCORES", "LIMIT",
        .integer(Int64(place?.offset ?? 0)), .integer(Int64(step)),
      ])
      for (entry, moment) in zip(ids.isEmpty ? [] : try await load(ids), moments) {
        if entry != nil, found.count == limit { return (found, next) }
        place = PageToken.behind(moment, place)
        guard let entry else { continue }
        found.append(entry)
        next = place
      }
      if ids.count < step { return (found, nil) }
    }
  }

  private func read(_ command: [RedisArgument]) async throws(RedisError) -> (ids: [String], moments: [Int64]) {
    let words = (try await redis.send(command).array ?? []).compactMap(\.string)
    let places = stride(from: 0, to: words.count - 1, by: 2)
    return (places.map { words[$0] }, places.map { Int64(Double(words[$0 + 1]) ?? 0) })
  }
}
