import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// Routes a request to the control API, the App Store Server API, AdServices, or the log of sessions, and applies scripted faults.
struct SimulatorResponder: HTTPResponder {
  typealias Context = SimulatorContext
  /// The maximum number of bytes of a request body.
  static let bodyLimit = 16 << 20

  let parts: SimulatorParts
  let control: ControlAPI
  let adServices: AdServicesEndpoint
  /// True if only the control API is served on this port.
  let controlOnly: Bool

  init(parts: SimulatorParts, controlOnly: Bool) {
    self.parts = parts
    self.controlOnly = controlOnly
    control = ControlAPI(parts: parts)
    adServices = AdServicesEndpoint(tokens: parts.tokens, time: parts.time, random: parts.random)
  }

  func respond(to request: Request, context: Context) async throws -> Response {
    let buffer = try await request.body.collect(upTo: Self.bodyLimit)
    let received = SimulatedRequest(
      method: request.method.rawValue, target: request.head.path ?? "/", authority: request.head.authority,
      headers: request.headers.map { ($0.name.canonicalName, $0.value) }, body: Array(buffer.readableBytesView))
    if received.segments.first == "control" { return send(await control.respond(to: received)) }
    if controlOnly { return send(.empty(404)) }
    let (destination, faultNames) = route(received)
    let fault = parts.faults.next(names: faultNames + [received.host], path: received.path)
    var response: SimulatedResponse
    if let fault, fault.replacesResponse {
      response = .empty(200)
      if case .session = destination { parts.sessions.record(received, at: parts.time.now, status: fault.status ?? 0) }
      if case .adServices = destination { recordAdServicesCall(received, status: fault.status ?? 0) }
    } else {
      response = await respond(received, destination, willReset: fault.map { $0.damage == .reset } ?? false)
    }
    if let fault { response = fault.apply(to: response) }
    if response.delayMilliseconds > 0 {
      try await Task.sleep(for: .microseconds(Int64(response.delayMilliseconds * 1000)))
    }
    switch response.damage {
    case .none: return send(response)
    case .reset:
      await context.breakConnection()
      throw SimulatedFault()
    case .cut: return cut(response, context)
    }
  }

  private enum Destination {
    /// The path after the environment's prefix.
    case appStore(AppStoreEnvironment, path: [String])
    case adServices, session, nothing
  }

  /// Selects the part that answers the request, and the names by which a fault's `route` can select the request.
  private func route(_ request: SimulatedRequest) -> (destination: Destination, faultNames: [String]) {
    if ConsentHosts.all.contains(request.host) { return (.session, ["consent"]) }
    if let first = request.segments.first, first == "production" || first == "sandbox" {
      let environment: AppStoreEnvironment = first == "production" ? .production : .sandbox
      let path = Array(request.segments.dropFirst())
      let endpoint = APIEndpoint.find(method: request.method, path)?.endpoint.rawValue
      return (.appStore(environment, path: path), ["appStoreServer", first] + (endpoint.map { [$0] } ?? []))
    }
    if request.path == "/api/v1/" { return (.adServices, ["adServices"]) }
    return request.method == "POST" ? (.session, ["consent"]) : (.nothing, [])
  }

  /// - Parameter willReset: true if a fault resets the connection instead of the answer.
  private func respond(_ request: SimulatedRequest, _ destination: Destination, willReset: Bool) async -> SimulatedResponse {
    switch destination {
    case .appStore(let environment, let path):
      return await parts.serverAPI.respond(to: request, path: path, environment: environment)
    case .adServices: return adServices.respond(to: request)
    case .session:
      parts.sessions.record(request, at: parts.time.now, status: willReset ? 0 : 200)
      return .json(["message": "received"])
    case .nothing: return .empty(404)
    }
  }

  private func recordAdServicesCall(_ request: SimulatedRequest, status: Int) {
    parts.tokens.recordCall(String(decoding: request.body, as: UTF8.self), at: parts.time.now, status: status)
  }

  private func send(_ response: SimulatedResponse) -> Response {
    Response(
      status: .init(code: response.status), headers: fields(response),
      body: .init(byteBuffer: ByteBuffer(bytes: response.body)))
  }

  /// Sends the full content length and half of the body, and then resets the connection.
  private func cut(_ response: SimulatedResponse, _ context: Context) -> Response {
    let body = response.body.isEmpty ? Array("{}".utf8) : response.body
    return Response(
      status: .init(code: response.status), headers: fields(response),
      body: .init(contentLength: body.count) { writer in
        try await writer.write(ByteBuffer(bytes: body.prefix(body.count / 2)))
        // A reset discards bytes that have not been sent yet, so they get time to leave.
        try await Task.sleep(for: .milliseconds(20))
        await context.breakConnection()
        throw SimulatedFault()
      })
  }

  private func fields(_ response: SimulatedResponse) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in response.headers {
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    return fields
  }
}

/// Thrown to end a request whose connection a scripted fault has reset.
struct SimulatedFault: Error {}
