/// What stands behind `unix://`: `[[user]:password@]/path/to.sock[?db=N]`.
struct RedisSocketURL {
  let credentials: Substring?
  let path: String
  let database: Int

  /// What the system takes as the path of a socket, bytes (`sun_path` without the zero at its end).
  private static let longestPath = 107

  init(_ text: Substring) throws(RedisError) {
    var rest = text
    var credentials: Substring?
    // What stands in front of the path; in the path an @ is one of its letters.
    if !rest.hasPrefix("/"), let end = rest.firstRange(of: "@/") {
      credentials = rest[..<end.lowerBound]
      rest = rest[rest.index(before: end.upperBound)...]
    }
    self.credentials = credentials
    let parts = rest.split(separator: "?", maxSplits: 1)
    guard let path = parts.first, path.hasPrefix("/") else { throw .badURL("a socket's path starts with /") }
    guard path.utf8.count <= Self.longestPath else { throw .badURL("a socket's path has at most \(Self.longestPath) bytes") }
    self.path = String(path)
    guard parts.count > 1 else {
      database = 0
      return
    }
    guard parts[1].hasPrefix("db="), let number = Int(parts[1].dropFirst(3)), number >= 0 else {
      throw .badURL("after a socket's path comes ?db= and a number")
    }
    database = number
  }
}
