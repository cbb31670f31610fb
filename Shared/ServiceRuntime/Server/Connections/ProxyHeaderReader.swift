import NIOCore

/// Reads a connection's ``ProxyHeader`` and passes on the bytes after it. It closes a connection without a header, or whose header does not
/// arrive in time. Which peers send a header is configured and not guessed from the first bytes, because then any client could send one.
final class ProxyHeaderReader: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Nil until the header has been read.
  private(set) var origin: ProxyHeader.Origin?
  private let limit: Int
  private let timeLimit: TimeAmount
  private let admits: (ProxyHeader.Origin) -> Bool
  private let onRefusal: () -> Void
  /// The bytes that have arrived and were not passed on.
  private var received = ByteBuffer()
  private var isRefused = false
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - limit: the maximum length of the header, bytes.
  ///   - timeLimit: the time from the start of the connection to the end of the header.
  ///   - admits: called after the header was read. Returns false if the connection of that origin must be closed.
  ///   - onRefusal: called once, before the connection is closed because its header is invalid or late.
  init(
    limit: Int, timeLimit: TimeAmount, admits: @escaping (ProxyHeader.Origin) -> Bool = { _ in true }, onRefusal: @escaping () -> Void
  ) {
    self.admits = admits
    self.limit = limit
    self.timeLimit = timeLimit
    self.onRefusal = onRefusal
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: timeLimit) {
      let (reader, context) = bound.value
      reader.refuse(context)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isRefused else { return }
    var buffer = unwrapInboundIn(data)
    received.writeBuffer(&buffer)
    switch ProxyHeader.read(Array(received.readableBytesView.prefix(limit)), limit: limit) {
    case .incomplete: return
    case .refused: refuse(context)
    case .whole(let header):
      guard admits(header.origin) else {
        end(context)
        return
      }
      origin = header.origin
      received.moveReaderIndex(forwardBy: header.length)
      let rest = received
      received = ByteBuffer()
      if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  private func refuse(_ context: ChannelHandlerContext) {
    guard origin == nil, !isRefused else { return }
    onRefusal()
    end(context)
  }

  private func end(_ context: ChannelHandlerContext) {
    isRefused = true
    received = ByteBuffer()
    context.close(promise: nil)
  }
}
