import EventLoops
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection: reads a request, lets the responder answer it, and only then looks at the next.
///
/// What can be answered at once is answered on the event loop, without a task and without a change of thread: for an answer
/// that takes microseconds to make, those would cost more than the answer.
final class HTTP1Handler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// Between requests.
    case head
    /// The head is read, the body is on its way.
    case body
    /// The request is answered before its end: the rest is thrown away.
    case skipping
    /// The answer is being made elsewhere.
    case working
    /// The last answer is written; what still comes is thrown away until the peer closes or a moment has passed.
    case lingering
  }

  /// How long a peer that was told the connection ends may go on sending. Closing at once would make its system discard our
  /// answer unread.
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
  /// Of the request under way.
  private var keepAlive = true
  private var isHead = false
  private var isHTTP10 = false
  /// Parts of requests sent ahead, while an answer is being made. No more than two reads bring.
  private var held: CircularBuffer<HTTPServerRequestPart> = []
  private var heldRead = false
  /// Whether the answer under way comes before anything more is read, so that reading need not stop for it.
  private var answersThisTurn = false
  /// Whether the work that makes an answer is being begun: it may come to its end before it waits for anything.
  private var isStarting = false
  private var inputClosed = false
  private var quiescing = false
  private var isReading = false
  private var needsFlush = false
  private var sawPart = false
  /// Whether bytes came since the last look, be they a whole part or not.
  private var sawBytes = false
  private var headBegun = false

  /// When the present state has lasted too long; nil while an answer is being made.
  private var deadline: NIODeadline?
  private var alarm: Scheduled<Void>?
  private var alarmAt = NIODeadline.distantFuture

  /// - Parameters:
  ///   - turn: of the connection's event loop.
  ///   - executor: of the connection's event loop.
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
      // Bytes came and made no head yet: from now on its sender has so much time. Without bytes (reads happen in vain) nothing
      // may be said: a 408 that nobody asked for would be taken for the answer to the next request.
      headBegun = true
      expect(within: times.header, context)
    case .body where deadline == nil, .skipping where deadline == nil: expect(within: times.body, context)
    default: break
    }
    sawPart = false
    sawBytes = false
    context.fireChannelReadComplete()
  }

  /// Reads no more than once ahead while an answer is being made, and nothing while answers wait for the peer to take them: a peer
  /// that sends ahead and takes nothing costs no more than two reads and the answers to them. Most peers send nothing ahead; for
  /// them, to stop reading and to go on would cost two system calls a request.
  func read(context: ChannelHandlerContext) {
    let mayReadAhead = answersThisTurn || isWorking && held.isEmpty && context.channel.isWritable
    if isBusy(context), !mayReadAhead { heldRead = true } else { context.read() }
  }

  private func isBusy(_ context: ChannelHandlerContext) -> Bool {
    switch state {
    case .working: true
    case .head: !context.channel.isWritable
    // A request that is begun is read to its end, an answered connection is read out.
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
      // Who has nothing more to say may still be listening. What was sent ahead is answered first.
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

  /// Stands in front of the decoder and tells that bytes came.
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
    // What the parser takes for the end of HTTP is not read on; and who frames a body in a way that HTTP/1.0 does not know may mean
    // another end of it than we do (RFC 9112 section 6.1).
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

  /// Answers before the request's end. A body of a stated, bearable length is read to its end and the connection lives on; one
  /// without an end in sight is not.
  private func refuse(_ answer: HTTPAnswer, _ context: ChannelHandlerContext, request: IncomingRequest? = nil) {
    if answer.status == 408 { keepAlive = false }
    if let request, request.announcesBody, (request.contentLength ?? .max) > 4 * limits.batchBodyBytes { keepAlive = false }
    // What comes on of it is not read to its end.
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
    // It counts until the answer is made: what waits for Redis is memory as what is still being read.
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

  /// The answer to the request under way is made.
  private func complete(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    finish(answer, context)
    // What was held is looked at by whoever gave it here.
    if !isStarting { resume(context) }
  }

  /// Writes the answer; after it the next request may come, or the connection ends.
  private func finish(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
    if quiescing || isDraining() { keepAlive = false }
    var buffer = context.channel.allocator.buffer(capacity: 320 + answer.body.count)
    writer.write(answer, into: &buffer, withoutBody: isHead, close: !keepAlive, keepAlive10: isHTTP10)
    send(buffer, context)
    if !keepAlive {
      linger(context)
    } else if case .skipping = state {
      // The request's end is still to come.
    } else {
      next(context)
    }
  }

  private func next(_ context: ChannelHandlerContext) {
    state = .head
    headBegun = false
    // Requests that were sent ahead are still to be answered.
    if inputClosed, held.isEmpty {
      closeAfterWrites(context)
    } else {
      expect(within: times.idle, context)
    }
  }

  /// Closes when everything that was written is sent: closing throws away what is not.
  private func closeAfterWrites(_ context: ChannelHandlerContext) {
    state = .lingering
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    // A peer that does not take its answer ends with the rest.
    expect(within: times.idle, context)
  }

  /// Goes on with what was held back while an answer was made.
  private func resume(_ context: ChannelHandlerContext) {
    while !isBusy(context), let part = held.popFirst() { process(part, context) }
    guard !isBusy(context) else { return }
    // What was held may end in the middle of a request: no read may follow that would set its time.
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
    // Answers to requests that came in one read leave in one write, and those of all connections of a turn together.
    if isReading { needsFlush = true } else { turn.flush(context) }
  }

  // MARK: Time

  /// The deadline moves with every request; the alarm is set anew only when it would ring too late.
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
      // An answer is being made, or a body came whole: the next state that has an end sets the alarm itself.
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
