import WireJSON

/// A scripted failure of a group of routes.
struct Fault: Sendable {
  /// `*`, a group (`appStoreServer`, `adServices`, `consent`), an endpoint's name, a host, or the start of a path.
  var route: String
  /// The number of answers that it will still change; nil for no limit.
  var left: Int?
  /// The percentage of requests that it changes.
  var percentage: Double
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
    left = json["count"]?.int64Value.map { Int($0) } ?? (json["percentage"] == nil ? 1 : nil)
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

  func concerns(names: [String], path: String) -> Bool {
    route == "*" || names.contains(route) || (route.hasPrefix("/") && path.hasPrefix(route))
  }

  /// True if the answer of the fault replaces the answer of the endpoint.
  var replacesResponse: Bool { status != nil }

  func strike(_ response: SimulatedResponse) -> SimulatedResponse {
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
