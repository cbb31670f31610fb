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

  enum Phase {
    case open
    /// A GOAWAY has announced that no more streams may be opened; the reply to a ping shows when the peer has read it.
    case ending
    /// Requests on open streams are still answered; new streams are refused.
    case ended
    case closed
  }

  /// How many body bytes are read of a request that was answered already before its stream is reset.
  static let skipAllowance = 1 << 18
  /// The flow-control window of the connection and of each stream, bytes.
  static let windowSize = 65_535
  /// For each reset of an unanswered stream that is allowed, this many resets of any streams are allowed.
  private static let idleResets = 20
  /// How long the peer may take to acknowledge the first GOAWAY, and the connection to close.
  static let endingTime: TimeAmount = .seconds(1)
  /// The window in which NIO counts resets and errors, and this handler counts refused streams.
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
  var lastStream = HTTP2StreamID.rootStream
  var phase = Phase.open
  var date = HTTPDate()
  /// True if reading was stopped until the peer reads.
  var heldRead = false
  var sawBytes = false
  var sawFrame = false
  /// Counts of refused streams, and of streams that the peer reset before they were answered.
  var refused = FloodCounter()
  var givenUp = FloodCounter()

  /// The time at which the connection ends if no stream is opened.
  var idleDeadline = NIODeadline.distantFuture
  /// The time at which an incomplete frame times out.
  var partDeadline = NIODeadline.distantFuture
  /// The time at which the current phase of ending times out.
  var endingDeadline = NIODeadline.distantFuture
  var alarm: Scheduled<Void>?
  var alarmAt = NIODeadline.distantFuture

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
    // NIO's limits are above ours, because NIO ends the connection in cases in which this handler answers 431 or refuses one stream. The
    // announced limit of streams is ours (``StreamLimitSetting``).
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
    // Resets of answered streams cost nothing, and curl sends one when it has received all bytes of a response. This handler counts resets
    // that waste work.
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
        for stream in streams.values where stream.endsAtInputEnd { stream.work?.cancel() }
        closeIfDone(context)
      }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // NIO has reset the stream after a stream error; the connection goes on.
    if error is any NIOHTTP2Error, !failure.concernsConnection {
      registry.add("attribution_http_rejected_total", 1, ["malformed"])
      return
    }
    if failure.concernsConnection { registry.add("attribution_http_rejected_total", 1, ["http2"]) }
    phase = .closed
    context.close(promise: nil)
  }

  /// Runs before NIO's handler and records that bytes arrived.
  final class ByteArrivalHandler: ChannelInboundHandler {
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
}
