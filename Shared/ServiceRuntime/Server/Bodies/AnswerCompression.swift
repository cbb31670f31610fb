/// Compresses large responses with gzip for callers that accept it. A caller that sends gzip and names no
/// `Accept-Encoding` is taken to accept it.
enum AnswerCompression {
  /// Responses with fewer bytes are not compressed.
  static let smallest = 1024

  static func apply(_ answer: inout HTTPAnswer, _ request: IncomingRequest) {
    if request.method == "GET", answer.headers.first(name: "content-type") == "application/json" {
      answer.headers.add(name: "cache-control", value: "no-store")
      answer.headers.add(name: "vary", value: "Accept-Encoding")
    }
    guard answer.body.count >= smallest else { return }
    let accepted = request.header("accept-encoding") ?? request.contentEncoding ?? ""
    let takesGzip = accepted.split(separator: ",").contains { item in
      let parts = item.split(separator: ";").map { $0.trimmingSpaces().lowercased() }
      return parts.first == "gzip" && !parts.dropFirst().contains { $0.replacing(" ", with: "") == "q=0" }
    }
    guard takesGzip, let small = Gzip.deflate(answer.body) else { return }
    answer.body = small
    answer.headers.add(name: "content-encoding", value: "gzip")
  }
}
