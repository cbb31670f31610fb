import AppStore
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// A call to the Advanced Commerce API and its outcome. Times are milliseconds since 1970.
struct CommerceRecord: Sendable, Hashable {
  enum State: String, Sendable {
    /// The call is in flight, or its outcome is unknown.
    case sending
    /// Apple has executed the call.
    case answered
    /// Apple has refused the call and changed nothing.
    case refused
  }

  let bundleId: String
  /// The `requestReferenceId`, in lower case.
  let reference: String
  /// The environment; empty while it is unknown which server has the purchase.
  var environment: String
  let operation: String
  let transactionId: String
  let request: JSONObject
  var state: State
  let startedAt: Int64
  var completedAt: Int64?
  var response: JSONObject?
  /// The payloads of the JWS in ``response``.
  var decoded: [JSONObject] = []
  var lastError: String?
  /// Apple's error code.
  var errorCode: Int64?

  /// The purchase's original transaction id; nil until an answer of Apple's has named it.
  var purchase: String?

  /// True if a request repeats this call: it has the same content and is for the same server. A request for the other server is not a
  /// repeat, because the two servers have different purchases.
  func isRepeated(by request: AdvancedCommerceRequest, transactionId: String, server: AppStoreServer?) -> Bool {
    operation == request.operation.rawValue && self.transactionId == transactionId && mayBelong(to: server)
      && Self.body(self.request, with: reference) == Self.body(request.body, with: reference)
  }

  /// A request body with the given identifier, so that bodies can be compared whose identifiers differ only in upper and lower case.
  private static func body(_ body: JSONObject, with reference: String) -> JSONObject {
    guard var info = body["requestInfo"]?.objectValue else { return body }
    var normalized = body
    info["requestReferenceId"] = .string(reference)
    normalized["requestInfo"] = .object(info)
    return normalized
  }

  /// False if the call is known to belong to the other server. Nil for `server` means any.
  func mayBelong(to server: AppStoreServer?) -> Bool { server == nil || environment.isEmpty || environment == server?.rawValue }
}

/// Stores the calls in Redis: a hash for each call, and an index of the calls' names by start time. The name of a call consists of its
/// `requestReferenceId` and its app.
struct CommerceStore: Sendable {
  /// How long a call is stored after it was last written, seconds. A repeat after that time would be sent to Apple as a new call.
  static let keptSeconds: Int64 = 180 * 86_400

  let redis: RedisClient

  private var started: StartTimeIndex { StartTimeIndex(redis: redis, name: "commerce", shardOf: "commerce") }

  private static func name(_ bundleId: String, _ reference: String) -> String { "\(reference) \(bundleId)" }
  private static func key(_ name: String) -> String { Keys.own("recovery", "commerce:\(name)", shardOf: name) }

  /// The key of the ``ExclusiveCall`` that lets one call of a name run at a time.
  static func exclusiveKey(_ bundleId: String, _ reference: String) -> String {
    let name = name(bundleId, reference)
    return Keys.own("recovery", "commerce-call:\(name)", shardOf: name)
  }

  func record(_ bundleId: String, _ reference: String) async throws(RedisError) -> CommerceRecord? {
    try await record(Self.name(bundleId, reference))
  }

  /// Writes a call. The caller must run inside the ``ExclusiveCall`` of the call's name.
  func write(_ record: CommerceRecord) async throws(RedisError) {
    let name = Self.name(record.bundleId, record.reference)
    let key = Self.key(name)
    var command: [RedisArgument] = [
      "HSET", .string(key), "bundleId", .string(record.bundleId), "environment", .string(record.environment), "operation",
      .string(record.operation), "transactionId", .string(record.transactionId), "request",
      .bytes(JSONValue.object(record.request).serialized), "state", .string(record.state.rawValue), "startedAt", .integer(record.startedAt),
      "decoded", .bytes(JSONValue.array(record.decoded.map { .object($0) }).serialized), "completedAt",
      .string(record.completedAt.map { String($0) } ?? ""), "purchase", .string(record.purchase ?? ""), "error",
      .string(record.lastError ?? ""), "errorCode",
      .string(record.errorCode.map { String($0) } ?? ""), "response",
    ]
    command.append(.bytes(record.response.map { JSONValue.object($0).serialized } ?? []))
    try await redis.send(command)
    try await redis.send(["EXPIRE", .string(key), .integer(Self.keptSeconds)])
    try await started.add(name, of: record.bundleId, startedAt: record.startedAt)
    try await started.forget(before: WallClock.now() - Self.keptSeconds * 1000, of: record.bundleId)
  }

  /// A page of the calls of an app, or of all apps if `bundleId` is nil, newest first. `next` is the start of the next page; nil on the
  /// last.
  func list(
    bundleId: String?, limit: Int, after token: PageToken?
  ) async throws(RedisError) -> (calls: [CommerceRecord], next: PageToken?) {
    let page = try await started.page(of: bundleId, limit: limit, after: token) { (names) async throws(RedisError) -> [CommerceRecord?] in
      try await ConcurrentQueries.all(names) { (name) async throws(RedisError) in try await record(name) }
    }
    return (page.entries, page.next)
  }

  private func record(_ name: String) async throws(RedisError) -> CommerceRecord? {
    let pairs = try await redis.send(["HGETALL", .string(Self.key(name))]).array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: pairs.count - 1, by: 2) { fields[pairs[index].string ?? ""] = pairs[index + 1] }
    func object(_ name: String) -> JSONObject? {
      fields[name]?.bytes.flatMap { try? JSONValue(parsing: $0, limits: .ownDocuments).objectValue }
    }
    func nonEmpty(_ name: String) -> String? { fields[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
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
      lastError: nonEmpty("error"), errorCode: fields["errorCode"]?.string.flatMap { Int64($0) }, purchase: nonEmpty("purchase"))
  }
}
