/// Compresses large responses with gzip for callers that accept it. A caller that sends gzip and names no
/// `Accept-Encoding` is taken to accept it.
enum ResponseCompression {
  /// Responses with fewer bytes are not compressed.
  static let minBytes = 1024

  static func apply(_ response: inout HTTPResponse, _ request: IncomingRequest) {
    if request.method == "GET", response.headers.first(name: "content-type") == "application/json" {
      response.headers.add(name: "cache-control", value: "no-store")
      response.headers.add(name: "vary", value: "Accept-Encoding")
    }
    guard response.body.count >= minBytes else { return }
    let accepted = request.header("accept-encoding") ?? request.contentEncoding ?? ""
    let takesGzip = accepted.split(separator: ",").contains { item in
      let parts = item.split(separator: ";").map { $0.trimmingSpaces().lowercased() }
      return parts.first == "gzip" && !parts.dropFirst().contains { $0.replacing(" ", with: "") == "q=0" }
    }
    guard takesGzip, let small = Gzip.deflate(response.body) else { return }
    response.body = small
    response.headers.add(name: "content-encoding", value: "gzip")
  }
}
