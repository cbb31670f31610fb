import NIOCore
import NIOHTTP2

/// The deadlines of a connection and its streams. One timer serves all of them.
extension HTTP2Handler {
  func setDeadline(of stream: HTTP2Stream, in time: TimeAmount, _ context: ChannelHandlerContext) {
    let deadline = NIODeadline.now() + time
    stream.deadline = deadline
    scheduleTimer(for: deadline, context)
  }

  /// Makes the timer fire at the deadline or before it. It is rescheduled only if it would fire too late, because deadlines change with
  /// every stream.
  func scheduleTimer(for deadline: NIODeadline, _ context: ChannelHandlerContext) {
    guard deadline < timerTime else { return }
    timer?.cancel()
    timerTime = deadline
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(deadline: deadline) {
      let (handler, context) = bound.value
      handler.timerFired(context)
    }
  }

  private func timerFired(_ context: ChannelHandlerContext) {
    timer = nil
    timerTime = .distantFuture
    guard context.channel.isActive else { return }
    let now = NIODeadline.now()
    if endingDeadline <= now {
      if phase == .closed {
        context.close(promise: nil)
        return
      }
      end(context)
    }
    if frameDeadline <= now {
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
        reset(id, stream.isComplete ? .cancel : .noError, context)
      }
    }
    var next = min(endingDeadline, frameDeadline, streams.isEmpty ? idleDeadline : .distantFuture)
    for stream in streams.values {
      if let deadline = stream.deadline { next = min(next, deadline) }
    }
    if next < .distantFuture { scheduleTimer(for: next, context) }
  }
}
