import NIOCore
import NIOHTTP2

/// Deadlines of a connection and its streams.
extension HTTP2Handler {
  func wait(_ stream: HTTP2Stream, _ time: TimeAmount, _ context: ChannelHandlerContext) {
    let deadline = NIODeadline.now() + time
    stream.deadline = deadline
    expect(deadline, context)
  }

  /// Sets a deadline. Deadlines move with every stream; the timer is rescheduled only if it would fire too late.
  func expect(_ deadline: NIODeadline, _ context: ChannelHandlerContext) {
    guard deadline < alarmAt else { return }
    alarm?.cancel()
    alarmAt = deadline
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    alarm = context.eventLoop.scheduleTask(deadline: deadline) {
      let (handler, context) = bound.value
      handler.ring(context)
    }
  }

  func ring(_ context: ChannelHandlerContext) {
    alarm = nil
    alarmAt = .distantFuture
    guard context.channel.isActive else { return }
    let now = NIODeadline.now()
    if endingDeadline <= now {
      if phase == .closed {
        context.close(promise: nil)
        return
      }
      end(context)
    }
    if partDeadline <= now {
      registry.add("attribution_http_rejected_total", 1, ["header_time"])
      close(.enhanceYourCalm, context)
      return
    }
    if streams.isEmpty, idleDeadline <= now, phase != .closed {
      close(.noError, context)
      return
    }
    for (id, stream) in streams {
      guard let deadline = stream.deadline, deadline <= now else { continue }
      if let exchange = stream.exchange {
        registry.add("attribution_http_rejected_total", 1, ["body_time"])
        send(exchange.refuse(.timedOut), stream, id, context)
      } else if let late = stream.lateResponse {
        send(late(), stream, id, context)
      } else {
        reset(id, stream.isWhole ? .cancel : .noError, context)
      }
    }
    var next = min(endingDeadline, partDeadline, streams.isEmpty ? idleDeadline : .distantFuture)
    for stream in streams.values {
      if let deadline = stream.deadline { next = min(next, deadline) }
    }
    if next < .distantFuture { expect(next, context) }
  }
}
