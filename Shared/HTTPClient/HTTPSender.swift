/// Sends a request and returns its response: ``HTTPClient``, or another transport.
public protocol HTTPSender: Sendable {
  func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse
}

extension HTTPClient: HTTPSender {}
