import AttributionProtocol

/// The names under which a service may be addressed (`ATTRIBUTION_HOSTS`). A web page can make a browser call a service on the user's own machine
/// by a name of the page's that resolves to a loopback address (DNS rebinding). The browser then sends this name as `Host`.
public struct AllowedHosts: Sendable, Hashable {
  /// In lower case, without ports.
  let names: Set<String>

  /// The loopback names alone.
  static let loopback = AllowedHosts(names: [])

  init(names: Set<String>) { self.names = names }

  /// - Parameter list: host names or addresses without ports, separated by commas.
  init(_ list: String) throws(ConfigurationError) {
    var names: Set<String> = []
    for name in list.split(separator: ",", omittingEmptySubsequences: false).map({ $0.trimmingSpaces().lowercased() }) {
      guard !name.isEmpty, Self.name(name) == name else {
        throw ConfigurationError("ATTRIBUTION_HOSTS", "must be host names without ports, separated by commas; \"\(name)\" is not one")
      }
      names.insert(name)
    }
    self.init(names: names)
  }

  /// True for a loopback name and for a configured one. The port is not compared.
  func contains(_ host: String) -> Bool {
    guard let name = Self.name(host.lowercased()) else { return false }
    if names.contains(name) || name == "localhost" || name.hasSuffix(".localhost") { return true }
    guard let address = try? IPAddress(validating: name.first == "[" ? String(name.dropFirst().dropLast()) : name) else { return false }
    return Self.loopbackAddresses.contains(address)
  }

  private static let loopbackAddresses = ["127.0.0.0/8", "::1"].compactMap { try? AddressRange(validating: $0) }

  /// The host of `host`, `host:port`, `[v6]` or `[v6]:port`, with the brackets; nil if it is none of these.
  private static func name(_ host: String) -> String? {
    let end = host.first == "[" ? host.firstIndex(of: "]").map { host.index(after: $0) } : host.firstIndex(of: ":") ?? host.endIndex
    guard let end, end > host.startIndex else { return nil }
    let port = host[end...]
    return port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil ? String(host[..<end]) : nil
  }
}

/// Refuses requests whose `Host` is not allowed, and passes the others on. A request without `Host` comes from no browser.
struct AllowedHostsResponder: HTTPResponder {
  let allowed: AllowedHosts
  let inner: any HTTPResponder
  let registry: MetricsRegistry

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    guard let host = request.header("host"), !allowed.contains(host) else { return inner.begin(request) }
    registry.add("attribution_http_rejected_total", 1, ["host"])
    let error = RPCError(
      .permissionDenied, "the header Host names none of this service's hosts (ATTRIBUTION_HOSTS)", reason: "HOST_NOT_ALLOWED")
    return .response(.error(error, status: 421))
  }
}
