public import WireJSON

/// A request to the public port with its body.
public struct PublicHTTPRequest: Sendable {
  public let method: String
  /// The path as it was sent, without the query.
  public let path: String
  public let query: String?
  /// The media type without parameters, lower case.
  public let mediaType: String?
  /// The content type as it was sent.
  public let contentType: String?
  public let body: [UInt8]
  /// The client's address: the one that trusted proxies name, or the connection's if there is no proxy.
  public let peer: IPAddress?
  /// The time at which the body was complete, milliseconds since 1970.
  public let receivedAt: Int64
  public let requestId: String
  /// The `traceparent` header of the request's span, for messages and calls that it causes.
  public let traceparent: String
  /// The limits for JSON in the body.
  public let jsonLimits: JSONLimits
}
