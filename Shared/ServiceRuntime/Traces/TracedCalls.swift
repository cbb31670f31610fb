import AttributionClient
import AttributionProtocol
import HTTPClient
import Traces

/// Records a client span for each RPC to another service, if the calling task has a current span.
struct TracedCalls: CallObserver {
  func begin(_ method: any RPCMethod.Type) -> (any ObservedCall)? {
    guard let span = Span.current else { return nil }
    let name = String(method.path.dropFirst())
    return TracedCall(
      span: span.child(name, .client, [SpanAttribute("rpc.system.name", "connectrpc"), SpanAttribute("rpc.method", name)]))
  }
}

private struct TracedCall: ObservedCall {
  let span: Span

  var traceparent: String? { span.traceparent }

  func end(_ failure: RPCCode?) {
    guard let failure else { return span.end() }
    span.end(SpanAttribute("rpc.response.status_code", failure.rawValue), error: failure.rawValue)
  }
}

/// Records a client span for each request to an external server such as Apple's, if the calling task has a current span. The span does not
/// have the path and query, because these identify purchases.
struct TracedRequests: HTTPRequestObserver {
  func begin(_ request: HTTPClientRequest) -> (any ObservedHTTPRequest)? {
    guard let span = Span.current else { return nil }
    var attributes = [SpanAttribute("http.request.method", request.method)]
    if let server = URLServer(request.url) {
      attributes += [SpanAttribute("server.address", server.host), SpanAttribute("server.port", .integer(Int64(server.port)))]
    }
    return TracedRequest(span: span.child(request.method, .client, attributes))
  }
}

private struct TracedRequest: ObservedHTTPRequest {
  let span: Span

  var traceparent: String { span.traceparent }

  func end(_ result: Result<HTTPClientResponse, HTTPClientError>) {
    switch result {
    case .success(let response):
      span.end(
        SpanAttribute("http.response.status_code", .integer(Int64(response.status))),
        error: response.status >= 400 ? String(response.status) : nil)
    case .failure(let error): span.end(error: error.type)
    }
  }
}

extension HTTPClientError {
  /// The kind of error for the span attribute `error.type`, which must have few different values.
  var type: String {
    switch self {
    case .badURL: "bad_url"
    case .timedOut: "timeout"
    case .couldNotConnect: "connection"
    case .tls: "tls"
    case .connectionReset: "connection_reset"
    case .tooLarge: "too_large"
    case .cancelled: "cancelled"
    case .other: "other"
    }
  }
}
