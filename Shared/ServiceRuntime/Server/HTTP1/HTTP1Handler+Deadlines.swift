import NIOCore

/// The deadlines of a connection. One timer checks all of them. It goes on running when the deadline moves to a later time, because
/// rescheduling it for each request would cost more than a check that finds nothing due.
extension HTTP1Handler {
  /// Sets the deadline of the current state. The timer is rescheduled only if it would fire too late.
  func setDeadline(in time: TimeAmount, _ context: ChannelHandlerContext) {
    let newDeadline = context.eventLoop.now + time
    deadline = newDeadline
    guard timer == nil || newDeadline < timerTime else { return }
    timer?.cancel()
    startTimer(newDeadline, context)
  }

  /// The time limit for receiving the rest of the request.
  var bodyTime: TimeAmount { exchange?.bodyTime(times.body) ?? times.body }

  private func startTimer(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    timerTime = time
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(deadline: time) {
      let (handler, context) = bound.value
      handler.timerFired(context)
    }
  }

  private func timerFired(_ context: ChannelHandlerContext) {
    timer = nil
    guard context.channel.isActive else { return }
    guard let deadline else {
      // A response without a time limit is being made. The next state with a deadline starts the timer again.
      return
    }
    guard deadline <= context.eventLoop.now else {
      startTimer(deadline, context)
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
      isHeadRequest = false
      var response = HTTPResponse(status: 408)
      response.requestId = RequestID.usable(nil)
      finish(response, context)
    case .working:
      guard let late = lateResponse else { return }
      lateResponse = nil
      workNumber += 1
      complete(late(), context)
    // An idle connection, or a peer that does not read or close.
    default: context.close(promise: nil)
    }
  }
}
