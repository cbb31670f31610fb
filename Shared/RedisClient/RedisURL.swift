import NIOCore

/// Where a Redis is: `redis://[[user]:password@]host[:port][/database]`, `rediss://…` for the same over TLS, or
/// `unix://[[user]:password@]/path/to.sock[?db=N]`. One word in front of the @ is a password; where the password comes from a file, it is
/// the user.
public struct RedisURL: Sendable, Hashable {
  public enum Address: Sendable, Hashable {
    case tcp(host: String, port: Int)
    case unix(path: String)
  }

  public let address: Address
  public let user: String?
  public let password: String?
  public let database: Int
  /// Whether the connection is encrypted (`rediss://`).
  public let usesTLS: Bool

  /// - Parameter passwordIsApart: whether the password stands in a file; then the URL may name a user and no password.
  public init(_ text: String, passwordIsApart: Bool = false) throws(RedisError) {
    if text.hasPrefix("unix://") {
      var rest = text.dropFirst(7)
      var credentials: Substring?
      // What stands in front of the path; in the path an @ is one of its letters.
      if !rest.hasPrefix("/"), let end = rest.firstRange(of: "@/") {
        credentials = rest[..<end.lowerBound]
        rest = rest[rest.index(before: end.upperBound)...]
      }
      let parts = rest.split(separator: "?", maxSplits: 1)
      guard let path = parts.first, path.hasPrefix("/") else { throw .badURL("a socket's path starts with /") }
      guard path.utf8.count <= Self.longestPath else { throw .badURL("a socket's path has at most \(Self.longestPath) bytes") }
      address = .unix(path: String(path))
      usesTLS = false
      (user, password) = try Self.userAndPassword(credentials, passwordIsApart)
      guard parts.count > 1 else {
        database = 0
        return
      }
      guard parts[1].hasPrefix("db="), let number = Int(parts[1].dropFirst(3)), number >= 0 else {
        throw .badURL("after a socket's path comes ?db= and a number")
      }
      database = number
      return
    }
    usesTLS = text.hasPrefix("rediss://")
    guard usesTLS || text.hasPrefix("redis://") else { throw .badURL("it starts with redis://, rediss:// or unix://") }
    var rest = text.dropFirst(usesTLS ? 9 : 8)
    var credentials: Substring?
    if let at = rest.lastIndex(of: "@") {
      credentials = rest[..<at]
      rest = rest[rest.index(after: at)...]
    }
    let path = rest.firstIndex(of: "/").map { rest[rest.index(after: $0)...] } ?? ""
    let hostPort = rest.prefix { $0 != "/" }
    var host = hostPort
    var port = 6379
    if let colon = hostPort.lastIndex(of: ":"), !hostPort.hasSuffix("]") {
      guard let number = Int(hostPort[hostPort.index(after: colon)...]), (1...65535).contains(number) else {
        throw .badURL("the port is not a number from 1 to 65535")
      }
      port = number
      host = hostPort[..<colon]
    }
    guard !host.isEmpty else { throw .badURL("the host is missing") }
    guard path.isEmpty || Int(path).map({ $0 >= 0 }) == true else { throw .badURL("the database is not a number") }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    address = .tcp(host: String(host), port: port)
    database = Int(path) ?? 0
    (user, password) = try Self.userAndPassword(credentials, passwordIsApart)
  }

  /// The name that a TLS certificate has to be of; nil for an address, which is compared with the certificate's addresses.
  var serverName: String? {
    guard case .tcp(let host, _) = address, (try? SocketAddress(ipAddress: host, port: 0)) == nil else { return nil }
    return host
  }

  /// What the system takes as the path of a socket, bytes (`sun_path` without the zero at its end).
  private static let longestPath = 107

  private static func userAndPassword(_ credentials: Substring?, _ passwordIsApart: Bool) throws(RedisError)
    -> (user: String?, password: String?)
  {
    let parts = credentials?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
    guard let first = parts.first else { return (nil, nil) }
    if passwordIsApart {
      guard parts.dropFirst().allSatisfy(\.isEmpty) else { throw .badURL("it holds a password, and a password file is given too") }
      return (first.isEmpty ? nil : String(first), nil)
    }
    return (first.isEmpty || parts.count == 1 ? nil : String(first), parts.last.map(String.init))
  }
}
