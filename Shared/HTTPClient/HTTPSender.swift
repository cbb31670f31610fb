/// Sends a request and reads its answer: ``HTTPClient``, or what carries requests in another way.
public protocol HTTPSender: Sendable {
  func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse
}

extension HTTPClient: HTTPSender {}
