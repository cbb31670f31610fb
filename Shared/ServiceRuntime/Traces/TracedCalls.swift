import AttributionClient
import AttributionProtocol
import HTTPClient
import Traces

/// Records client spans of RPCs to other services.
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

/// Records client spans of requests to external servers such as Apple's. Path and query are left out, because they name purchases.
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
    case .failure(let error): span.end(error: error.word)
    }
  }
}

extension HTTPClientError {
  /// The error in one word, for the span; one of a fixed set.
  var word: String {
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
