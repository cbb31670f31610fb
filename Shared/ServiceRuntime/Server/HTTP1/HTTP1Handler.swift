import EventLoops
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection. It reads a request, lets the responder answer it, and only then processes the next.
///
/// Requests that can be answered at once are answered on the event loop, without a task and without a change of thread, because these would cost
/// more than a response that takes microseconds.
final class HTTP1Handler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// Between requests.
    case head
    /// The head is read, the body is on its way.
    case body
    /// The request was answered before its end; the rest is discarded.
    case skipping
    /// The response is being made in a task.
    case working
    /// The last response is written; input is discarded until the peer closes or ``lingeringTime`` has passed.
    case lingering
  }

  /// How long a peer may go on sending after it was told that the connection ends. Closing at once would reset the connection, and the peer's
  /// system could discard the response unread.
  private static let lingeringTime: TimeAmount = .seconds(2)

  private let responder: any HTTPResponder
  private let limits: Limits
  private let times: (header: TimeAmount, body: TimeAmount, idle: TimeAmount)
  private let registry: MetricsRegistry
  private let isDraining: @Sendable () -> Bool

  private var state = State.head
  /// The request whose body is on its way.
  private var exchange: (any HTTPExchange)?
  private var bodyLimit = 0
  private var body: BufferedBody?
  private let bodies: BodyBudget
  private var writer = HTTP1Response()
  private let peer: ConnectionPeer
  private let turn: LoopTurnFlush
  private let executor: EventLoopExecutor
  /// Properties of the current request.
  private var keepAlive = true
  private var isHead = false
  private var isHTTP10 = false
  /// Parts of pipelined requests that arrived while a response is being made; at most the parts of two reads.
  private var held: CircularBuffer<HTTPServerRequestPart> = []
  private var heldRead = false
  /// True if the response will be written in this turn of the event loop, so that reading need not stop.
  private var answersThisTurn = false
  /// True while the work of a response is being started: it may finish before it first suspends.
  private var isStarting = false
  private var inputClosed = false
  private var quiescing = false
  private var isReading = false
  private var needsFlush = false
  private var sawPart = false
  /// True if bytes arrived since the last `channelReadComplete`, even if they completed no part.
  private var sawBytes = false
  private var headBegun = false

  /// When the current state times out; nil while a response is being made.
  private var deadline: NIODeadline?
  private var alarm: Scheduled<Void>?
  private var alarmAt = NIODeadline.distantFuture

  /// - Parameters:
  ///   - turn: belongs to the connection's event loop.
  ///   - executor: belongs to the connection's event loop.
  init(
    responder: any HTTPResponder, limits: Limits, bodies: BodyBudget, registry: MetricsRegistry, turn: LoopTurnFlush,
    executor: EventLoopExecutor,
    peer: ConnectionPeer, isDraining: @escaping @Sendable () -> Bool
  ) {
    self.turn = turn
    self.executor = executor
    self.peer = peer
    self.responder = responder
    self.limits = limits
    self.bodies = bodies
    times = (TimeAmount(limits.headerTime), TimeAmount(limits.bodyTime), TimeAmount(limits.idleTime))
    self.registry = registry
    self.isDraining = isDraining
  }

  // MARK: Events

  func handlerAdded(context: ChannelHandlerContext) {
    expect(within: times.header, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    alarm?.cancel()
    alarm = nil
    held.removeAll()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isReading = true
    sawPart = true
    let part = unwrapInboundIn(data)
    if isBusy(context) { held.append(part) } else { process(part, context) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    if needsFlush {
      needsFlush = false
      turn.flush(context)
    }
    switch state {
    case .head where sawBytes && !sawPart && !headBegun:
      // A head has begun, so its time limit starts. A read without bytes must not start it: an unsolicited 408 would be taken for the response
      // to the next request.
      headBegun = true
      expect(within: times.header, context)
    case .body where deadline == nil, .skipping where deadline == nil: expect(within: times.body, context)
    default: break
    }
    sawPart = false
    sawBytes = false
    context.fireChannelReadComplete()
  }

  /// Reads at most once ahead while a response is being made, and not at all while written responses wait for the peer. This bounds the memory for
  /// a peer that pipelines requests and reads no responses. Reading is not stopped for every response, because most peers do not pipeline and
  /// stopping would cost two system calls per request.
  func read(context: ChannelHandlerContext) {
    let mayReadAhead = answersThisTurn || isWorking && held.isEmpty && context.channel.isWritable
    if isBusy(context), !mayReadAhead { heldRead = true } else { context.read() }
  }

  private func isBusy(_ context: ChannelHandlerContext) -> Bool {
    switch state {
    case .working: true
    case .head: !context.channel.isWritable
    // A request that has begun is read to its end, and a lingering connection is drained.
    case .body, .skipping, .lingering: false
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { resume(context) }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      inputClosed = true
      // A peer that closed its sending side may still read. Pipelined requests are answered first.
      if !isBusy(context) || held.isEmpty && !isWorking { closeAfterWrites(context) }
    case is ChannelShouldQuiesceEvent:
      quiescing = true
      if case .head = state, !headBegun { closeAfterWrites(context) }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else {
      context.close(promise: nil)
      return
    }
    switch state {
    case .head, .body:
      let overflow = error == .headerOverflow
      registry.add("attribution_http_rejected_total", 1, [overflow ? "headers" : "malformed"])
      keepAlive = false
      body = nil
      isHead = false
      var answer = HTTPAnswer(status: overflow ? 431 : 400)
      answer.requestId = RequestID.usable(nil)
      finish(answer, context)
    case .working, .skipping: keepAlive = false
    case .lingering: break
    }
  }

  /// Runs before the decoder and records that bytes arrived.
  final class ByteArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let handler: HTTP1Handler

    init(_ handler: HTTP1Handler) { self.handler = handler }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      handler.sawBytes = true
      context.fireChannelRead(data)
    }
  }

  // MARK: Requests

  private func process(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
    switch (part, state) {
    case (.head(let head), .head): begin(head, context)
    case (.body(let buffer), .body):
      if body == nil { body = BufferedBody(bodies, peer: exchange?.peer) }
      if let error = body!.add(buffer, limit: bodyLimit), let exchange { refuse(exchange.refuse(error), context) }
    case (.end, .body): answer(context)
    case (.end, .skipping): next(context)
    default: break
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
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
      var answer = HTTPAnswer(status: refusal.status)
      answer.requestId = RequestID.usable(request.requestId)
      refuse(answer, context)
      return
    }
    // After an upgrade request the parser reads no further HTTP. A chunked body in HTTP/1.0 may end elsewhere for the sender than for this
    // server (RFC 9112 section 6.1), so the connection is not reused.
    if request.asksUpgrade || isHTTP10 && request.isChunked { keepAlive = false }
    switch responder.begin(request) {
    case .answer(let answer): refuse(answer, context, request: request)
    case .body(let limit, let exchange):
      if let length = request.contentLength, length > limit {
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
  private func refuse(_ answer: HTTPAnswer, _ context: ChannelHandlerContext, request: IncomingRequest? = nil) {
    if answer.status == 408 { keepAlive = false }
    if let request, request.announcesBody, (request.contentLength ?? .max) > 4 * limits.batchBodyBytes { keepAlive = false }
    // The rest of the request is not read, so the connection cannot be reused.
    if request == nil { keepAlive = false }
    state = .skipping
    exchange = nil
    body = nil
    deadline = nil
    finish(answer, context)
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let exchange else { return }
    deadline = nil
    // The body counts against the budget until the response is made, because it stays in memory while the request waits for Redis.
    var held = body ?? BufferedBody(bodies, peer: exchange.peer)
    body = nil
    let bytes = held.take()
    let share = held.share
    self.exchange = nil
    switch exchange.respond(to: bytes, share) {
    case .now(let answer): finish(answer, context)
    case .later(let work):
      state = .working
      let bound = NIOLoopBound((self, context, share), eventLoop: context.eventLoop)
      let loop = context.eventLoop
      Task {
        let answer = await work()
        loop.execute {
          let (handler, context, _) = bound.value
          handler.complete(answer, context)
        }
      }
    case .waiting(let work):
      state = .working
      let bound = NIOLoopBound((self, context, share), eventLoop: context.eventLoop)
      isStarting = true
      Task.immediate(executorPreference: executor) {
        let answer = await work()
        let (handler, context, _) = bound.value
        handler.complete(answer, context)
      }
      isStarting = false
    case .coalesced(let work, let answer):
      state = .working
      answersThisTurn = true
      turn.perform(work) {
        self.answersThisTurn = false
        withExtendedLifetime(share) { self.complete(answer(), context) }
      }
    }
  }

  /// Called when the response to the current request is made.
  private func complete(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    finish(answer, context)
    // While work is starting, the caller processes the buffered parts afterwards.
    if !isStarting { resume(context) }
  }

  /// Writes the response, then expects the next request or ends the connection.
  private func finish(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
    if quiescing || isDraining() { keepAlive = false }
    var buffer = context.channel.allocator.buffer(capacity: 320 + answer.body.count)
    writer.write(answer, into: &buffer, withoutBody: isHead, close: !keepAlive, keepAlive10: isHTTP10)
    send(buffer, context)
    if !keepAlive {
      linger(context)
    } else if case .skipping = state {
      // The end of the request has not arrived yet.
    } else {
      next(context)
    }
  }

  private func next(_ context: ChannelHandlerContext) {
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
  private func closeAfterWrites(_ context: ChannelHandlerContext) {
    state = .lingering
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    // A peer that does not read its response is closed after the idle time.
    expect(within: times.idle, context)
  }

  /// Processes the parts that were buffered while a response was made.
  private func resume(_ context: ChannelHandlerContext) {
    while !isBusy(context), let part = held.popFirst() { process(part, context) }
    guard !isBusy(context) else { return }
    // The buffered parts may end in the middle of a request. Its time limit starts here, because no read may follow that would start it.
    switch state {
    case .body where deadline == nil, .skipping where deadline == nil: expect(within: times.body, context)
    default: break
    }
    if heldRead {
      heldRead = false
      context.read()
    }
  }

  private var isWorking: Bool { if case .working = state { true } else { false } }

  private func linger(_ context: ChannelHandlerContext) {
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

  private func send(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(buffer), promise: nil)
    // Responses to requests of one read are sent in one write, and those of all connections are flushed together at the end of the loop's turn.
    if isReading { needsFlush = true } else { turn.flush(context) }
  }

  // MARK: Time

  /// Sets the deadline. It moves with every request; the timer is rescheduled only if it would fire too late.
  private func expect(within time: TimeAmount, _ context: ChannelHandlerContext) {
    let until = context.eventLoop.now + time
    deadline = until
    guard alarm == nil || until < alarmAt else { return }
    alarm?.cancel()
    set(until, context)
  }

  private func set(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    alarmAt = time
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    alarm = context.eventLoop.scheduleTask(deadline: time) {
      let (handler, context) = bound.value
      handler.ring(context)
    }
  }

  private func ring(_ context: ChannelHandlerContext) {
    alarm = nil
    guard context.channel.isActive else { return }
    guard let deadline else {
      // No deadline is set while a response is being made; the next state that has one schedules the timer itself.
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
      finish(HTTPAnswer(status: 408), context)
    case .working: break
    default: context.close(promise: nil)
    }
  }
}
