import NIOCore

/// Replaces the maximum number of concurrent streams in the connection's first SETTINGS frame, then removes itself.
///
/// NIO ends the connection of a peer that opens more streams than NIO's setting allows. NIO is therefore given a higher number than ours,
/// and the peer is told ours, so that ``HTTP2Handler`` can refuse single streams.
final class StreamLimitSetting: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The length of a frame's header, bytes (RFC 9113 section 4.1).
  private static let headerLength = 9
  /// The length of one setting, bytes (RFC 9113 section 6.5.1).
  private static let settingLength = 6
  /// The identifier of the setting.
  private static let maxConcurrentStreams: UInt16 = 3
  private let streams: Int

  init(streams: Int) { self.streams = streams }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var buffer = unwrapOutboundIn(data)
    // The first frame of a server is SETTINGS (type 4) and fits into one write. The length is the first 24 bits of a frame; the upper 8 are
    // 0 in this one.
    let start = buffer.readerIndex
    if let length = buffer.getInteger(at: start + 1, as: UInt16.self), buffer.getInteger(at: start + 3, as: UInt8.self) == 4 {
      for offset in stride(from: start + Self.headerLength, to: start + Self.headerLength + Int(length), by: Self.settingLength)
      where buffer.getInteger(at: offset, as: UInt16.self) == Self.maxConcurrentStreams {
        buffer.setInteger(UInt32(clamping: streams), at: offset + 2)
      }
    }
    context.write(wrapOutboundOut(buffer), promise: promise)
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
