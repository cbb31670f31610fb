import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// One HTTP/2 connection behind NIO's frame handler: reads requests, lets the responder answer them, and limits what the peer may do.
///
/// A stream error ends only that stream. The connection ends after a malformed frame, a flood, an incomplete head or idle time.
final class HTTP2Handler: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundIn = Never
  typealias OutboundOut = HTTP2Frame

  private enum Phase {
    case open
    /// A GOAWAY told the peer to open no more streams; the reply to a ping shows when the peer has read it.
    case ending
    /// Open streams are finished; new streams are refused.
    case ended
    case closed
  }

  /// How many body bytes are read of a request that was answered already before its stream is reset.
  private static let skipAllowance = 1 << 18
  private static let windowSize = 65_535
  /// The allowed ratio of all resets to resets of unanswered streams.
  private static let idleResets = 20
  /// How long the peer may take to acknowledge the first GOAWAY, and the connection to close.
  private static let endingTime: TimeAmount = .seconds(1)
  /// The window in which NIO counts resets and errors, and this handler counts refused streams.
  private static let floodWindow: TimeAmount = .seconds(30)

  private let responder: any HTTPResponder
  private let limits: Limits
  private let times: (header: TimeAmount, body: TimeAmount, idle: TimeAmount)
  private let registry: MetricsRegistry
  private let turn: LoopTurnFlush
  private let peer: ConnectionPeer
  private let failure: ConnectionFailure
  private let bodies: BodyBudget

  private var streams: [HTTP2StreamID: HTTP2Stream] = [:]
  private var lastStream = HTTP2StreamID.rootStream
  private var phase = Phase.open
  private var date = HTTPDate()
  private var heldRead = false
  private var sawBytes = false
  private var sawFrame = false
  /// Counts of refused streams, and of streams that the peer reset before they were answered.
  private var refused = FloodCounter()
  private var givenUp = FloodCounter()

  /// When the connection ends if no stream is opened.
  private var idleDeadline = NIODeadline.distantFuture
  /// When an incomplete frame times out.
  private var partDeadline = NIODeadline.distantFuture
  /// When the current phase of ending times out.
  private var endingDeadline = NIODeadline.distantFuture
  private var alarm: Scheduled<Void>?
  private var alarmAt = NIODeadline.distantFuture

  /// - Parameters:
  ///   - turn: belongs to the connection's event loop.
  ///   - failure: records connection errors that NIO's handler reports.
  init(
    responder: any HTTPResponder, limits: Limits, bodies: BodyBudget, registry: MetricsRegistry, turn: LoopTurnFlush, peer: ConnectionPeer,
    failure: ConnectionFailure
  ) {
    self.bodies = bodies
    self.responder = responder
    self.limits = limits
    times = (TimeAmount(limits.headerTime), TimeAmount(limits.bodyTime), TimeAmount(limits.idleTime))
    self.registry = registry
    self.turn = turn
    self.peer = peer
    self.failure = failure
  }

  /// Adds NIO's frame handler with our limits, and this handler behind it.
  static func add(
    to channel: any Channel, responder: any HTTPResponder, limits: Limits, bodies: BodyBudget, registry: MetricsRegistry,
    peer: ConnectionPeer
  ) throws {
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    // NIO's limits are above ours, because NIO ends the connection where this handler answers 431 or refuses one stream. The peer is told our
    // limit of streams (``StreamLimitSetting``).
    connection.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams * 2 + limits.streamResets),
      HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headerBytes * 4),
      HTTP2Setting(parameter: .initialWindowSize, value: windowSize),
    ]
    connection.maximumSequentialEmptyDataFrames = 8
    // Frames in flight for a stream that was reset are ignored, for twice as many streams as can be open.
    connection.maximumRecentlyResetStreams = limits.streams * 2
    connection.controlFrameRateLimit.maximumCount = limits.controlFrames
    connection.controlFrameRateLimit.windowLength = floodWindow
    var stream = NIOHTTP2Handler.StreamConfiguration()
    // Resets of answered streams cost nothing, and curl sends one when it has received all bytes of a response. This handler counts resets that
    // waste work.
    stream.streamResetFrameRateLimit.maximumCount = limits.streamResets * Self.idleResets
    stream.streamResetFrameRateLimit.windowLength = floodWindow
    stream.streamErrorRateLimit.maximumCount = limits.streamResets
    stream.streamErrorRateLimit.windowLength = floodWindow
    let failure = ConnectionFailure()
    let handler = HTTP2Handler(
      responder: responder, limits: limits, bodies: bodies, registry: registry, turn: .current(channel.eventLoop), peer: peer,
      failure: failure)
    try channel.pipeline.syncOperations.addHandlers([
      StreamLimitSetting(streams: limits.streams), ByteArrivalHandler(handler),
      NIOHTTP2Handler(mode: .server, frameDelegate: failure, connectionConfiguration: connection, streamConfiguration: stream),
      handler,
    ])
  }

  // MARK: Events

  func handlerAdded(context: ChannelHandlerContext) {
    // The connection is idle until the first request after the preface.
    idleDeadline = .now() + times.idle
    expect(idleDeadline, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    phase = .closed
    alarm?.cancel()
    alarm = nil
    for stream in streams.values { abandon(stream) }
    streams.removeAll()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    sawFrame = true
    let frame = unwrapInboundIn(data)
    switch frame.payload {
    case .headers(let headers): take(headers, frame.streamID, context)
    case .data(let part): take(part, frame.streamID, context)
    case .ping(_, ack: true) where phase == .ending: end(context)
    case .goAway where phase == .open:
      phase = .ended
      closeIfDone(context)
    default: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if sawFrame {
      partDeadline = .distantFuture
    } else if sawBytes, partDeadline == .distantFuture {
      partDeadline = .now() + times.header
      expect(partDeadline, context)
    }
    sawFrame = false
    sawBytes = false
    context.fireChannelReadComplete()
  }

  /// Stops reading while the peer does not read, so that a peer that only sends requests costs no more than the responses to one read.
  func read(context: ChannelHandlerContext) {
    if context.channel.isWritable, phase != .closed { context.read() } else { heldRead = true }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, heldRead, phase != .closed {
      heldRead = false
      context.read()
    }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as StreamClosedEvent: closed(event, context)
    case let event as NIOHTTP2WindowUpdatedEvent: widen(event, context)
    case is ChannelShouldQuiesceEvent: beginEnding(context)
    case ChannelEvent.inputClosed:
      // A peer that closed its sending side may still read.
      if phase != .closed {
        phase = .ended
        for (id, stream) in streams where !stream.isWhole { reset(id, .cancel, context) }
        closeIfDone(context)
      }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // NIO has reset the stream after a stream error; the connection goes on.
    if error is any NIOHTTP2Error, !failure.isConnections {
      registry.add("attribution_http_rejected_total", 1, ["malformed"])
      return
    }
    if failure.isConnections { registry.add("attribution_http_rejected_total", 1, ["http2"]) }
    phase = .closed
    context.close(promise: nil)
  }

  /// Runs before NIO's handler and records that bytes arrived.
  private final class ByteArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let handler: HTTP2Handler

    init(_ handler: HTTP2Handler) { self.handler = handler }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      handler.sawBytes = true
      // After a connection error all further input is ignored.
      if handler.phase != .closed { context.fireChannelRead(data) }
    }
  }

  // MARK: Requests

  private func take(_ headers: HTTP2Frame.FramePayload.Headers, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard phase != .closed else { return }
    if let stream = streams[id] {
      // Trailers are ignored.
      if headers.endStream { ended(stream, id, context) }
      return
    }
    lastStream = max(lastStream, id)
    guard streams.count < limits.streams, phase != .ended else {
      refuse(id, context)
      return
    }
    idleDeadline = .distantFuture
    let stream = HTTP2Stream()
    stream.isWhole = headers.endStream
    streams[id] = stream
    begin(headers.headers, stream, id, context)
  }

  private func begin(_ fields: HPACKHeaders, _ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    let head = HTTP2RequestHead(fields)
    stream.isHead = head.method == "HEAD"
    let request = IncomingRequest(method: head.method, target: head.target, headers: head.headers, peer: peer, isHTTP2: true)
    guard head.isSafe, HTTPToken.isToken(head.method) else {
      registry.add("attribution_http_rejected_total", 1, ["malformed"])
      answer(HTTPAnswer(status: 400), stream, id, context)
      return
    }
    if let refusal = request.refusal(limits, target: head.target) {
      registry.add("attribution_http_rejected_total", 1, [refusal.cause])
      var answer = HTTPAnswer(status: refusal.status)
      answer.requestId = RequestID.usable(request.requestId)
      self.answer(answer, stream, id, context)
      return
    }
    switch responder.begin(request) {
    case .answer(let answer): self.answer(answer, stream, id, context)
    case .body(let limit, let exchange):
      if let length = request.contentLength, length > limit {
        answer(exchange.refuse(.tooLarge), stream, id, context)
        return
      }
      stream.exchange = exchange
      stream.bodyLimit = limit
      // Work with an idempotency key is not cancelled, because a retry will ask for its response.
      stream.mayBeCancelled = request.idempotencyKey == nil
      if stream.isWhole {
        respond(stream, id, context)
      } else {
        wait(stream, times.body, context)
      }
    }
  }

  private func take(_ part: HTTP2Frame.FramePayload.Data, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard let stream = streams[id], case .byteBuffer(let buffer) = part.data else { return }
    if let exchange = stream.exchange {
      if stream.body == nil { stream.body = BufferedBody(bodies, peer: exchange.peer) }
      if let error = stream.body!.add(buffer, limit: stream.bodyLimit) {
        stream.isWhole = part.endStream
        answer(exchange.refuse(error), stream, id, context)
        return
      }
    } else {
      stream.skippedBytes += buffer.readableBytes
      if stream.skippedBytes > Self.skipAllowance, !part.endStream {
        reset(id, .noError, context)
        return
      }
    }
    if part.endStream { ended(stream, id, context) }
  }

  private func ended(_ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard !stream.isWhole else { return }
    stream.isWhole = true
    if stream.exchange != nil { respond(stream, id, context) }
  }

  private func respond(_ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard let exchange = stream.exchange else { return }
    stream.exchange = nil
    stream.deadline = nil
    // The body counts against the budget until the response is made.
    if stream.body == nil { stream.body = BufferedBody(bodies, peer: exchange.peer) }
    let bytes = stream.body!.take()
    switch exchange.respond(to: bytes, stream.body!.share) {
    case .now(let answer): self.answer(answer, stream, id, context)
    case .later(let work), .waiting(let work):
      let bound = NIOLoopBound((self, context, stream), eventLoop: context.eventLoop)
      let loop = context.eventLoop
      stream.work = Task {
        let answer = await work()
        loop.execute {
          let (handler, context, stream) = bound.value
          stream.work = nil
          handler.answer(answer, stream, id, context)
        }
      }
    case .coalesced(let work, let answer):
      turn.perform(work) { self.answer(answer(), stream, id, context) }
    }
  }

  // MARK: Answers

  private func answer(_ answer: HTTPAnswer, _ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard streams[id] === stream, phase != .closed else { return }
    stream.exchange = nil
    stream.body = nil
    stream.isAnswered = true
    let withoutBody = stream.isHead || answer.body.isEmpty
    var fields = HPACKHeaders()
    fields.reserveCapacity(answer.headers.count + 4)
    fields.add(name: ":status", value: String(answer.status))
    for (name, value) in answer.headers where HTTP1Response.isSafe(value) && HTTPToken.isToken(name) {
      fields.add(name: name.lowercased(), value: value)
    }
    if let requestId = answer.requestId, HTTP1Response.isSafe(requestId) { fields.add(name: "x-request-id", value: requestId) }
    fields.add(name: "content-length", value: String(answer.body.count))
    fields.add(name: "date", value: date.value())
    // The last data frame carries END_STREAM. With a separate empty frame, a peer that counts bytes could be done before the stream ends and reset
    // it.
    write(.headers(.init(headers: fields, endStream: withoutBody)), id, context)
    if !withoutBody {
      write(.data(.init(data: .byteBuffer(context.channel.allocator.buffer(bytes: answer.body)), endStream: true)), id, context)
    }
    // Both sending within the peer's window and discarding the rest of the request have a time limit.
    wait(stream, stream.isWhole ? times.idle : times.body, context)
    turn.flush(context)
  }

  private func write(_ payload: HTTP2Frame.FramePayload, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
  }

  private func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
    write(.rstStream(code), id, context)
    turn.flush(context)
  }

  /// Refuses one stream over the limit; the peer may retry it. A peer that keeps opening such streams loses the connection.
  private func refuse(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    registry.add("attribution_http_rejected_total", 1, ["streams"])
    guard refused.add(within: Self.floodWindow) <= limits.streamResets else {
      close(.enhanceYourCalm, context)
      return
    }
    reset(id, .refusedStream, context)
  }

  private func closed(_ event: StreamClosedEvent, _ context: ChannelHandlerContext) {
    guard let stream = streams.removeValue(forKey: event.streamID) else { return }
    abandon(stream)
    if event.reason != nil, !stream.isAnswered, givenUp.add(within: Self.floodWindow) > limits.streamResets {
      registry.add("attribution_http_rejected_total", 1, ["resets"])
      close(.enhanceYourCalm, context)
      return
    }
    guard streams.isEmpty else { return }
    idleDeadline = .now() + times.idle
    expect(idleDeadline, context)
    closeIfDone(context)
  }

  private func abandon(_ stream: HTTP2Stream) {
    if stream.mayBeCancelled { stream.work?.cancel() }
    stream.work = nil
  }

  /// Widens the flow-control window by what was read, for the connection and for streams whose body is incomplete.
  private func widen(_ event: NIOHTTP2WindowUpdatedEvent, _ context: ChannelHandlerContext) {
    guard phase != .closed, let size = event.inboundWindowSize, size <= Self.windowSize / 2 else { return }
    guard event.streamID == .rootStream || streams[event.streamID]?.isWhole == false else { return }
    write(.windowUpdate(windowSizeIncrement: Self.windowSize - size), event.streamID, context)
    turn.flush(context)
  }

  // MARK: The end

  /// Sends a GOAWAY that allows all streams: requests that the peer sends before it reads the GOAWAY are still answered.
  private func beginEnding(_ context: ChannelHandlerContext) {
    guard phase == .open else { return }
    phase = .ending
    write(.goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil), .rootStream, context)
    write(.ping(HTTP2PingData(withInteger: 0), ack: false), .rootStream, context)
    context.flush()
    endingDeadline = .now() + Self.endingTime
    expect(endingDeadline, context)
  }

  /// Sends the final GOAWAY after the peer has read the first or its time is over.
  private func end(_ context: ChannelHandlerContext) {
    guard phase == .ending else { return }
    phase = .ended
    endingDeadline = .distantFuture
    write(.goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil), .rootStream, context)
    context.flush()
    closeIfDone(context)
  }

  private func closeIfDone(_ context: ChannelHandlerContext) {
    if phase == .ended, streams.isEmpty { close(.noError, context) }
  }

  /// Sends a GOAWAY with the code and closes after everything written is sent, because closing discards unsent data.
  private func close(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
    guard phase != .closed else { return }
    phase = .closed
    for stream in streams.values { abandon(stream) }
    streams.removeAll()
    let sent = context.eventLoop.makePromise(of: Void.self)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
    let goAway = HTTP2Frame(
      streamID: .rootStream, payload: .goAway(lastStreamID: lastStream, errorCode: code, opaqueData: nil))
    context.write(wrapOutboundOut(goAway), promise: sent)
    turn.flush(context)
    // A peer that does not read is closed after this time.
    endingDeadline = .now() + Self.endingTime
    expect(endingDeadline, context)
  }

  // MARK: Time

  private func wait(_ stream: HTTP2Stream, _ time: TimeAmount, _ context: ChannelHandlerContext) {
    let deadline = NIODeadline.now() + time
    stream.deadline = deadline
    expect(deadline, context)
  }

  /// Sets a deadline. Deadlines move with every stream; the timer is rescheduled only if it would fire too late.
  private func expect(_ deadline: NIODeadline, _ context: ChannelHandlerContext) {
    guard deadline < alarmAt else { return }
    alarm?.cancel()
    alarmAt = deadline
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    alarm = context.eventLoop.scheduleTask(deadline: deadline) {
      let (handler, context) = bound.value
      handler.ring(context)
    }
  }

  private func ring(_ context: ChannelHandlerContext) {
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
        answer(exchange.refuse(.timedOut), stream, id, context)
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
