import AttributionProtocol
import WireJSON

/// The responses to `/livez`, `/startupz`, `/readyz`, `/metrics` and the gRPC health check, which the internal port alone serves.
///
/// `/livez` is always 200, even if a worker is stalled: all workers stall while a node of Redis hangs, and a restart of all instances would
/// not help then.
extension Health {
  /// The decision about a request to an administrative path; nil for any other path.
  func admission(_ request: IncomingRequest) -> RequestAdmission? {
    switch request.path {
    case "/livez": return refuseUnlessGet(request) ?? .response(status(true))
    case "/startupz": return refuseUnlessGet(request) ?? .response(status(isStarted))
    case "/readyz": return refuseUnlessGet(request) ?? .body(limit: 0, SimpleExchange { _, _ in await self.readiness() })
    case "/metrics": return refuseUnlessGet(request) ?? exposition(for: request)
    case "/grpc.health.v1.Health/Check":
      guard request.method == "POST" else { return .response(HTTPResponse(status: 405, headers: ["allow": "POST"])) }
      guard request.mediaType == "application/json" else {
        return .response(HTTPResponse(status: 415, headers: ["accept-post": "application/json"]))
      }
      return .body(
        limit: Self.maxCheckBytes,
        SimpleExchange { body, reservation in await self.check(body, request.contentEncoding, reservation) })
    default: return nil
    }
  }

  private func exposition(for request: IncomingRequest) -> RequestAdmission {
    guard metricsAccess.admits(authorization: request.authorization) else {
      return .response(
        .error(RPCError(.unauthenticated, "/metrics needs the header Authorization: Bearer with a token of metrics.tokenSHA256")))
    }
    return .body(
      limit: 0,
      SimpleExchange { _, _ in
        let format = ExpositionFormat(accept: request.header("accept"))
        return HTTPResponse(
          status: 200, headers: ["content-type": format.contentType], body: Array(await self.metrics.exposition(format).utf8))
      })
  }

  /// The refusal of a request with another method than GET or HEAD; nil if the method is right.
  private func refuseUnlessGet(_ request: IncomingRequest) -> RequestAdmission? {
    request.method == "GET" || request.method == "HEAD" ? nil : .response(HTTPResponse(status: 405, headers: ["allow": "GET"]))
  }

  /// - Parameter results: each check's name, and what is wrong; nil if nothing is.
  func status(_ ok: Bool, _ results: [(String, String?)] = []) -> HTTPResponse {
    var checks = JSONObject()
    for (name, problem) in results { checks[name] = .string(problem ?? "ok") }
    let body: JSONValue = [
      "status": ok ? "ok" : "fail", "service": .string(service), "version": .string(BuildInformation.version),
      "draining": .bool(isDraining), "checks": .object(checks),
    ]
    return .json(ok ? 200 : 503, body.serialized)
  }

  /// The maximum size of the body of a gRPC health check, bytes.
  private static let maxCheckBytes = 4096

  /// Answers the gRPC health check (`grpc.health.v1`) in Connect's JSON encoding.
  private func check(_ body: [UInt8], _ encoding: String?, _ reservation: BodyReservation) async -> HTTPResponse {
    var bytes = body
    switch encoding?.lowercased() {
    case nil, "identity": break
    case "gzip":
      guard let inflated = try? Gzip.inflate(body, limit: Self.maxCheckBytes, on: reservation) else {
        return .error(RPCError(.invalidArgument, "the body is not gzip, or is too large"))
      }
      bytes = inflated
    default: return .error(.unimplemented("unknown content encoding; gzip and identity are accepted"))
    }
    guard let object = try? JSONValue(parsing: bytes).objectValue else {
      return .error(RPCError(.invalidArgument, "the body must be a JSON object"))
    }
    let name: String
    switch object["service"] {
    case nil, .null?: name = ""
    case .string(let text)?: name = text
    default: return .error(.invalidArgument(field: "service", "must be a string"))
    }
    guard name.isEmpty || rpcServices.contains(name) else { return .error(.notFound("no such service")) }
    let ready = await readiness().status == 200
    return .json(200, JSONValue.object(["status": .string(ready ? "SERVING" : "NOT_SERVING")]).serialized)
  }
}
