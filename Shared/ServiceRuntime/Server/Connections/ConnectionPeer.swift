import NIOCore

/// The other end of a connection, as the socket, the TLS handshake and the proxy header tell it. Headers of requests may name another
/// client: see ``TrustedProxies``.
public struct ConnectionPeer: Sendable, Hashable {
  /// The address of the client in the proxy header, else of the socket's peer. Nil if neither has an IP address.
  public var address: IPAddress?
  /// The URI names in the peer's verified certificate; empty if it presented none.
  public var certificateNames: [String]
  /// True if the proxy header does not name the client's IP address. ``address`` is then the proxy's.
  public var hasUnknownAddress = false

  public init(address: IPAddress? = nil, certificateNames: [String] = []) {
    self.address = address
    self.certificateNames = certificateNames
  }

  /// - Parameter origin: the origin in the proxy header; nil for a connection without such a header.
  init(_ channel: any Channel, certificateNames: [String] = [], origin: ProxyHeader.Origin? = nil) {
    self.init(address: Self.address(of: channel), certificateNames: certificateNames)
    switch origin {
    case nil, .proxy: break
    case .client(let client): address = client
    case .unknown: hasUnknownAddress = true
    }
  }

  /// The address of the socket's peer, which may be a proxy.
  static func address(of channel: any Channel) -> IPAddress? {
    channel.remoteAddress?.ipAddress.flatMap { try? IPAddress(validating: $0) }
  }
}
