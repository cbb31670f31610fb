/// Callbacks for traces of a client's requests.
public protocol HTTPRequestObserver: Sendable {
  /// Called in the task that sends a request. Returns nil if the request is not observed.
  func begin(_ request: HTTPClientRequest) -> (any ObservedHTTPRequest)?
}

/// An observed request.
public protocol ObservedHTTPRequest: Sendable {
  /// Replaces the request's `traceparent`. A request without one stays without one.
  var traceparent: String { get }
  func end(_ result: Result<HTTPClientResponse, HTTPClientError>)
}

extension HTTPClientRequest {
  /// The request with another `traceparent`, if it has one.
  func replacing(traceparent: String) -> HTTPClientRequest {
    guard let place = headers.firstIndex(where: { $0.0 == "traceparent" }) else { return self }
    var request = self
    request.headers[place].1 = traceparent
    return request
  }
}
