/// Serves the routes of the public port. Its only implementation is `PublicRouter` of ingest.
public protocol PublicResponder: Sendable {
  /// The route of a path; nil if there is none.
  func route(_ path: String) -> PublicRouteDescription?
  /// The path with placeholders for its variable parts, for traces and logs.
  func template(of path: String) -> String
  /// Answers a request whose route was found and whose client is allowed to use it.
  func respond(to request: PublicHTTPRequest) async -> PublicHTTPResponse
}
