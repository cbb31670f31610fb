import NIOHTTP2

/// Observes the frames that NIO's handler writes: a GOAWAY with an error means a connection error and not a stream error.
final class ConnectionFailure: NIOHTTP2FrameDelegate {
  private(set) var concernsConnection = false

  func wroteFrame(_ frame: HTTP2Frame) {
    if case .goAway(_, let code, _) = frame.payload, code != .noError { concernsConnection = true }
  }
}
