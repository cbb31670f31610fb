/// The part of a URL after `unix://`: `[[user]:password@]/path/to.sock[?db=N]`.
struct RedisSocketURL {
  /// `[user]:password`; nil if there are none.
  let credentials: Substring?
  let path: String
  let database: Int

  /// The longest path of a socket in bytes: the size of `sun_path` without its terminating zero byte.
  private static let maxPathBytes = 107

  init(_ text: Substring) throws(RedisError) {
    var rest = text
    var credentials: Substring?
    // Only an @ before the path ends the credentials, because the path may contain one too.
    if !rest.hasPrefix("/"), let end = rest.firstRange(of: "@/") {
      credentials = rest[..<end.lowerBound]
      rest = rest[rest.index(before: end.upperBound)...]
    }
    self.credentials = credentials
    let parts = rest.split(separator: "?", maxSplits: 1)
    guard let path = parts.first, path.hasPrefix("/") else { throw .badURL("a socket's path must start with /") }
    guard path.utf8.count <= Self.maxPathBytes else { throw .badURL("a socket's path must have at most \(Self.maxPathBytes) bytes") }
    self.path = String(path)
    guard parts.count > 1 else {
      database = 0
      return
    }
    guard parts[1].hasPrefix("db="), let number = Int(parts[1].dropFirst(3)), number >= 0 else {
      throw .badURL("only ?db= and a number may follow a socket's path")
    }
    database = number
  }
}
