import WireJSON

/// The control API, by which tests and people control the simulator. The README describes every route.
struct ControlAPI: Sendable {
  let parts: SimulatorParts

  func respond(to request: SimulatedRequest) async -> SimulatedResponse {
    do {
      let route = request.method + " " + request.segments.dropFirst().joined(separator: "/")
      if request.method == "GET" || request.method == "DELETE" {
        guard let response = try get(route, request) else { return .empty(404) }
        return .json(response)
      }
      let body = try parse(request.body)
      guard let response = try await post(route, body) else { return .empty(404) }
      return .json(response)
    } catch let error as ControlError {
      return .json(["error": .string(error.description)], status: 400)
    } catch let error as PostbackError {
      return .json(["error": .string(error.description)], status: 400)
    } catch let error as JSONError {
      return .json(["error": .string("body: \(error)")], status: 400)
    } catch {
      return .json(["error": .string("\(error)")], status: 500)
    }
  }

  private func parse(_ bytes: [UInt8]) throws -> JSONObject {
    if bytes.isEmpty { return [:] }
    guard let object = try JSONValue(parsing: bytes, limits: JSONLimits(depth: 32, values: 1_000_000)).objectValue
    else {
      throw ControlError("body: must be a JSON object")
    }
    return object
  }

  /// The answer to a GET or a DELETE; nil for an unknown route.
  private func get(_ route: String, _ request: SimulatedRequest) throws -> JSONValue? {
    let limit = request.query("limit").flatMap { Int($0) } ?? 100_000
    switch route {
    case "GET state": return state()
    case "GET apps": return ["apps": .array(parts.apps.all.map { .object($0.json) })]
    case "GET ad-networks": return parts.networks.json
    case "GET notifications":
      let uuids = parts.archive.uuids { record in
        (request.query("bundleId").map { $0 == record.bundleID } ?? true)
          && (request.query("environment").map { $0 == record.environment.rawValue } ?? true)
          && (request.query("notificationUUID").map { $0 == record.uuid } ?? true)
      }
      return ["notifications": .array(parts.archive.records(uuids.suffix(limit)).map { .object($0.controlJSON) })]
    case "GET deliveries":
      return ["deliveries": .array(parts.deliveries.list(identifier: request.query("identifier"), limit: limit))]
    case "GET adservices/tokens": return ["tokens": .array(parts.tokens.list(request.query("token")))]
    case "GET sessions": return ["sessions": .array(parts.sessions.list(host: request.query("host"), limit: limit))]
    case "GET retention": return parts.serverAPI.retention.json
    case "GET external-purchase-reports": return parts.serverAPI.reports.state()
    case "GET app-store-calls": return ["calls": .array(parts.serverAPI.callLog(limit: limit))]
    case "DELETE faults":
      parts.faults.reset()
      return [:]
    default: return nil
    }
  }

  /// The answer to a POST; nil for an unknown route.
  private func post(_ route: String, _ body: JSONObject) async throws -> JSONValue? {
    switch route {
    case "POST skadnetwork/postbacks":
      let maker = SKAdNetworkPostbackMaker(keys: parts.deviceKeys, random: parts.random)
      return try await PostbackControl(parts: parts, kind: "skadnetwork").handle(body, make: maker.make)
    case "POST adattributionkit/postbacks":
      let maker = AdAttributionKitPostbackMaker(keys: parts.deviceKeys, random: parts.random)
      return try await PostbackControl(parts: parts, kind: "adattributionkit").handle(body, make: maker.make)
    case "POST ad-networks": return try parts.networks.register(body)
    case "POST apps":
      let app = try SimulatedApp(body)
      try parts.apps.register(app)
      return .object(app.json)
    case "POST notifications": return try await parts.publisher.makeNotifications(body)
    case "POST notifications/story": return try await parts.publisher.makeStory(body)
    case "POST notifications/send": return try await parts.publisher.sendAgain(body)
    case "POST retention/requests": return try await parts.realtime.control(body)
    case "POST retention/performance": return try await parts.realtime.performance(body)
    case "POST adservices/tokens": return try registerTokens(body)
    case "POST adservices/default":
      parts.tokens.setFallback(body.isEmpty ? nil : body)
      return [:]
    case "POST faults": return try fault(body)
    case "POST rate-limits":
      guard let name = body["endpoint"]?.stringValue, let endpoint = APIEndpoint(rawValue: name) else {
        throw ControlError("endpoint: one of \(APIEndpoint.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      parts.serverAPI.limits.set(endpoint, perHour: body["perHour"]?.int64Value.map { Int($0) })
      return [:]
    case "POST retention": return try parts.serverAPI.retention.control(body)
    case "POST pagination-tokens":
      guard let lifetime = body["lifeMilliseconds"]?.int64Value else { throw ControlError("lifeMilliseconds: required") }
      parts.serverAPI.history.setTokenLifetime(milliseconds: lifetime)
      return [:]
    case "POST time-scale":
      guard let scale = body["scale"]?.numberValue?.double, scale > 0 else {
        throw ControlError("scale: a number above 0")
      }
      parts.time.scale = scale
      return state()
    case "POST clock":
      guard let offset = body["offsetMilliseconds"]?.int64Value else {
        throw ControlError("offsetMilliseconds: required")
      }
      parts.time.offsetMilliseconds = offset
      return state()
    case "POST reset":
      parts.reset()
      return state()
    default: return nil
    }
  }

  private func fault(_ body: JSONObject) throws -> JSONValue {
    if body["clear"]?.boolValue == true {
      parts.faults.reset()
    } else {
      parts.faults.add(try Fault(body))
    }
    return ["faults": .integer(parts.faults.count)]
  }

  private func registerTokens(_ body: JSONObject) throws -> JSONValue {
    let tokens = body["tokens"]?.arrayValue ?? [.object(body)]
    for (index, entry) in tokens.enumerated() {
      guard let token = entry["token"]?.stringValue, !token.isEmpty else {
        throw ControlError("tokens[\(index)].token: required")
      }
      let responses =
        entry["answers"]?.arrayValue?.compactMap(\.objectValue) ?? [["preset": entry["preset"] ?? "standard"]]
      parts.tokens.register(
        AdServicesTokens.Token(
          token: token, createdAt: entry["createdAtMilliseconds"]?.int64Value ?? parts.time.now, responses: responses))
    }
    return ["registered": .integer(tokens.count)]
  }

  private func state() -> JSONValue {
    [
      "timeScale": .number(JSONNumber(parts.time.scale) ?? JSONNumber(1)), "nowMilliseconds": .integer(parts.time.now),
      "offsetMilliseconds": .integer(parts.time.offsetMilliseconds), "apps": .integer(parts.apps.all.count),
      "notifications": .integer(parts.archive.count), "customers": .integer(parts.ledger.count),
      "deliveries": .integer(parts.deliveries.count), "tokens": .integer(parts.tokens.count),
      "sessions": .integer(parts.sessions.count), "faults": .integer(parts.faults.count),
    ]
  }
}
