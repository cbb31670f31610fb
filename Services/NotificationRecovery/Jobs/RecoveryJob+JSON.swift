import AppStore
import WireJSON

extension RecoveryJob {
  /// The job as it is stored in Redis.
  var json: [UInt8] {
    var object: JSONObject = [
      "id": .string(id), "bundleId": .string(bundleId), "environment": .string(server.rawValue), "window": Self.json(window),
      "onlyFailures": .bool(onlyFailures), "origin": .string(origin.rawValue), "startedAt": .integer(startedAt),
      "state": .string(state.rawValue), "pages": .integer(pages), "fetched": .integer(fetched), "accepted": .integer(accepted),
      "duplicates": .integer(duplicates), "failed": .integer(failed),
    ]
    object["notificationType"] = notificationType.map { .string($0) }
    object["notificationSubtype"] = notificationSubtype.map { .string($0) }
    object["transactionId"] = transactionId.map { .string($0) }
    object["completedAt"] = completedAt.map { .integer($0) }
    object["lastError"] = lastError.map { .string($0) }
    object["uncovered"] = uncovered.map(Self.json)
    object["slices"] = slices.map(Self.json)
    let counts = attemptResults.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) }
    object["attemptResults"] = .object(JSONObject(counts))
    let times = attemptTimes.sorted { $0.key < $1.key }.map {
      JSONObject.Member(key: $0.key, value: .array([.integer($0.value.lowerBound), .integer($0.value.upperBound)]))
    }
    // Older versions neither write nor read these two members.
    if !times.isEmpty { object["attemptTimes"] = .object(JSONObject(times)) }
    if undelivered > 0 { object["undelivered"] = .integer(undelivered) }
    return JSONValue.object(object).serialized
  }

  /// Parses a stored job; nil if it is invalid.
  init?(json bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue, let id = object["id"]?.stringValue,
      let bundleId = object["bundleId"]?.stringValue,
      let server = object["environment"]?.stringValue.flatMap(AppStoreServer.init(rawValue:)),
      let window = object["window"].flatMap(Self.window), let startedAt = object["startedAt"]?.int64Value,
      let state = object["state"]?.stringValue.flatMap(State.init(rawValue:)),
      let origin = object["origin"]?.stringValue.flatMap(RecoveryOrigin.init(rawValue:))
    else { return nil }
    do throws(RequestRefusal) {
      try self.init(
        id: id, bundleId: bundleId, server: server, window: window, notificationType: object["notificationType"]?.stringValue,
        notificationSubtype: object["notificationSubtype"]?.stringValue, transactionId: object["transactionId"]?.stringValue,
        onlyFailures: object["onlyFailures"]?.boolValue ?? false, origin: origin, startedAt: startedAt)
    } catch { return nil }
    func count(_ name: String) -> Int64 { object[name]?.int64Value ?? 0 }
    self.state = state
    completedAt = object["completedAt"]?.int64Value
    lastError = object["lastError"]?.stringValue
    pages = count("pages")
    fetched = count("fetched")
    accepted = count("accepted")
    duplicates = count("duplicates")
    failed = count("failed")
    undelivered = count("undelivered")
    restore(uncovered: object["uncovered"].flatMap(Self.window), slices: object["slices"].flatMap(Self.slices))
    for member in object["attemptResults"]?.objectValue?.members ?? [] { attemptResults[member.key] = member.value.int64Value ?? 0 }
    for member in object["attemptTimes"]?.objectValue?.members ?? [] {
      let times = member.value.arrayValue?.compactMap(\.int64Value) ?? []
      if times.count == 2, times[0] <= times[1] { attemptTimes[member.key] = times[0]...times[1] }
    }
  }

  private static func json(_ window: TimeWindow) -> JSONValue { ["start": .integer(window.start), "end": .integer(window.end)] }

  private static func window(_ value: JSONValue) -> TimeWindow? {
    guard let start = value["start"]?.int64Value, let end = value["end"]?.int64Value else { return nil }
    return try? TimeWindow(start: start, end: end)
  }

  private static func json(_ slices: HistorySlices) -> JSONValue {
    [
      "window": json(slices.window), "mayDivide": .bool(slices.mayDivide), "cursor": .integer(slices.cursor),
      "divided": .bool(slices.isDivided), "longest": .integer(slices.longest),
      "measures": .array(slices.measures.map { .array([.integer($0.length), .integer($0.items)]) }),
      "open": .array(
        slices.open.map { slice in
          var object: JSONObject = [
            "number": .integer(slice.number), "window": json(slice.window), "restarts": .integer(slice.pager.restarts),
            "pages": .integer(slice.pages), "items": .integer(slice.items),
          ]
          object["token"] = slice.pager.paginationToken.map { .string($0) }
          return .object(object)
        }),
    ]
  }

  private static func slices(_ value: JSONValue) -> HistorySlices? {
    guard let window = value["window"].flatMap(Self.window), let cursor = value["cursor"]?.int64Value else { return nil }
    let open = (value["open"]?.arrayValue ?? []).compactMap { slice -> HistorySlice? in
      guard let number = slice["number"]?.int64Value, let window = slice["window"].flatMap(Self.window) else { return nil }
      return HistorySlice(
        number: number, window: window,
        pager: NotificationHistoryPager(paginationToken: slice["token"]?.stringValue, restarts: Int(slice["restarts"]?.int64Value ?? 0)),
        pages: slice["pages"]?.int64Value ?? 0, items: slice["items"]?.int64Value ?? 0)
    }
    let measures = (value["measures"]?.arrayValue ?? []).compactMap { pair -> HistorySlices.Measure? in
      guard let numbers = pair.arrayValue, numbers.count == 2, let length = numbers[0].int64Value, let items = numbers[1].int64Value
      else { return nil }
      return HistorySlices.Measure(length: length, items: items)
    }
    return HistorySlices(
      window: window, mayDivide: value["mayDivide"]?.boolValue ?? true, cursor: cursor, isDivided: value["divided"]?.boolValue ?? false,
      open: open, measures: measures, longest: value["longest"]?.int64Value ?? 0)
  }
}
