import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// One HTTP/2 connection: reads requests, lets the responder answer them, and limits what the peer may do. It is the last handler of a
/// connection, after NIO's frame handler; ``ConnectionChannel`` lists those before.
///
/// A stream error ends only that stream. The connection ends after a malformed frame, a flood, a frame that is not completed in time, or
/// idle time.
final class HTTP2Handler: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundIn = Never
  typealias OutboundOut = HTTP2Frame

  enum Phase {
    case open
    /// A GOAWAY has announced that no more streams may be opened. The reply to the ping that was sent with it shows that the peer has read
    /// it.
    case ending
    /// Requests on open streams are still answered; new streams are refused.
    case ended
    /// The connection is closed, or is closed when everything written has been sent.
    case closed
  }

  /// The number of body bytes that are discarded of a request that was already answered. After more, its stream is reset.
  static let maxSkippedBytes = 1 << 18
  /// The flow-control window of the connection and of each stream, bytes.
  static let windowSize = 65_535
  /// NIO counts the resets of all streams. Its limit is this many times our limit for resets of unanswered streams.
  private static let resetFactor = 20
  /// How long the peer may take to read the first GOAWAY, and to read what was written before the connection is closed.
  static let endingTime: TimeAmount = .seconds(1)
  /// The window of time in which NIO counts resets and errors, and this handler counts refused streams and resets of unanswered streams.
  static let floodWindow: TimeAmount = .seconds(30)

  let responder: any HTTPResponder
  let limits: Limits
  let times: (header: TimeAmount, body: TimeAmount, idle: TimeAmount)
  let registry: MetricsRegistry
  let turn: LoopTurnFlush
  let peer: ConnectionPeer
  let failure: ConnectionFailure
  let bodies: BodyBudget

  var streams: [HTTP2StreamID: HTTP2Stream] = [:]
  /// The highest stream id that the peer has used.
  var lastStream = HTTP2StreamID.rootStream
  var phase = Phase.open
  var date = HTTPDate()
  /// True if NIO asked for a read that was not passed on to the channel. The read is made when the peer has read.
  var isReadDelayed = false
  /// True if bytes arrived since the last `channelReadComplete`, even if they completed no frame.
  var sawBytes = false
  /// True if a frame arrived since the last `channelReadComplete`.
  var sawFrame = false
  /// Counts the streams that were refused because of the limit.
  var refusedStreams = FloodCounter()
  /// Counts the streams that the peer reset before they were answered.
  var unansweredResets = FloodCounter()

  /// The time at which the connection ends if no stream is opened.
  var idleDeadline = NIODeadline.distantFuture
  /// The time at which an incomplete frame times out.
  var frameDeadline = NIODeadline.distantFuture
  /// The time at which the current phase of ending times out.
  var endingDeadline = NIODeadline.distantFuture
  /// The timer that checks all deadlines.
  var timer: Scheduled<Void>?
  /// The time at which ``timer`` fires. It may be earlier than any deadline.
  var timerTime = NIODeadline.distantFuture

  /// - Parameters:
  ///   - turn: that of the connection's event loop.
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

  /// Adds the handlers of HTTP/2 to a connection: NIO's frame handler with our limits, this handler, and two small ones before them.
  static func add(
    to channel: any Channel, responder: any HTTPResponder, limits: Limits, bodies: BodyBudget, registry: MetricsRegistry,
    peer: ConnectionPeer
  ) throws {
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    // NIO's limits are higher than ours: if one of them is exceeded, NIO ends the connection, while this handler only answers 431 or
    // refuses one stream. StreamLimitSetting announces our limit of streams to the peer instead of NIO's.
    connection.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams * 2 + limits.streamResets),
      HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headerBytes * 4),
      HTTP2Setting(parameter: .initialWindowSize, value: windowSize),
    ]
    connection.maximumSequentialEmptyDataFrames = 8
    // NIO ignores frames that the peer sent before it learned of a reset. It remembers twice as many reset streams as can be open.
    connection.maximumRecentlyResetStreams = limits.streams * 2
    connection.controlFrameRateLimit.maximumCount = limits.controlFrames
    connection.controlFrameRateLimit.windowLength = floodWindow
    var stream = NIOHTTP2Handler.StreamConfiguration()
    // Resets of answered streams are harmless: curl sends one when it has received all bytes of a response. This handler counts the resets
    // of unanswered streams, whose work was wasted.
    stream.streamResetFrameRateLimit.maximumCount = limits.streamResets * Self.resetFactor
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
    scheduleTimer(for: idleDeadline, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    phase = .closed
    timer?.cancel()
    timer = nil
    for stream in streams.values { abandon(stream) }
    streams.removeAll()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    sawFrame = true
    let frame = unwrapInboundIn(data)
    switch frame.payload {
    case .headers(let headers): receive(headers, frame.streamID, context)
    case .data(let part): receive(part, frame.streamID, context)
    case .ping(_, ack: true) where phase == .ending: end(context)
    case .goAway where phase == .open:
      phase = .ended
      closeIfDone(context)
    default: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if sawFrame {
      frameDeadline = .distantFuture
    } else if sawBytes, frameDeadline == .distantFuture {
      frameDeadline = .now() + times.header
      scheduleTimer(for: frameDeadline, context)
    }
    sawFrame = false
    sawBytes = false
    context.fireChannelReadComplete()
  }

  /// Stops reading while the peer does not read, so that for a peer that only sends requests, no more than the responses to one read are in
  /// memory.
  func read(context: ChannelHandlerContext) {
    if context.channel.isWritable, phase != .closed { context.read() } else { isReadDelayed = true }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, isReadDelayed, phase != .closed {
      isReadDelayed = false
      context.read()
    }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as StreamClosedEvent: streamClosed(event, context)
    case let event as NIOHTTP2WindowUpdatedEvent: updateWindow(event, context)
    case is ChannelShouldQuiesceEvent: beginEnding(context)
    case ChannelEvent.inputClosed:
      // A peer that closed its sending side may still read, so complete requests are answered.
      if phase != .closed {
        phase = .ended
        for (id, stream) in streams where !stream.isComplete { reset(id, .cancel, context) }
        for stream in streams.values where stream.endsAtInputEnd { stream.work?.cancel() }
        closeIfDone(context)
      }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After a stream error, NIO has reset the stream, and the connection goes on.
    if error is any NIOHTTP2Error, !failure.concernsConnection {
      registry.add("attribution_http_rejected_total", 1, ["malformed"])
      return
    }
    if failure.concernsConnection { registry.add("attribution_http_rejected_total", 1, ["http2"]) }
    phase = .closed
    context.close(promise: nil)
  }

  /// The handler before NIO's frame handler. It records that bytes arrived, which NIO does not tell if they complete no frame.
  final class ByteArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let handler: HTTP2Handler

    init(_ handler: HTTP2Handler) { self.handler = handler }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      handler.sawBytes = true
      // After a connection error, all further input is ignored.
      if handler.phase != .closed { context.fireChannelRead(data) }
    }
  }
}
