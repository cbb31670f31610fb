import AttributionProtocol

/// The connection settings from one source: the flags, the environment or a profile. They are the services' addresses, the caller's
/// credentials and the output format. A setting that is absent is taken from the next source (``over(_:)``).
struct ConnectionLayer: Sendable, Hashable {
  enum Token: Sendable, Hashable {
    case text(String)
    /// The path of the file with the token.
    case file(String)
  }

  /// A target that can have its own address.
  enum Destination: Sendable, Hashable {
    case service(ServiceName)
    /// Ingest's port for devices, the App Store and SDKs.
    case publicPort

    static let all = ServiceName.allCases.map { Destination.service($0) } + [.publicPort]

    /// The name in flags and profiles.
    var name: String {
      switch self {
      case .service(let name): name.rawValue
      case .publicPort: "public"
      }
    }

    init?(_ name: String) {
      guard let found = Self.all.first(where: { $0.name == name }) else { return nil }
      self = found
    }

    var defaultPort: Int {
      switch self {
      case .service(let name): name.defaultPort
      case .publicPort: ServiceName.defaultPublicPort
      }
    }
  }

  /// The scheme and host of all services, which then use their default ports.
  var address: String?
  /// The URLs of single services. They take precedence over `address`.
  var addresses: [Destination: String] = [:]
  var token: Token?
  var caFile: String?
  var certificateFile: String?
  var keyFile: String?
  var output: OutputFormat?

  /// Combines this layer with a lower one: settings of this layer win, absent ones are taken from the lower layer. If this layer has an
  /// `address` for all services, the lower layer's addresses of single services are ignored too.
  func over(_ lower: ConnectionLayer) -> ConnectionLayer {
    var merged = self
    if address == nil {
      merged.address = lower.address
      merged.addresses = lower.addresses.merging(addresses) { $1 }
    }
    merged.token = token ?? lower.token
    merged.caFile = caFile ?? lower.caFile
    // A certificate and its key belong together, so both are taken from the same layer.
    if certificateFile == nil, keyFile == nil {
      merged.certificateFile = lower.certificateFile
      merged.keyFile = lower.keyFile
    }
    merged.output = output ?? lower.output
    return merged
  }

  /// The URL of a service, without a slash at the end.
  func url(of destination: Destination) -> String {
    if let url = addresses[destination] { return Self.trimmed(url) }
    return "\(Self.trimmed(address ?? "http://127.0.0.1")):\(destination.defaultPort)"
  }

  static func trimmed(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

  /// Explains why a text is not a valid address; nil if it is valid.
  static func fault(inAddress text: String, withPort: Bool) -> String? {
    guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { return "must begin with http:// or https://" }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" }
    guard !authority.isEmpty else { return "has no host" }
    guard !authority.contains("@") else { return "must not contain a user name" }
    guard !authority.contains(" ") else { return "must not contain a space" }
    var host = authority
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return "has an unclosed bracket" }
      host = authority[authority.index(after: end)...]
    }
    if let colon = host.lastIndex(of: ":") {
      guard withPort else { return "must be scheme and host without a port: each service has its own port" }
      guard let port = Int(host[host.index(after: colon)...]), (1...65535).contains(port) else { return "has an invalid port" }
    }
    return nil
  }
}
