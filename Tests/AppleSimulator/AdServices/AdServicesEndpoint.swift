import WireJSON

/// `POST /api/v1/`: answers a token with its attribution record (AdServices, *attributionToken()*).
struct AdServicesEndpoint: Sendable {
  /// The lifetime of a token, in simulated milliseconds.
  static let lifetimeMilliseconds: Double = 24 * 3600 * 1000

  let tokens: AdServicesTokens
  let time: SimulatedTime
  let random: SeededRandom

  func respond(to request: SimulatedRequest) -> SimulatedResponse {
    guard request.method == "POST" else { return .empty(405) }
    let type = (request.header("content-type") ?? "").split(separator: ";").first.map { $0.lowercased() } ?? ""
    let text = String(decoding: request.body, as: UTF8.self)
    let token = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    guard type == "text/plain", !token.isEmpty else { return .empty(400) }
    let now = time.now
    let (scripted, createdAt) = tokens.next(token, at: now)
    var response: SimulatedResponse
    if time.age(since: createdAt) > Self.lifetimeMilliseconds {
      response = .empty(404)
    } else if let scripted {
      response = Self.response(scripted)
    } else {
      // A text of the characters of Base64 may be a token that Apple has no record for.
      let mayBeToken = token.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || [43, 47, 61].contains(byte)
      }
      response = .empty(mayBeToken ? 404 : 400)
    }
    // Apple may take up to a second for the answer that a record is missing.
    if response.status == 404 { response.delayMilliseconds += random.fraction() * 1000 / time.scale }
    tokens.recordCall(token, at: now, status: response.damage == .reset ? 0 : response.status)
    return response
  }

  /// The response of a scripted answer: `{"status": 200, "body": {…}, "delayMilliseconds": 0, "retryAfter": "5", "malformed": true,
  /// "reset": true, "cut": true}` or `{"preset": "standard"}`.
  static func response(_ scripted: JSONObject) -> SimulatedResponse {
    let status = scripted["status"]?.int64Value.map { Int($0) } ?? 200
    var response = SimulatedResponse(status: status)
    let record =
      scripted["body"] ?? scripted["record"]
      ?? (status == 200 ? preset(scripted["preset"]?.stringValue ?? "standard") : .none)
    if let record {
      response.body = record.stringValue.map { Array($0.utf8) } ?? record.serialized
      response.headers.append(("content-type", "application/json"))
    }
    if scripted["malformed"]?.boolValue == true { response.body = Array(#"{"attribution": tru"#.utf8) }
    if let retry = scripted["retryAfter"] {
      response.headers.append(("retry-after", retry.stringValue ?? retry.serializedString))
    }
    response.delayMilliseconds = scripted["delayMilliseconds"]?.numberValue?.double ?? 0
    if scripted["cut"]?.boolValue == true { response.damage = .cut }
    if scripted["reset"]?.boolValue == true { response.damage = .reset }
    return response
  }

  /// The records that Apple documents, by the names in the README.
  static func preset(_ name: String) -> JSONValue? {
    var record: JSONObject = [
      "attribution": true, "orgId": 40_669_820, "campaignId": 542_370_539, "conversionType": "Download",
      "claimType": "Click",
      "adGroupId": 542_317_095, "countryOrRegion": "US", "keywordId": 87_675_432, "adId": 542_317_136,
      "supplyPlacement": "APPSTORE_SEARCH_RESULTS",
    ]
    switch name {
    case "organic": return ["attribution": false]
    case "detailed": record["clickDate"] = "2026-10-08T17:17Z"
    case "view":
      record["claimType"] = "Impression"
      record["impressionDate"] = "2026-10-08T17:17Z"
    case "test":
      record.merge([
        "orgId": 1_234_567_890, "campaignId": 1_234_567_890, "adGroupId": 1_234_567_890, "keywordId": 12_323_222,
        "clickDate": "2020-04-08T17:17Z",
      ])
    default: break
    }
    return .object(record)
  }
}
