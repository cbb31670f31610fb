import Foundation

/// A received request with its complete body.
struct SimulatedRequest: Sendable {
  var method: String
  /// The segments of the path, percent-decoded; the last one is empty if the path ends with a slash.
  var segments: [String]
  var path: String
  var query: [(name: String, value: String)]
  /// The host in lower case, without the port.
  var host: String
  /// The headers, with their names in lower case.
  var headers: [(name: String, value: String)]
  var body: [UInt8]

  init(method: String, target: String, authority: String?, headers: [(name: String, value: String)], body: [UInt8]) {
    self.method = method
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts[0])
    segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
      String($0).removingPercentEncoding ?? String($0)
    }
    query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? String($0)
      }
      return (sides[0], sides.count > 1 ? sides[1] : "")
    }
    self.headers = headers
    self.body = body
    let full = authority ?? headers.first { $0.name == "host" }?.value ?? ""
    host = full.split(separator: ":").first.map { $0.lowercased() } ?? ""
  }

  /// - Parameter name: in lower case.
  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  func query(_ name: String) -> String? { query.first { $0.name == name }?.value }
  func queryValues(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }
}
