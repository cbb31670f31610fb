import NIOCore

/// The peer of a connection, as far as the connection itself tells.
public struct ConnectionPeer: Sendable, Hashable {
  /// Nil if the peer has no address.
  public var address: IPAddress?
  /// The URI names in the peer's verified certificate; empty without one.
  public var certificateNames: [String]
  /// True if the proxy header names no internet address of the client. The address is then that of the proxy.
  public var hasUnknownAddress = false

  public init(address: IPAddress? = nil, certificateNames: [String] = []) {
    self.address = address
    self.certificateNames = certificateNames
  }

  /// - Parameter origin: the origin in the proxy header; nil if none is expected.
  init(_ channel: any Channel, certificateNames: [String] = [], origin: ProxyHeader.Origin? = nil) {
    self.init(address: Self.address(of: channel), certificateNames: certificateNames)
    switch origin {
    case nil, .proxy: break
    case .client(let client): address = client
    case .unknown: hasUnknownAddress = true
    }
  }

  /// The address at the other end of the connection itself.
  static func address(of channel: any Channel) -> IPAddress? {
    channel.remoteAddress?.ipAddress.flatMap { try? IPAddress(validating: $0) }
  }
}
