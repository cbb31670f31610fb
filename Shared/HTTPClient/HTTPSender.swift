/// Sends requests: ``HTTPClient``, or another transport, such as one for tests.
public protocol HTTPSender: Sendable {
  /// Sends a request and returns its response, whatever its status.
  func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse
}

extension HTTPClient: HTTPSender {}
