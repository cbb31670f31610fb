import NIOHTTP2

/// Told by NIO's handler of what it writes: a GOAWAY with an error means that the whole connection is at fault.
final class ConnectionFailure: NIOHTTP2FrameDelegate {
  private(set) var isConnections = false

  func wroteFrame(_ frame: HTTP2Frame) {
    if case .goAway(_, let code, _) = frame.payload, code != .noError { isConnections = true }
  }
}
