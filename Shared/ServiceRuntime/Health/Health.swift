import AttributionProtocol
import HTTPTypes
import Synchronization
import WireJSON

/// A dependency that must work for calls to be served.
public struct ReadinessCheck: Sendable {
  /// Names the dependency, never its address.
  public let name: String
  /// Nil when it works, a word on what is wrong otherwise.
  public let check: @Sendable () async -> String?

  public init(name: String, check: @escaping @Sendable () async -> String?) {
    self.name = name
    self.check = check
  }
}

/// `/livez`, `/startupz`, `/readyz`, `/metrics` and the gRPC health check (`rpc-protocol.md` section 15).
final class Health: Sendable {
  private struct State {
    var started = false
    var draining = false
  }

  private let service: String
  private let rpcServices: [String]
  private let checks: [ReadinessCheck]
  private let metrics: MetricsRegistry
  private let state = Mutex(State())

  init(service: String, rpcServices: [String], checks: [ReadinessCheck], metrics: MetricsRegistry) {
    self.service = service
    self.rpcServices = rpcServices
    self.checks = checks
    self.metrics = metrics
  }

  var isDraining: Bool { state.withLock { $0.draining } }
  func setStarted() { state.withLock { $0.started = true } }
  func setDraining() { state.withLock { $0.draining = true } }

  /// The answer to an administrative path; nil for any other.
  func answer(_ request: IncomingRequest, body: any BodyReader) async -> HTTPAnswer? {
    switch request.path {
    case "/livez": return get(request) ?? status(true)
    case "/startupz": return get(request) ?? status(state.withLock { $0.started })
    case "/readyz":
      if let refusal = get(request) { return refusal }
      return await readiness()
    case "/metrics":
      if let refusal = get(request) { return refusal }
      let text = await metrics.text()
      return HTTPAnswer(
        status: 200, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"], body: Array(text.utf8))
    case "/grpc.health.v1.Health/Check": return await check(request, body)
    default: return nil
    }
  }

  private func get(_ request: IncomingRequest) -> HTTPAnswer? {
    request.method == "GET" || request.method == "HEAD" ? nil : HTTPAnswer(status: 405, headers: [.allow: "GET"])
  }

  private func status(_ ok: Bool, _ results: [(String, String?)] = []) -> HTTPAnswer {
    var checks = JSONObject()
    for (name, fault) in results { checks[name] = .string(fault ?? "ok") }
    let body: JSONValue = [
      "status": ok ? "ok" : "fail", "service": .string(service), "version": .string(BuildInformation.version),
      "draining": .bool(isDraining), "checks": .object(checks),
    ]
    return .json(ok ? 200 : 503, body.serialized)
  }

  private func readiness() async -> HTTPAnswer {
    var results: [(String, String?)] = []
    for check in checks { results.append((check.name, await check.check())) }
    let state = state.withLock { $0 }
    return status(state.started && !state.draining && results.allSatisfy { $0.1 == nil }, results)
  }

  private func check(_ request: IncomingRequest, _ body: any BodyReader) async -> HTTPAnswer {
    guard request.method == "POST" else { return HTTPAnswer(status: 405, headers: [.allow: "POST"]) }
    guard request.mediaType == "application/json" else {
      return HTTPAnswer(status: 415, headers: [.acceptPost: "application/json"])
    }
    guard let bytes = try? await body.read(limit: 4096), let object = try? JSONValue(parsing: bytes).objectValue else {
      return .error(RPCError(.invalidArgument, "the body must be a JSON object"))
    }
    let name = object["service"]?.stringValue ?? ""
    guard name.isEmpty || rpcServices.contains(name) else { return .error(.notFound("no such service")) }
    let ready = await readiness().status == 200
    return .json(200, JSONValue.object(["status": .string(ready ? "SERVING" : "NOT_SERVING")]).serialized)
  }
}

/// What was built.
public enum BuildInformation {
  public static let version = "0.1.0"
}
