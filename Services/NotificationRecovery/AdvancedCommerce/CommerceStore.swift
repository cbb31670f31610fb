import AppStore
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// A call of the Advanced Commerce API and its outcome. Times are milliseconds since 1970.
struct CommerceRecord: Sendable, Hashable {
  enum State: String, Sendable {
    /// In flight, or with an unknown outcome.
    case sending
    case answered
    case refused
  }

  let bundleId: String
  let reference: String
  /// Empty while it is unknown.
  var environment: String
  let operation: String
  let transactionId: String
  let request: JSONObject
  var state: State
  let startedAt: Int64
  var completedAt: Int64?
  var response: JSONObject?
  var decoded: [JSONObject] = []
  var lastError: String?
  var errorCode: Int64?

  /// The purchase by its first transaction, which Apple's answers tell; nil until there is one.
  var purchase: String?

  /// True if a request repeats this call. The two servers do not know each other's purchases, so a request for the other server is not a
  /// repeat.
  func isRepeated(by request: AdvancedCommerceRequest, transactionId: String, server: AppStoreServer?) -> Bool {
    operation == request.operation.rawValue && self.transactionId == transactionId && isOf(server)
      && Self.named(reference, self.request) == Self.named(reference, request.body)
  }

  /// A body with its identifier in lower case, for comparison, since a UUID may be written in either case.
  private static func named(_ reference: String, _ body: JSONObject) -> JSONObject {
    guard var info = body["requestInfo"]?.objectValue else { return body }
    var named = body
    info["requestReferenceId"] = .string(reference)
    named["requestInfo"] = .object(info)
    return named
  }

  /// True unless the call is known to belong to the other server.
  func isOf(_ server: AppStoreServer?) -> Bool { server == nil || environment.isEmpty || environment == server?.rawValue }
}

/// The calls in Redis, a hash each, and an index of their names by time.
struct CommerceStore: Sendable {
  /// How long a call is kept, seconds: longer than callers repeat one.
  static let keptSeconds: Int64 = 180 * 86_400

  let redis: RedisClient

  private var started: StartTimeIndex { StartTimeIndex(redis: redis, name: "commerce", shardOf: "commerce") }

  /// A call's name in the index, from the app and the request.
  private static func name(_ bundleId: String, _ reference: String) -> String { "\(reference) \(bundleId)" }
  private static func key(_ name: String) -> String { Keys.own("recovery", "commerce:\(name)", shardOf: name) }

  /// The key that makes calls of one name exclusive.
  static func exclusiveKey(_ bundleId: String, _ reference: String) -> String {
    let name = name(bundleId, reference)
    return Keys.own("recovery", "commerce-call:\(name)", shardOf: name)
  }

  func record(_ bundleId: String, _ reference: String) async throws(RedisError) -> CommerceRecord? {
    try await record(Self.name(bundleId, reference))
  }

  /// Writes a call. Only the holder of the exclusive key does this.
  func write(_ record: CommerceRecord) async throws(RedisError) {
    let name = Self.name(record.bundleId, record.reference)
    let key = Self.key(name)
    var words: [RedisArgument] = [
      "HSET", .string(key), "bundleId", .string(record.bundleId), "environment", .string(record.environment), "operation",
      .string(record.operation), "transactionId", .string(record.transactionId), "request",
      .bytes(JSONValue.object(record.request).serialized), "state", .string(record.state.rawValue), "startedAt", .integer(record.startedAt),
      "decoded", .bytes(JSONValue.array(record.decoded.map { .object($0) }).serialized), "completedAt",
      .string(record.completedAt.map { String($0) } ?? ""), "purchase", .string(record.purchase ?? ""), "error",
      .string(record.lastError ?? ""), "errorCode",
      .string(record.errorCode.map { String($0) } ?? ""), "response",
    ]
    words.append(.bytes(record.response.map { JSONValue.object($0).serialized } ?? []))
    try await redis.send(words)
    try await redis.send(["EXPIRE", .string(key), .integer(Self.keptSeconds)])
    try await started.add(name, of: record.bundleId, startedAt: record.startedAt)
    try await started.forget(before: WallClock.now() - Self.keptSeconds * 1000, of: record.bundleId)
  }

  /// A page of an app's calls, or of all, newest first, and where the next one begins; nil when there is none.
  func list(
    bundleId: String?, limit: Int, after token: PageToken?
  ) async throws(RedisError) -> (calls: [CommerceRecord], next: PageToken?) {
    let page = try await started.page(of: bundleId, limit: limit, after: token) { (names) async throws(RedisError) -> [CommerceRecord?] in
      try await ConcurrentQueries.all(names) { (name) async throws(RedisError) in try await record(name) }
    }
    return (page.entries, page.next)
  }

  private func record(_ name: String) async throws(RedisError) -> CommerceRecord? {
    let words = try await redis.send(["HGETALL", .string(Self.key(name))]).array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) { fields[words[index].string ?? ""] = words[index + 1] }
    func object(_ name: String) -> JSONObject? {
      fields[name]?.bytes.flatMap { try? JSONValue(parsing: $0, limits: .ownDocuments).objectValue }
    }
    func filled(_ name: String) -> String? { fields[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    guard let bundleId = fields["bundleId"]?.string, let state = fields["state"]?.string.flatMap(CommerceRecord.State.init(rawValue:)),
      let request = object("request"), let reference = name.split(separator: " ").first
    else { return nil }
    let decoded = fields["decoded"]?.bytes.flatMap {
      try? JSONValue(parsing: $0, limits: .ownDocuments).arrayValue
    }
    return CommerceRecord(
      bundleId: bundleId, reference: String(reference), environment: fields["environment"]?.string ?? "",
      operation: fields["operation"]?.string ?? "", transactionId: fields["transactionId"]?.string ?? "", request: request, state: state,
      startedAt: fields["startedAt"]?.integer ?? 0, completedAt: fields["completedAt"]?.string.flatMap { Int64($0) },
      response: object("response"), decoded: (decoded ?? []).compactMap(\.objectValue),
      lastError: filled("error"), errorCode: fields["errorCode"]?.string.flatMap { Int64($0) }, purchase: filled("purchase"))
  }
}
