import EventLoops
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection. It reads a request, lets the responder answer it, and only then processes the next one.
///
/// It is the last handler of a connection, after those for the proxy header, TLS and the HTTP/2 preface, ``ByteArrivalHandler`` and NIO's
/// decoder (`ConnectionChannel.swift`). The responder is ``PublicServer`` on the public port and ``RPCServer`` on the internal one.
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
    /// The request was answered before its end, and the rest of it is discarded.
    case skipping
    /// The response is being made.
    case working
    /// The last response was written. Input is discarded until the peer closes the connection or ``lingeringTime`` has passed.
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
  /// False if the connection ends after the response to the current request.
  var keepAlive = true
  /// True if the current request has the method HEAD, so that the response is sent without its body.
  var isHeadRequest = false
  /// True if the current request is an HTTP/1.0 request.
  var isHTTP10 = false
  /// Parts of pipelined requests that arrived while a response is being made; at most the parts of two reads.
  var bufferedParts: CircularBuffer<HTTPServerRequestPart> = []
  /// True if NIO asked for a read that was delayed. The read is made when the response is complete or the peer has read.
  var isReadDelayed = false
  /// True if the response will be written in this turn of the event loop, so that reading need not stop.
  var respondsThisTurn = false
  /// Makes the response if the current work does not end before ``deadline``; nil if the work has no time limit.
  var lateResponse: (@Sendable () -> HTTPResponse)?
  /// The number of the current work. The response of work with another number is dropped, because the work was late.
  var workNumber = 0
  /// True while the task that makes a response is being started. The task may end before the function that starts it returns.
  var isStarting = false
  /// True if the peer closed its sending side.
  var inputClosed = false
  /// True if the server is shutting down, so that the connection ends after the current request.
  var quiescing = false
  /// True between the first part of a read and `channelReadComplete`.
  var isReading = false
  /// True if data was written that is flushed after the read.
  var needsFlush = false
  /// True if a part arrived since the last `channelReadComplete`.
  var sawPart = false
  /// True if bytes arrived since the last `channelReadComplete`, even if they completed no part.
  var sawBytes = false
  /// True if a part of the next request's head has arrived.
  var headBegun = false

  /// The task that makes the response; nil if there is none, or if it must not be cancelled.
  var work: Task<Void, Never>?
  /// True if ``work`` is cancelled when the peer closes its sending side.
  var endsAtInputEnd = false

  /// The time at which the current state times out; nil while a response without a time limit is being made.
  var deadline: NIODeadline?
  /// The timer that checks ``deadline``.
  var timer: Scheduled<Void>?
  /// The time at which ``timer`` fires. It may be earlier than ``deadline``.
  var timerTime = NIODeadline.distantFuture

  /// - Parameters:
  ///   - turn: that of the connection's event loop.
  ///   - executor: that of the connection's event loop.
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
    setDeadline(in: times.header, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    timer = nil
    bufferedParts.removeAll()
    work?.cancel()
    work = nil
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isReading = true
    sawPart = true
    let part = unwrapInboundIn(data)
    if isBusy(context) { bufferedParts.append(part) } else { process(part, context) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    if needsFlush {
      needsFlush = false
      turn.flush(context)
    }
    switch state {
    case .head where sawBytes && !sawPart && !headBegun:
      // A head has begun, so its time limit starts. A read without bytes must not start the limit: after it, the peer would get a 408
      // without having sent a request, and would take it for the response to its next one.
      headBegun = true
      setDeadline(in: times.header, context)
    case .body where deadline == nil, .skipping where deadline == nil: setDeadline(in: bodyTime, context)
    default: break
    }
    sawPart = false
    sawBytes = false
    context.fireChannelReadComplete()
  }

  /// Reads ahead at most once while a response is being made, and not at all while written responses wait for the peer to read them. This
  /// limits the memory for a peer that pipelines requests and reads no responses. Reading is not stopped for every response: most peers do
  /// not pipeline, and stopping would cost two system calls per request.
  func read(context: ChannelHandlerContext) {
    let mayReadAhead = respondsThisTurn || isWorking && bufferedParts.isEmpty && context.channel.isWritable
    if isBusy(context), !mayReadAhead { isReadDelayed = true } else { context.read() }
  }

  /// True if parts must be buffered, because a response is being made or the peer does not read.
  func isBusy(_ context: ChannelHandlerContext) -> Bool {
    switch state {
    case .working: true
    case .head: !context.channel.isWritable
    // A request that has begun is read to its end, and the input of a lingering connection is read and discarded.
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
      // A peer that closed its sending side may still read. The requests that it sent before are answered first.
      if !isBusy(context) || bufferedParts.isEmpty && !isWorking { closeAfterWrites(context) }
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
      isHeadRequest = false
      var response = HTTPResponse(status: overflow ? 431 : 400)
      response.requestId = RequestID.usable(nil)
      finish(response, context)
    case .working, .skipping: keepAlive = false
    case .lingering: break
    }
  }

  /// The handler before the decoder. It records that bytes arrived, which the decoder does not tell if they complete no part.
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
