import NIOCore

/// Who is at the other end of a connection, as far as the connection itself tells.
public struct ConnectionPeer: Sendable, Hashable {
  /// Nil for a peer without an address.
  public var address: IPAddress?
  /// The URI names in its certificate, which was verified; empty without one.
  public var certificateNames: [String]

  public init(address: IPAddress? = nil, certificateNames: [String] = []) {
    self.address = address
    self.certificateNames = certificateNames
  }

  init(_ channel: any Channel, certificateNames: [String] = []) {
    self.init(
      address: channel.remoteAddress?.ipAddress.flatMap { try? IPAddress(validating: $0) }, certificateNames: certificateNames)
  }
}
