import WireJSON

/// A scripted failure of the requests that match a route.
struct Fault: Sendable {
  /// `*`, a group (`appStoreServer`, `production`, `sandbox`, `adServices`, `consent`), an endpoint's name, a host, or the start of a path.
  var route: String
  /// The number of requests that it will still affect; nil for no limit.
  var remaining: Int?
  /// The percentage of matching requests that it affects.
  var percentage: Double
  /// The status of an answer that replaces the endpoint's; nil to change the endpoint's own answer.
  var status: Int?
  var delayMilliseconds: Double
  var damage: SimulatedResponse.Damage
  var malformed: Bool
  var body: JSONValue?
  var headers: [(name: String, value: String)]
  let random: SeededRandom

  /// Reads the body of `POST /control/faults`.
  init(_ json: JSONObject) throws {
    route = json["route"]?.stringValue ?? "*"
    remaining = json["count"]?.int64Value.map { Int($0) } ?? (json["percentage"] == nil ? 1 : nil)
    percentage = json["percentage"]?.numberValue?.double ?? 100
    status = json["status"]?.int64Value.map { Int($0) }
    delayMilliseconds = json["delayMilliseconds"]?.numberValue?.double ?? 0
    damage = json["reset"]?.boolValue == true ? .reset : json["cut"]?.boolValue == true ? .cut : .none
    malformed = json["malformed"]?.boolValue ?? false
    body = json["body"]
    headers = (json["headers"]?.objectValue?.members ?? []).map {
      ($0.key.lowercased(), $0.value.stringValue ?? $0.value.serializedString)
    }
    if let retry = json["retryAfter"] { headers.append(("retry-after", retry.stringValue ?? retry.serializedString)) }
    random = SeededRandom(seed: json["seed"]?.numberValue?.uint64 ?? 1)
    if let status, !(200...599).contains(status) { throw ControlError("status: 200 to 599") }
  }

  /// True if the route selects a request that has these names (endpoint, groups and host) and this path.
  func matches(names: [String], path: String) -> Bool {
    route == "*" || names.contains(route) || (route.hasPrefix("/") && path.hasPrefix(route))
  }

  /// True if the endpoint is not called, because the fault has an answer of its own.
  var replacesResponse: Bool { status != nil }

  /// The answer with the effects of the fault.
  func apply(to response: SimulatedResponse) -> SimulatedResponse {
    var response = response
    if let status {
      response = SimulatedResponse(status: status)
      if let body {
        response.body = body.stringValue.map { Array($0.utf8) } ?? body.serialized
        response.headers.append(("content-type", "application/json"))
      }
    }
    if malformed {
      response.body = Array(#"{"errorCode": 5000000, "errorMes"#.utf8)
      response.headers = [("content-type", "application/json")]
    }
    response.headers += headers
    response.delayMilliseconds += delayMilliseconds
    if damage != .none { response.damage = damage }
    return response
  }
}
