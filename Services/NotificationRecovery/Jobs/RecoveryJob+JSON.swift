import AppStore
import WireJSON

extension RecoveryJob {
  /// As it is stored.
  var json: [UInt8] {
    var object: JSONObject = [
      "id": .string(id), "bundleId": .string(bundleId), "environment": .string(server.rawValue), "window": Self.json(window),
      "onlyFailures": .bool(onlyFailures), "startedAt": .integer(startedAt), "state": .string(state.rawValue),
      "restarts": .integer(restarts), "pages": .integer(pages), "fetched": .integer(fetched), "accepted": .integer(accepted),
      "duplicates": .integer(duplicates), "failed": .integer(failed),
    ]
    object["notificationType"] = notificationType.map { .string($0) }
    object["notificationSubtype"] = notificationSubtype.map { .string($0) }
    object["transactionId"] = transactionId.map { .string($0) }
    object["completedAt"] = completedAt.map { .integer($0) }
    object["lastError"] = lastError.map { .string($0) }
    object["paginationToken"] = paginationToken.map { .string($0) }
    object["uncovered"] = uncovered.map(Self.json)
    object["asked"] = asked.map(Self.json)
    let counts = attemptResults.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) }
    object["attemptResults"] = .object(JSONObject(counts))
    return JSONValue.object(object).serialized
  }

  /// Nil for what this service has not written.
  init?(json bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue, let id = object["id"]?.stringValue,
      let bundleId = object["bundleId"]?.stringValue,
      let server = object["environment"]?.stringValue.flatMap(AppStoreServer.init(rawValue:)),
      let window = object["window"].flatMap(Self.window), let startedAt = object["startedAt"]?.int64Value,
      let state = object["state"]?.stringValue.flatMap(State.init(rawValue:))
    else { return nil }
    do throws(RequestRefusal) {
      try self.init(
        id: id, bundleId: bundleId, server: server, window: window, notificationType: object["notificationType"]?.stringValue,
        notificationSubtype: object["notificationSubtype"]?.stringValue, transactionId: object["transactionId"]?.stringValue,
        onlyFailures: object["onlyFailures"]?.boolValue ?? false, startedAt: startedAt)
    } catch { return nil }
    func count(_ name: String) -> Int64 { object[name]?.int64Value ?? 0 }
    self.state = state
    completedAt = object["completedAt"]?.int64Value
    lastError = object["lastError"]?.stringValue
    paginationToken = object["paginationToken"]?.stringValue
    restarts = Int(count("restarts"))
    pages = count("pages")
    fetched = count("fetched")
    accepted = count("accepted")
    duplicates = count("duplicates")
    failed = count("failed")
    uncovered = object["uncovered"].flatMap(Self.window)
    asked = object["asked"].flatMap(Self.window)
    for member in object["attemptResults"]?.objectValue?.members ?? [] { attemptResults[member.key] = member.value.int64Value ?? 0 }
  }

  private static func json(_ window: TimeWindow) -> JSONValue { ["start": .integer(window.start), "end": .integer(window.end)] }

  private static func window(_ value: JSONValue) -> TimeWindow? {
    guard let start = value["start"]?.int64Value, let end = value["end"]?.int64Value else { return nil }
    return try? TimeWindow(start: start, end: end)
  }
}
