import EventLoops
import NIOCore
import NIOHTTP1

/// Requests and their responses.
extension HTTP1Handler {
  func process(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
    switch (part, state) {
    case (.head(let head), .head): begin(head, context)
    case (.body(let buffer), .body):
      if body == nil { body = BufferedBody(bodies, peer: exchange?.peer) }
      if let error = body!.add(buffer, limit: bodyLimit), let exchange { refuse(exchange.refuse(error), context) }
    case (.end, .body): respond(context)
    case (.end, .skipping): next(context)
    default: break
    }
  }

  func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    deadline = nil
    headBegun = false
    isHead = head.method == .HEAD
    isHTTP10 = head.version == .http1_0
    keepAlive = head.isKeepAlive
    let request = IncomingRequest(
      method: head.method.rawValue, target: head.uri, headers: head.headers, peer: peer, isHTTP2: false)
    if let refusal = request.refusal(limits, target: head.uri, needsHost: head.version == .http1_1) {
      registry.add("attribution_http_rejected_total", 1, [refusal.cause])
      keepAlive = false
      var response = HTTPResponse(status: refusal.status)
      response.requestId = RequestID.usable(request.requestId)
      refuse(response, context)
      return
    }
    // After an upgrade request the parser reads no further HTTP. A chunked body in HTTP/1.0 may end elsewhere for the sender than for this
    // server (RFC 9112 section 6.1), so the connection is not reused.
    if request.asksUpgrade || isHTTP10 && request.isChunked { keepAlive = false }
    switch responder.begin(request) {
    case .response(let response): refuse(response, context, request: request)
    case .body(let limit, let exchange):
      if request.announcesMore(than: limit) {
        refuse(exchange.refuse(.tooLarge), context, request: request)
        return
      }
      state = .body
      self.exchange = exchange
      bodyLimit = limit
      if !isHTTP10, request.announcesBody, request.header("expect")?.lowercased() == "100-continue" {
        send(context.channel.allocator.buffer(string: HTTP1Response.continueLine), context)
      }
    }
  }

  /// Answers before the request's end. A body with a stated length within limits is discarded and the connection is reused; otherwise the
  /// connection closes.
  ///
  /// - Parameter request: nil if the connection must close.
  func refuse(_ response: HTTPResponse, _ context: ChannelHandlerContext, request: IncomingRequest? = nil) {
    if response.status == 408 { keepAlive = false }
    if let request, request.announcesBody, (request.contentLength ?? .max) > 4 * limits.batchBodyBytes { keepAlive = false }
    // The rest of the request is not read, so the connection cannot be reused.
    if request == nil { keepAlive = false }
    state = .skipping
    exchange = nil
    body = nil
    deadline = nil
    finish(response, context)
  }

  func respond(_ context: ChannelHandlerContext) {
    guard let exchange else { return }
    deadline = nil
    // The body counts against the budget until the response is made, because it stays in memory while the request waits for Redis.
    var held = body ?? BufferedBody(bodies, peer: exchange.peer)
    body = nil
    let bytes = held.take()
    let reservation = held.reservation
    self.exchange = nil
    switch exchange.respond(to: bytes, reservation) {
    case .now(let response): finish(response, context)
    case .later(let work):
      state = .working
      let bound = NIOLoopBound((self, context, reservation), eventLoop: context.eventLoop)
      let loop = context.eventLoop
      let task = Task {
        let response = await work()
        loop.execute {
          let (handler, context, _) = bound.value
          handler.work = nil
          handler.complete(response, context)
        }
      }
      keep(task, exchange.abandonment)
    case .waiting(let work): start(work, reservation, context)
    case .waitingAtMost(let time, let late, let work):
      lateResponse = late
      expect(within: TimeAmount(time), context)
      start(work, reservation, context)
    case .coalesced(let work, let response):
      state = .working
      respondsThisTurn = true
      turn.perform(work) {
        self.respondsThisTurn = false
        withExtendedLifetime(reservation) { self.complete(response(), context) }
      }
    }
  }

  /// Starts work on the connection's event loop.
  private func start(
    _ work: @escaping @Sendable () async -> HTTPResponse, _ reservation: BodyReservation, _ context: ChannelHandlerContext
  ) {
    state = .working
    workNumber += 1
    let number = workNumber
    let bound = NIOLoopBound((self, context, reservation), eventLoop: context.eventLoop)
    isStarting = true
    Task.immediate(executorPreference: executor) {
      let response = await work()
      let (handler, context, _) = bound.value
      guard handler.workNumber == number else { return }
      handler.lateResponse = nil
      handler.complete(response, context)
    }
    isStarting = false
  }

  /// Keeps the task of the current response if it ends with its caller.
  private func keep(_ task: Task<Void, Never>, _ abandonment: Abandonment) {
    guard abandonment != .finishes else { return }
    work = task
    endsAtInputEnd = abandonment == .isCancelledAtInputEnd
    if inputClosed, endsAtInputEnd { task.cancel() }
  }

  /// Called when the response to the current request is made.
  func complete(_ response: HTTPResponse, _ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    finish(response, context)
    // While work is starting, the caller processes the buffered parts afterwards.
    if !isStarting { resume(context) }
  }

  /// Writes the response, then expects the next request or ends the connection.
  func finish(_ response: HTTPResponse, _ context: ChannelHandlerContext) {
    if quiescing || isDraining() { keepAlive = false }
    var buffer = context.channel.allocator.buffer(capacity: 320 + response.body.count)
    writer.write(response, into: &buffer, withoutBody: isHead, close: !keepAlive, keepAlive10: isHTTP10)
    send(buffer, context)
    if !keepAlive {
      linger(context)
    } else if case .skipping = state {
      // The end of the request has not arrived yet.
    } else {
      next(context)
    }
  }

  func next(_ context: ChannelHandlerContext) {
    state = .head
    headBegun = false
    // Pipelined requests must be answered before the connection closes.
    if inputClosed, held.isEmpty {
      closeAfterWrites(context)
    } else {
      expect(within: times.idle, context)
    }
  }

  /// Closes after everything written is sent, because closing discards unsent data.
  func closeAfterWrites(_ context: ChannelHandlerContext) {
    state = .lingering
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    // A peer that does not read its response is closed after the idle time.
    expect(within: times.idle, context)
  }

  /// Processes the parts that were buffered while a response was made.
  func resume(_ context: ChannelHandlerContext) {
    while !isBusy(context), let part = held.popFirst() { process(part, context) }
    guard !isBusy(context) else { return }
    // The buffered parts may end in the middle of a request. Its time limit starts here, because no read may follow that would start it.
    switch state {
    case .body where deadline == nil, .skipping where deadline == nil: expect(within: bodyTime, context)
    default: break
    }
    if heldRead {
      heldRead = false
      context.read()
    }
  }

  var isWorking: Bool { if case .working = state { true } else { false } }

  func linger(_ context: ChannelHandlerContext) {
    state = .lingering
    held.removeAll()
    if inputClosed {
      closeAfterWrites(context)
      return
    }
    needsFlush = false
    context.flush()
    context.close(mode: .output, promise: nil)
    expect(within: Self.lingeringTime, context)
    if heldRead {
      heldRead = false
      context.read()
    }
  }

  func send(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(buffer), promise: nil)
    // Responses to requests of one read are sent in one write, and those of all connections are flushed together at the end of the loop's
    // turn.
    if isReading { needsFlush = true } else { turn.flush(context) }
  }
}
