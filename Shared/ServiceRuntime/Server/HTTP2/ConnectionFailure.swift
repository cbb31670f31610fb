import NIOHTTP2

/// Tells connection errors from stream errors by the frames that NIO's handler writes: it writes a GOAWAY with an error code only after a
/// connection error.
final class ConnectionFailure: NIOHTTP2FrameDelegate {
  /// True after a connection error.
  private(set) var concernsConnection = false

  func wroteFrame(_ frame: HTTP2Frame) {
    if case .goAway(_, let code, _) = frame.payload, code != .noError { concernsConnection = true }
  }
}
