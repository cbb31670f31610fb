import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import NIOSSL

/// Connections over TLS with HTTP/1.1 or HTTP/2, as negotiated with the client.
///
/// Hummingbird's own channel closes an HTTP/2 connection after 200 stream resets in half a minute, and counts resets of answered streams
/// too. curl sends such a reset if it has all bytes of an answer before the end of the stream. Apple's servers accept this, and so does
/// this channel.
struct SimulatorChannel: HTTPChannelHandler {
  typealias Connection = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
  typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<Connection>

  struct Value: ServerChildChannelValue {
    let channel: any Channel
    let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<Connection, Streams>>
  }

  /// The maximum number of stream resets of a connection in half a minute: more than any test sends.
  private static let maxResets = 100_000

  let responder: Responder
  private let time: SimulatedTime
  private let context: NIOSSLContext
  private let http1: HTTP1Channel

  init(tls: TLSConfiguration, time: SimulatedTime, responder: @escaping Responder) throws {
    var tls = tls
    tls.applicationProtocols = NIOHTTP2SupportedALPNProtocols
    context = try NIOSSLContext(configuration: tls)
    self.responder = responder
    self.time = time
    http1 = HTTP1Channel(responder: responder, configuration: .init(additionalChannelHandlers: [SimulatedDateHandler(time)]))
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let http1 = http1
    let context = context
    let time = time
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
    }.flatMap {
      channel.configureHTTP2AsyncSecureUpgrade {
        http1.setup(channel: $0, logger: logger)
      } http2ConnectionInitializer: { channel in
        channel.eventLoop.makeCompletedFuture { try Self.streams(of: channel, time) }
      }
    }.map { Value(channel: channel, negotiated: $0) }
  }

  private static func streams(of channel: any Channel, _ time: SimulatedTime) throws -> Streams {
    var configuration = NIOHTTP2Handler.Configuration()
    configuration.stream.streamResetFrameRateLimit.maximumCount = maxResets
    let streams = try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(mode: .server, configuration: configuration) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandlers(HTTP2FramePayloadToHTTPServerCodec(), SimulatedDateHandler(time))
        return try Connection(
          wrappingChannelSynchronously: stream, configuration: .init(isOutboundHalfClosureEnabled: true))
      }
    }
    try channel.pipeline.syncOperations.addHandler(CloseAtShutdownHandler())
    return streams
  }

  func handle(value: Value, logger: Logger) async {
    do {
      switch try await value.negotiated.get() {
      case .http1_1(let connection): await handleHTTP(asyncChannel: connection, logger: logger)
      case .http2(let streams):
        try await withThrowingDiscardingTaskGroup { group in
          for try await stream in streams.inbound { group.addTask { await handleHTTP(asyncChannel: stream, logger: logger) } }
        }
      }
    } catch {
      logger.debug("a connection broke", metadata: ["error": "\(error)"])
    }
  }
}

/// Sends the simulated time in the `Date` header, to which Hummingbird sets the real time.
private final class SimulatedDateHandler: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let time: SimulatedTime

  init(_ time: SimulatedTime) { self.time = time }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
    head.headerFields[.date] = time.httpDate
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }
}

/// Closes an HTTP/2 connection when the server shuts down, even if the client would keep it open.
private final class CloseAtShutdownHandler: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}
