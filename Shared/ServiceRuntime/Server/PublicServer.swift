import AttributionProtocol
import HTTPTypes
import Logging

/// A request to the public port, its body read and bounded.
public struct PublicHTTPRequest: Sendable {
  public let method: String
  public let path: String
  public let query: String?
  /// Without its parameters, lower case.
  public let mediaType: String?
  public let body: [UInt8]
  public let peer: String?
  public let requestId: String
  public let traceparent: String
}

/// An answer of the public port.
public struct PublicHTTPResponse: Sendable {
  public var status: Int
  /// JSON.
  public var body: [UInt8]
  public var headers: [(String, String)]

  public init(status: Int, body: [UInt8] = [], headers: [(String, String)] = []) {
    self.status = status
    self.body = body
    self.headers = headers
  }
}

/// Serves the routes of the public port.
public protocol PublicResponder: Sendable {
  /// Whether a path is one of the routes, and by which methods; nil when it is none. Asked before the body is read.
  func methods(of path: String) -> [String]?
  func respond(to request: PublicHTTPRequest) async -> PublicHTTPResponse
}

/// The public port: no RPC, no health, no metrics on it.
struct PublicServer: HTTPResponder {
  let responder: any PublicResponder
  let limits: Limits
  let registry: MetricsRegistry

  init(responder: any PublicResponder, limits: Limits, registry: MetricsRegistry) {
    self.responder = responder
    self.limits = limits
    self.registry = registry
    registry.counter("attribution_public_requests_total", help: "Requests of the public port.", labels: ["status"])
    registry.histogram("attribution_public_duration_seconds", help: "Time to answer on the public port.")
  }

  func respond(to request: IncomingRequest, body: any BodyReader) async -> HTTPAnswer {
    let started = ContinuousClock.now
    let requestId = RequestID.usable(request.headers[.requestId])
    var answer = await answer(request, body, requestId: requestId)
    answer.headers[.requestId] = requestId
    registry.add("attribution_public_requests_total", 1, [String(answer.status)])
    registry.observe("attribution_public_duration_seconds", started.duration(to: .now) / .seconds(1))
    return answer
  }

  private func answer(_ request: IncomingRequest, _ body: any BodyReader, requestId: String) async -> HTTPAnswer {
    guard let methods = responder.methods(of: request.path) else {
      return .error(.notFound("no such route"), status: 404)
    }
    guard methods.contains(request.method) else {
      var answer = HTTPAnswer.error(
        RPCError(.unimplemented, "this route takes \(methods.joined(separator: ", "))"), status: 405)
      answer.headers[.allow] = methods.joined(separator: ", ")
      return answer
    }
    let tooLarge = RPCError(
      .resourceExhausted, "the body is larger than \(limits.publicBodyBytes) bytes", reason: "REQUEST_TOO_LARGE")
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limits.publicBodyBytes {
      return .error(tooLarge, status: 413)
    }
    var bytes: [UInt8]
    do { bytes = try await body.read(limit: limits.publicBodyBytes) } catch BodyError.tooLarge {
      return .error(tooLarge, status: 413)
    } catch {
      return .error(RPCError(.deadlineExceeded, "the body did not come in time"), status: 408)
    }
    switch request.headers[.contentEncoding]?.lowercased() {
    case nil, "identity": break
    case "gzip":
      do throws(Gzip.Failure) {
        bytes = try Gzip.inflate(bytes, limit: min(limits.publicBodyBytes, max(bytes.count * limits.gzipRatio, 1024)))
      } catch {
        return error == .tooLarge
          ? .error(tooLarge, status: 413) : .error(RPCError(.invalidArgument, "the body is not gzip"), status: 400)
      }
    default:
      return .error(RPCError(.unimplemented, "unknown content encoding; gzip and identity are accepted"), status: 415)
    }
    let response = await responder.respond(
      to: PublicHTTPRequest(
        method: request.method, path: request.path, query: request.query, mediaType: request.mediaType, body: bytes,
        peer: request.peer,
        requestId: requestId, traceparent: TraceContext.child(of: request.headers[.traceparent])))
    var answer = HTTPAnswer.json(response.status, response.body)
    for (name, value) in response.headers {
      if let name = HTTPField.Name(name) { answer.headers[name] = value }
    }
    return answer
  }
}
