import NIOCore

/// Puts our bound of streams into the SETTINGS that open the connection, and takes itself out.
///
/// NIO enforces the bound it announces by ending the connection; we refuse the one stream.
final class StreamLimitSetting: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let headerLength = 9
  private static let settingLength = 6
  private static let maxConcurrentStreams: UInt16 = 3
  private let streams: Int

  init(streams: Int) { self.streams = streams }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var buffer = unwrapOutboundIn(data)
    // Length (24 bits), type 4, no flags, stream 0: the first frame of a server, which fits into one write.
    let start = buffer.readerIndex
    if let length = buffer.getInteger(at: start + 1, as: UInt16.self), buffer.getInteger(at: start + 3, as: UInt8.self) == 4 {
      for place in stride(from: start + Self.headerLength, to: start + Self.headerLength + Int(length), by: Self.settingLength)
      where buffer.getInteger(at: place, as: UInt16.self) == Self.maxConcurrentStreams {
        buffer.setInteger(UInt32(clamping: streams), at: place + 2)
      }
    }
    context.write(wrapOutboundOut(buffer), promise: promise)
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
