import NIOCore

/// Who is at the other end of a connection, as far as the connection itself tells.
public struct ConnectionPeer: Sendable, Hashable {
  /// Nil for a peer without an address.
  public var address: IPAddress?
  /// The URI names in its certificate, which was verified; empty without one.
  public var certificateNames: [String]
  /// Whether a proxy passes on the connection of somebody it does not know: then the address is the proxy's, and what is said is not.
  public var isStranger = false

  public init(address: IPAddress? = nil, certificateNames: [String] = []) {
    self.address = address
    self.certificateNames = certificateNames
  }

  /// - Parameter origin: what the connection's proxy says of it; nil where none is asked.
  init(_ channel: any Channel, certificateNames: [String] = [], origin: ProxyHeader.Origin? = nil) {
    self.init(address: Self.address(of: channel), certificateNames: certificateNames)
    switch origin {
    case nil, .proxy: break
    case .client(let client): address = client
    case .unknown: isStranger = true
    }
  }

  /// The address at the other end of the connection itself.
  static func address(of channel: any Channel) -> IPAddress? {
    channel.remoteAddress?.ipAddress.flatMap { try? IPAddress(validating: $0) }
  }
}
