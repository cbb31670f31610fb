/// Told of requests of a client, for traces.
public protocol HTTPRequestObserver: Sendable {
  /// Called in the task that sends; nil for a request of which nothing is to be told.
  func begin(_ request: HTTPClientRequest) -> (any ObservedHTTPRequest)?
}

/// A request that is told of.
public protocol ObservedHTTPRequest: Sendable {
  /// Replaces the request's own `traceparent`, where it has one. A request without one is sent without one.
  var traceparent: String { get }
  func end(_ result: Result<HTTPClientResponse, HTTPClientError>)
}

extension HTTPClientRequest {
  /// The same with another `traceparent`, where it has one.
  func replacing(traceparent: String) -> HTTPClientRequest {
    guard let place = headers.firstIndex(where: { $0.0 == "traceparent" }) else { return self }
    var request = self
    request.headers[place].1 = traceparent
    return request
  }
}
