import NIOCore
import NIOSSL

/// Decides by a connection's first bytes: `PRI * HTTP/2.0` means HTTP/2, anything else HTTP/1.1.
final class PrefaceSniffer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private let timeLimit: TimeAmount
  private let decide: (Bool) -> EventLoopFuture<Void>
  private let onFailure: () -> Void
  private let onClose: () -> Void
  private var seen: ByteBuffer?
  private var decided = false
  private var alarm: Scheduled<Void>?

  /// - Parameters:
  ///   - timeLimit: the time from the start of the connection to the decision.
  ///   - decide: adds the handlers for HTTP/2 if the argument is true, else for HTTP/1.1.
  ///   - onFailure: called if the TLS handshake fails.
  ///   - onClose: called if the connection closes before the decision.
  init(
    timeLimit: TimeAmount, decide: @escaping (Bool) -> EventLoopFuture<Void>, onFailure: @escaping () -> Void, onClose: @escaping () -> Void
  ) {
    self.onFailure = onFailure
    self.timeLimit = timeLimit
    self.decide = decide
    self.onClose = onClose
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    alarm = context.eventLoop.scheduleTask(in: timeLimit) { channel.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    guard !decided else {
      seen?.writeBuffer(&buffer)
      return
    }
    if seen == nil { seen = buffer } else { seen!.writeBuffer(&buffer) }
    let start = seen!.readableBytesView.prefix(Self.preface.count)
    let matches = start.elementsEqual(Self.preface.prefix(start.count))
    guard !matches || start.count == Self.preface.count else { return }
    decided = true
    alarm?.cancel()
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    decide(matches).whenComplete { result in
      let (sniffer, context) = bound.value
      guard case .success = result else {
        context.close(promise: nil)
        return
      }
      if let seen = sniffer.seen { context.fireChannelRead(sniffer.wrapInboundOut(seen)) }
      sniffer.seen = nil
      context.fireChannelReadComplete()
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The peer closed its side before any request, so nothing is left to answer.
    if case ChannelEvent.inputClosed = event, !decided {
      context.close(promise: nil)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  /// The TLS handshake failed, or the connection broke.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !decided, error is NIOSSLError || error is BoringSSLError { onFailure() }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    alarm?.cancel()
    if !decided { onClose() }
    context.fireChannelInactive()
  }
}
