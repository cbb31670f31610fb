import EventLoops
import NIOCore
import NIOHTTP1

/// Requests and their responses. A request passes ``begin(_:_:)`` with its head, ``respond(_:)`` with its body, and ``finish(_:_:)`` with
/// its response; ``refuse(_:_:request:)`` answers it before its end.
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
    isHeadRequest = head.method == .HEAD
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
    // The connection is not reused after a request for an upgrade, because the parser reads no further HTTP, nor after a chunked body in
    // HTTP/1.0, which may end elsewhere for the sender than for this server (RFC 9112 section 6.1).
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

  /// Answers before the request's end. The rest of the request is discarded, and the connection is reused if the body's length is stated
  /// and not too large; otherwise the connection is closed.
  ///
  /// - Parameter request: nil if the connection must be closed.
  func refuse(_ response: HTTPResponse, _ context: ChannelHandlerContext, request: IncomingRequest? = nil) {
    if response.status == 408 { keepAlive = false }
    if let request, request.announcesBody, (request.contentLength ?? .max) > 4 * limits.batchBodyBytes { keepAlive = false }
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
    // The body stays in memory while the request waits for Redis, so its reservation is kept until the response is made.
    var received = body ?? BufferedBody(bodies, peer: exchange.peer)
    body = nil
    let bytes = received.take()
    let reservation = received.reservation
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
      keepForCancellation(task, exchange.abandonment)
    case .waiting(let work): start(work, reservation, context)
    case .waitingAtMost(let time, let late, let work):
      lateResponse = late
      setDeadline(in: TimeAmount(time), context)
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

  /// Starts work on the connection's event loop, where it runs until it first waits.
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

  /// Keeps the task that makes the current response, if it must be cancelled when the caller leaves.
  private func keepForCancellation(_ task: Task<Void, Never>, _ abandonment: Abandonment) {
    guard abandonment != .finishes else { return }
    work = task
    endsAtInputEnd = abandonment == .isCancelledAtInputEnd
    if inputClosed, endsAtInputEnd { task.cancel() }
  }

  /// Called when the response to the current request has been made.
  func complete(_ response: HTTPResponse, _ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    finish(response, context)
    // If the work ended while it was being started, the code that started it processes the buffered parts.
    if !isStarting { resume(context) }
  }

  /// Writes the response, then waits for the next request or ends the connection.
  func finish(_ response: HTTPResponse, _ context: ChannelHandlerContext) {
    if quiescing || isDraining() { keepAlive = false }
    var buffer = context.channel.allocator.buffer(capacity: 320 + response.body.count)
    writer.write(response, into: &buffer, withoutBody: isHeadRequest, close: !keepAlive, keepAlive10: isHTTP10)
    send(buffer, context)
    if !keepAlive {
      linger(context)
    } else if case .skipping = state {
      // The end of the request has not arrived yet.
    } else {
      next(context)
    }
  }

  /// Waits for the next request.
  func next(_ context: ChannelHandlerContext) {
    state = .head
    headBegun = false
    // If the peer closed its sending side, requests that it had sent before are answered first.
    if inputClosed, bufferedParts.isEmpty {
      closeAfterWrites(context)
    } else {
      setDeadline(in: times.idle, context)
    }
  }

  /// Closes the connection when everything written has been sent, because closing discards unsent data.
  func closeAfterWrites(_ context: ChannelHandlerContext) {
    state = .lingering
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    // If the peer does not read its response, the connection is closed after the idle time.
    setDeadline(in: times.idle, context)
  }

  /// Processes the parts that were buffered while a response was made.
  func resume(_ context: ChannelHandlerContext) {
    while !isBusy(context), let part = bufferedParts.popFirst() { process(part, context) }
    guard !isBusy(context) else { return }
    // The buffered parts may end in the middle of a request. Its time limit starts here: channelReadComplete would start it only if more
    // bytes arrived.
    switch state {
    case .body where deadline == nil, .skipping where deadline == nil: setDeadline(in: bodyTime, context)
    default: break
    }
    if isReadDelayed {
      isReadDelayed = false
      context.read()
    }
  }

  var isWorking: Bool { if case .working = state { true } else { false } }

  /// Closes the sending side, and discards input for ``lingeringTime``.
  func linger(_ context: ChannelHandlerContext) {
    state = .lingering
    bufferedParts.removeAll()
    if inputClosed {
      closeAfterWrites(context)
      return
    }
    needsFlush = false
    context.flush()
    context.close(mode: .output, promise: nil)
    setDeadline(in: Self.lingeringTime, context)
    if isReadDelayed {
      isReadDelayed = false
      context.read()
    }
  }

  func send(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(buffer), promise: nil)
    // The responses to all requests of one read are flushed together, after that read. LoopTurnFlush flushes those of all connections at
    // the end of the event loop's turn.
    if isReading { needsFlush = true } else { turn.flush(context) }
  }
}
