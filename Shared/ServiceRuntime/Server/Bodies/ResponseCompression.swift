/// Compresses large responses with gzip for callers that accept it. A caller without `Accept-Encoding` whose request is compressed with
/// gzip accepts it too.
///
/// It also adds `Cache-Control: no-store` and `Vary` to JSON responses to GET, so that caches do not store them.
enum ResponseCompression {
  /// Responses with fewer bytes are not compressed.
  static let minBytes = 1024

  static func apply(_ response: inout HTTPResponse, _ request: IncomingRequest) {
    if request.method == "GET", response.headers.first(name: "content-type") == "application/json" {
      response.headers.add(name: "cache-control", value: "no-store")
      response.headers.add(name: "vary", value: "Accept-Encoding")
    }
    guard response.body.count >= minBytes else { return }
    var accepted = request.values("accept-encoding")
    if accepted.isEmpty, let encoding = request.contentEncoding { accepted = [encoding] }
    guard accepted.contains(where: acceptsGzip), let small = Gzip.deflate(response.body) else { return }
    response.body = small
    response.headers.add(name: "content-encoding", value: "gzip")
  }

  /// True if a line of `Accept-Encoding` names gzip with a weight above zero (RFC 9110 section 12.4.2).
  private static func acceptsGzip(_ line: String) -> Bool {
    line.split(separator: ",").contains { item in
      let parts = item.split(separator: ";").map { $0.trimmingSpaces().lowercased() }
      guard parts.first == "gzip" else { return false }
      return !parts.dropFirst().contains { part in
        let parameter = part.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces() }
        return parameter.first == "q" && parameter.count == 2 && Double(parameter[1]) == 0
      }
    }
  }
}
