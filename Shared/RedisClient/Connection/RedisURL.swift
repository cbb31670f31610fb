import NIOCore

/// The URL of a Redis deployment.
///
/// - One node: `redis://[[user]:password@]host[:port][/database]`, or `unix://[[user]:password@]/path/to.sock[?db=N]`.
/// - A cluster: `redis-cluster://[[user]:password@]host[:port][,host[:port]…]`, with some of its nodes, which name the others.
/// - The primary that Sentinels name: `redis-sentinel://[[user]:password@]host[:port][,host[:port]…]/NAME[/database]`. The hosts are the
///   Sentinels (default port 26379). The user and the password are those of the Redis nodes.
///
/// `rediss` instead of `redis` means TLS. Text without a colon before the @ is a password, or a user if the password is in a file.
public struct RedisURL: Sendable, Hashable {
  public enum Address: Sendable, Hashable {
    case tcp(host: String, port: Int)
    case unix(path: String)
  }

  /// The kind of deployment.
  public enum Deployment: Sendable, Hashable {
    case single
    case cluster
    /// Sentinels; with their name for the primary.
    case sentinel(String)
  }

  public let deployment: Deployment
  /// The first address of the URL.
  public private(set) var address: Address
  /// All addresses of the URL; none for a socket.
  let nodes: [NodeAddress]
  public private(set) var user: String?
  public private(set) var password: String?
  public let database: Int
  /// True if connections use TLS (`rediss…`).
  public let usesTLS: Bool

  /// - Parameter passwordIsInFile: true if the password is in a file. Then the URL may have a user, but no password.
  public init(_ text: String, passwordIsInFile: Bool = false) throws(RedisError) {
    if text.hasPrefix("unix://") {
      let socket = try RedisSocketURL(text.dropFirst(7))
      (deployment, address, nodes, usesTLS) = (.single, .unix(path: socket.path), [], false)
      database = socket.database
      (user, password) = try Self.userAndPassword(socket.credentials, passwordIsInFile)
      return
    }
    guard let end = text.firstRange(of: "://"), let scheme = Self.schemes[String(text[..<end.lowerBound])] else {
      throw .badURL("it must begin with redis://, redis-cluster:// or redis-sentinel://, the same with rediss, or unix://")
    }
    usesTLS = scheme.usesTLS
    var rest = text[end.upperBound...]
    var credentials: Substring?
    if let at = rest.lastIndex(of: "@") {
      credentials = rest[..<at]
      rest = rest[rest.index(after: at)...]
    }
    (user, password) = try Self.userAndPassword(credentials, passwordIsInFile)
    var path = rest.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let hosts = rest.prefix { $0 != "/" }.split(separator: ",", omittingEmptySubsequences: false)
    guard scheme.kind != .single || hosts.count == 1 else {
      throw .badURL("several addresses need redis-cluster:// or redis-sentinel://")
    }
    var nodes: [NodeAddress] = []
    for host in hosts { nodes.append(try Self.node(host, port: scheme.kind == .sentinel ? 26_379 : 6379)) }
    self.nodes = nodes
    address = .tcp(host: nodes[0].host, port: nodes[0].port)
    switch scheme.kind {
    case .single: deployment = .single
    case .cluster: deployment = .cluster
    case .sentinel:
      guard let name = path.popFirst(), !name.isEmpty else {
        throw .badURL("a slash and the Sentinels' name for the primary must follow the Sentinels")
      }
      deployment = .sentinel(String(name))
    }
    let number = path.first.map { $0.isEmpty ? 0 : Int($0) ?? -1 } ?? 0
    guard path.count <= 1, number >= 0 else { throw .badURL("the database must be a number") }
    guard number == 0 || deployment != .cluster else { throw .badURL("a cluster has only database 0") }
    database = number
  }

  private enum Kind { case single, cluster, sentinel }

  private static let schemes: [String: (kind: Kind, usesTLS: Bool)] = [
    "redis": (.single, false), "rediss": (.single, true), "redis-cluster": (.cluster, false), "rediss-cluster": (.cluster, true),
    "redis-sentinel": (.sentinel, false), "rediss-sentinel": (.sentinel, true),
  ]

  private static func node(_ text: Substring, port defaultPort: Int) throws(RedisError) -> NodeAddress {
    var host = text
    var port = defaultPort
    if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
      guard let number = Int(text[text.index(after: colon)...]), (1...65535).contains(number) else {
        throw .badURL("the port is not a number from 1 to 65535")
      }
      port = number
      host = text[..<colon]
    }
    guard !host.isEmpty else { throw .badURL("the host is missing") }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return NodeAddress(host: String(host), port: port)
  }

  /// The URL of one node of the deployment, with the same user and password.
  func ofNode(_ node: NodeAddress) -> RedisURL {
    var url = self
    url.address = .tcp(host: node.host, port: node.port)
    return url
  }

  /// The same URL with another user, or none, and without a password.
  func replacingLogin(user: String?) -> RedisURL {
    var url = self
    (url.user, url.password) = (user, nil)
    return url
  }

  /// The first address, for logs.
  var logName: String {
    switch address {
    case .tcp(let host, let port): NodeAddress(host: host, port: port).description
    case .unix(let path): path
    }
  }

  /// The host name that the TLS certificate must have; nil for an IP address, which the certificate must have instead.
  var serverName: String? {
    guard case .tcp(let host, _) = address, (try? SocketAddress(ipAddress: host, port: 0)) == nil else { return nil }
    return host
  }

  private static func userAndPassword(_ credentials: Substring?, _ passwordIsInFile: Bool) throws(RedisError)
    -> (user: String?, password: String?)
  {
    let parts = credentials?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
    guard let first = parts.first else { return (nil, nil) }
    if passwordIsInFile {
      guard parts.dropFirst().allSatisfy(\.isEmpty) else { throw .badURL("it contains a password, and there is a password file too") }
      return (first.isEmpty ? nil : String(first), nil)
    }
    return (first.isEmpty || parts.count == 1 ? nil : String(first), parts.last.map(String.init))
  }
}
