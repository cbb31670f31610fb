import NIOCore

/// Deadlines of a connection.
extension HTTP1Handler {
  /// Sets the deadline. It moves with every request; the timer is rescheduled only if it would fire too late.
  func expect(within time: TimeAmount, _ context: ChannelHandlerContext) {
    let until = context.eventLoop.now + time
    deadline = until
    guard alarm == nil || until < alarmAt else { return }
    alarm?.cancel()
    set(until, context)
  }

  /// The time to receive the rest of the request.
  var bodyTime: TimeAmount { exchange?.bodyTime(times.body) ?? times.body }

  func set(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    alarmAt = time
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    alarm = context.eventLoop.scheduleTask(deadline: time) {
      let (handler, context) = bound.value
      handler.ring(context)
    }
  }

  func ring(_ context: ChannelHandlerContext) {
    alarm = nil
    guard context.channel.isActive else { return }
    guard let deadline else {
      // No deadline is set while a response without a time limit is being made; the next state that has one schedules the timer itself.
      return
    }
    guard deadline <= context.eventLoop.now else {
      set(deadline, context)
      return
    }
    switch state {
    case .body:
      registry.add("attribution_http_rejected_total", 1, ["body_time"])
      keepAlive = false
      body = nil
      if let exchange { finish(exchange.refuse(.timedOut), context) }
    case .head where headBegun:
      registry.add("attribution_http_rejected_total", 1, ["header_time"])
      keepAlive = false
      isHead = false
      var response = HTTPResponse(status: 408)
      response.requestId = RequestID.usable(nil)
      finish(response, context)
    case .working:
      guard let late = lateResponse else { return }
      lateResponse = nil
      workNumber += 1
      complete(late(), context)
    default: context.close(promise: nil)
    }
  }
}
