import AttributionProtocol

/// What a profile, the environment or the flags say about where the services are and who calls. Each may leave things to the one below it.
struct ConnectionLayer: Sendable, Hashable {
  enum Token: Sendable, Hashable {
    case text(String)
    case file(String)
  }

  /// What a layer names addresses of.
  enum Destination: Sendable, Hashable {
    case service(ServiceName)
    /// Ingest's port for devices, the App Store and SDKs.
    case publicPort

    static let all = ServiceName.allCases.map { Destination.service($0) } + [.publicPort]

    /// As flags and profiles name it.
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

  /// Scheme and host of all services, which then have their default ports.
  var address: String?
  var addresses: [Destination: String] = [:]
  var token: Token?
  var caFile: String?
  var certificateFile: String?
  var keyFile: String?
  var output: OutputFormat?

  /// This layer over another one: what it says counts, what it leaves out comes from the other. An address of all services counts more than
  /// the single ones of a layer below.
  func over(_ lower: ConnectionLayer) -> ConnectionLayer {
    var merged = self
    if address == nil {
      merged.address = lower.address
      merged.addresses = lower.addresses.merging(addresses) { $1 }
    }
    merged.token = token ?? lower.token
    merged.caFile = caFile ?? lower.caFile
    // A certificate and its key belong together.
    if certificateFile == nil, keyFile == nil {
      merged.certificateFile = lower.certificateFile
      merged.keyFile = lower.keyFile
    }
    merged.output = output ?? lower.output
    return merged
  }

  /// Where a service is, without a slash at the end.
  func url(of destination: Destination) -> String {
    if let url = addresses[destination] { return Self.trimmed(url) }
    return "\(Self.trimmed(address ?? "http://127.0.0.1")):\(destination.defaultPort)"
  }

  static func trimmed(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

  /// Why a text is no address; nil when it is one.
  static func fault(inAddress text: String, withPort: Bool) -> String? {
    guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { return "must begin with http:// or https://" }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" }
    guard !authority.isEmpty, !authority.contains("@"), !authority.contains(" ") else { return "has no host" }
    var host = authority
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return "has a bracket that is not closed" }
      host = authority[authority.index(after: end)...]
    }
    if let colon = host.lastIndex(of: ":") {
      guard withPort else { return "must be scheme and host alone: each service has its own port" }
      guard let port = Int(host[host.index(after: colon)...]), (1...65535).contains(port) else { return "has a port that is none" }
    }
    return nil
  }
}
