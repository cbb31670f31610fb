import NIOCore
import NIOSSL

/// Decides by a connection's first bytes which version of HTTP it uses: the preface `PRI * HTTP/2.0` means HTTP/2 (RFC 9113 section 3.4),
/// anything else HTTP/1.1. Then it removes itself.
final class PrefaceSniffer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private let timeLimit: TimeAmount
  private let decide: (Bool) -> EventLoopFuture<Void>
  private let onFailure: () -> Void
  private let onClose: () -> Void
  /// The bytes that have arrived. They are passed on after the decision.
  private var received: ByteBuffer?
  private var isDecided = false
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - timeLimit: the time from the start of the connection to the decision.
  ///   - decide: adds the handlers of HTTP/2 if the argument is true, else those of HTTP/1.1.
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
    timer = context.eventLoop.scheduleTask(in: timeLimit) { channel.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    guard !isDecided else {
      received?.writeBuffer(&buffer)
      return
    }
    if received == nil { received = buffer } else { received!.writeBuffer(&buffer) }
    let start = received!.readableBytesView.prefix(Self.preface.count)
    let matches = start.elementsEqual(Self.preface.prefix(start.count))
    guard !matches || start.count == Self.preface.count else { return }
    isDecided = true
    timer?.cancel()
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    decide(matches).whenComplete { result in
      let (sniffer, context) = bound.value
      guard case .success = result else {
        context.close(promise: nil)
        return
      }
      if let received = sniffer.received { context.fireChannelRead(sniffer.wrapInboundOut(received)) }
      sniffer.received = nil
      context.fireChannelReadComplete()
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The peer closed its sending side before its first request, so there is nothing to answer.
    if case ChannelEvent.inputClosed = event, !isDecided {
      context.close(promise: nil)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  /// Called if the TLS handshake failed or the connection broke.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !isDecided, error is NIOSSLError || error is BoringSSLError { onFailure() }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    if !isDecided { onClose() }
    context.fireChannelInactive()
  }
}
