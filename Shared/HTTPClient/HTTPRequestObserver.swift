/// Callbacks of ``HTTPClient`` for traces of its requests.
public protocol HTTPRequestObserver: Sendable {
  /// Called before a request is sent, in the task that sends it. Returns nil if the request is not to be observed.
  func begin(_ request: HTTPClientRequest) -> (any ObservedHTTPRequest)?
}

/// A request that is observed.
public protocol ObservedHTTPRequest: Sendable {
  /// The value for the request's header `traceparent`. It is only used if the request has this header.
  var traceparent: String { get }
  /// Called with the result, once.
  func end(_ result: Result<HTTPClientResponse, HTTPClientError>)
}

extension HTTPClientRequest {
  /// The request with another value of its header `traceparent`; unchanged if it has none.
  func replacing(traceparent: String) -> HTTPClientRequest {
    guard let index = headers.firstIndex(where: { $0.0 == "traceparent" }) else { return self }
    var request = self
    request.headers[index].1 = traceparent
    return request
  }
}
