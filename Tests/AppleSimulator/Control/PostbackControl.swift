import WireJSON

/// Creates postbacks for control requests and sends them as devices do.
struct PostbackControl: Sendable {
  let parts: SimulatorParts
  /// `skadnetwork` or `adattributionkit`.
  let kind: String

  func handle(_ request: JSONObject, make: (JSONObject) throws -> Postback) async throws -> JSONValue {
    let count = request["count"]?.int64Value ?? 1
    guard (1...100_000).contains(count) else { throw ControlError("count: 1 to 100000") }
    var created: [JSONValue] = []
    for _ in 0..<count { created.append(.object(try await send(try make(request), request))) }
    return request["count"] == nil ? created[0] : ["postbacks": .array(created)]
  }

  /// Sends a postback with its repetitions and variants, if the request asks for it. Returns the answer to the request.
  private func send(_ postback: Postback, _ request: JSONObject) async throws -> JSONObject {
    var bodies = [postback.body]
    switch request["corrupt"] {
    case nil, .null, .bool(false): break
    case .number(let position): bodies = [postback.corrupted(position: Int(position.int64 ?? 0))]
    default: bodies = [postback.corrupted(position: nil)]
    }
    bodies +=
      [String](repeating: bodies[0], count: Int(max(0, min(request["resend"]?.int64Value ?? 0, 1000))))
      + postback.variants
    let target = try url(request["url"], "url") ?? parts.networks.url(postback.adNetworkID)
    var deliveries: [Int] = []
    if request["send"]?.boolValue ?? (target != nil) {
      guard let target else {
        throw ControlError("send: no url is given, and none is registered for \(postback.adNetworkID)")
      }
      let developerURL = postback.won ? try url(request["developerURL"], "developerURL") : nil
      let wait = request["wait"]?.boolValue ?? true
      for body in bodies {
        async let main = parts.device.send(
          body, kind: kind, identifier: postback.identifier, to: target, awaitingFirst: wait)
        if let developerURL {
          async let copy = parts.device.send(
            body, kind: kind + "-copy", identifier: postback.identifier, to: developerURL, awaitingFirst: wait)
          deliveries += await [main, copy]
        } else {
          deliveries.append(await main)
        }
      }
    }
    var response: JSONObject = ["body": .string(bodies[0])]
    response[kind == "skadnetwork" ? "transactionId" : "postbackId"] = .string(postback.identifier)
    response["adNetworkId"] = .string(postback.adNetworkID)
    response["didWin"] = .bool(postback.won)
    if !postback.variants.isEmpty { response["variants"] = .array(postback.variants.map { .string($0) }) }
    response["deliveries"] = .array(deliveries.map { parts.deliveries.json($0) })
    return response
  }

  private func url(_ value: JSONValue?, _ name: String) throws -> OutgoingURL? {
    guard let value, !value.isNull else { return nil }
    guard let text = value.stringValue, let url = OutgoingURL(text) else {
      throw ControlError("\(name): not an http or https URL")
    }
    return url
  }
}
