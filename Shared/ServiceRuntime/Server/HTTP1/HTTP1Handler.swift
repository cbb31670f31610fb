import EventLoops
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection. It reads a request, lets the responder answer it, and only then processes the next.
///
/// Requests that can be answered at once are answered on the event loop, without a task and without a change of thread, because these would
/// cost more than a response that takes microseconds.
final class HTTP1Handler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = ByteBuffer

  enum State {
    /// Between requests.
    case head
    /// The head was read; the body is being received.
    case body
    /// The request was answered before its end; the rest is discarded.
    case skipping
    /// The response is being made in a task.
    case working
    /// The last response is written; input is discarded until the peer closes or ``lingeringTime`` has passed.
    case lingering
  }

  /// How long a peer may continue to send after the server has announced the end of the connection. Closing at once would reset the
  /// connection, and the peer's system could discard the response unread.
  static let lingeringTime: TimeAmount = .seconds(2)

  let responder: any HTTPResponder
  let limits: Limits
  let times: (header: TimeAmount, body: TimeAmount, idle: TimeAmount)
  let registry: MetricsRegistry
  let isDraining: @Sendable () -> Bool

  var state = State.head
  /// The request whose body is being received.
  var exchange: (any HTTPExchange)?
  /// The maximum size of the body, bytes.
  var bodyLimit = 0
  var body: BufferedBody?
  let bodies: BodyBudget
  var writer = HTTP1Response()
  let peer: ConnectionPeer
  let turn: LoopTurnFlush
  let executor: EventLoopExecutor
  /// Properties of the current request. `isHead`: true for a HEAD request, which is answered without a body.
  var keepAlive = true
  var isHead = false
  var isHTTP10 = false
  /// Parts of pipelined requests that arrived while a response is being made; at most the parts of two reads.
  var held: CircularBuffer<HTTPServerRequestPart> = []
  /// True if a read was withheld. It is made when the response is complete or the peer has read.
  var heldRead = false
  /// True if the response will be written in this turn of the event loop, so that reading does not have to stop.
  var respondsThisTurn = false
  /// The response if the current work does not end before ``deadline``; nil if the work has no time limit.
  var lateResponse: (@Sendable () -> HTTPResponse)?
  /// The number of the work whose response is expected. Work with another number ended after its deadline.
  var workNumber = 0
  /// True while the task of a response is being started. The task may end before the start returns.
  var isStarting = false
  var inputClosed = false
  var quiescing = false
  var isReading = false
  var needsFlush = false
  /// True if a part arrived since the last `channelReadComplete`.
  var sawPart = false
  /// True if bytes arrived since the last `channelReadComplete`, even if they completed no part.
  var sawBytes = false
  var headBegun = false

  /// The task that makes the response; nil if there is none, or if it must not be cancelled.
  var work: Task<Void, Never>?
  /// True if ``work`` is cancelled when the peer closes its sending side.
  var endsAtInputEnd = false

  /// The time at which the current state times out; nil while a response without a time limit is being made.
  var deadline: NIODeadline?
  /// The scheduled check of ``deadline``, and its time.
  var alarm: Scheduled<Void>?
  var alarmAt = NIODeadline.distantFuture

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
    work?.cancel()
    work = nil
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
      // A head has begun, so its time limit starts. A read without bytes must not start it: an unsolicited 408 would be taken for the
      // response to the next request.
      headBegun = true
      expect(within: times.header, context)
    case .body where deadline == nil, .skipping where deadline == nil: expect(within: bodyTime, context)
    default: break
    }
    sawPart = false
    sawBytes = false
    context.fireChannelReadComplete()
  }

  /// Reads at most once ahead while a response is being made, and not at all while written responses wait for the peer. This bounds the
  /// memory for a peer that pipelines requests and reads no responses. Reading is not stopped for every response, because most peers do not
  /// pipeline and stopping would cost two system calls per request.
  func read(context: ChannelHandlerContext) {
    let mayReadAhead = respondsThisTurn || isWorking && held.isEmpty && context.channel.isWritable
    if isBusy(context), !mayReadAhead { heldRead = true } else { context.read() }
  }

  func isBusy(_ context: ChannelHandlerContext) -> Bool {
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
      if endsAtInputEnd { work?.cancel() }
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
      var response = HTTPResponse(status: overflow ? 431 : 400)
      response.requestId = RequestID.usable(nil)
      finish(response, context)
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
}
