/// Serves the routes of the public port. Its only implementation is `PublicRouter` of ingest.
public protocol PublicResponder: Sendable {
  /// The route of a path; nil if there is none.
  func route(_ path: String) -> PublicRouteDescription?
  /// The path with placeholders for variable parts, for traces.
  func template(of path: String) -> String
  func respond(to request: PublicHTTPRequest) async -> PublicHTTPResponse
}
