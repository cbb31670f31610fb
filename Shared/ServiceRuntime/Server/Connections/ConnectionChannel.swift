import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sets up the connections of a listener. Each has these handlers, in the order in which bytes pass through them:
///
/// 1. ``ProxyHeaderReader``, if the peer is a proxy that sends the header of the PROXY protocol
/// 2. `NIOSSLServerHandler`, if the listener has a certificate
/// 3. ``PrefaceSniffer``, which replaces itself with the handlers of HTTP/2 or of HTTP/1.1, by the first bytes
/// 4. for HTTP/1.1: `ByteArrivalHandler`, NIO's decoder and ``HTTP1Handler``; for HTTP/2: those that `HTTP2Handler.add` names
///
/// The last handler passes each request to the listener's ``HTTPResponder``.
struct ConnectionChannel: ServerChildChannel {
  enum Version: Sendable {
    case http1
    case http2
  }

  struct Value: ServerChildChannelValue {
    let channel: any Channel
    /// Completes when the version of HTTP is known, and fails if the connection ends before.
    let version: EventLoopFuture<Version>
  }

  private let responder: any HTTPResponder
  private let limits: Limits
  private let registry: MetricsRegistry
  private let connectionLimit: ConnectionLimit
  private let bodies: BodyBudget
  /// Nil for connections without TLS.
  private let tls: LiveTLS?
  /// Peers whose connections begin with a ``ProxyHeader``.
  private let proxies: [AddressRange]
  private let peers: PeerLimits
  private let isDraining: @Sendable () -> Bool

  init(
    responder: any HTTPResponder, limits: Limits, registry: MetricsRegistry, connectionLimit: ConnectionLimit, tls: LiveTLS?,
    proxies: [AddressRange], peers: PeerLimits, isDraining: @escaping @Sendable () -> Bool
  ) {
    self.connectionLimit = connectionLimit
    self.tls = tls
    self.proxies = proxies
    self.peers = peers
    self.responder = responder
    self.limits = limits
    bodies = BodyBudget(limit: limits.bodyMemory, peers: peers.bodies, registry: registry)
    self.registry = registry
    self.isDraining = isDraining
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let promise = channel.eventLoop.makePromise(of: Version.self)
      // Handlers get no event if the connection closes before they are active. Then only this completes the promise.
      channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.ioOnClosedChannel) }
      func refused(_ cause: String) -> Value {
        registry.add("attribution_http_rejected_total", 1, [cause])
        promise.fail(ChannelError.ioOnClosedChannel)
        channel.close(promise: nil)
        return Value(channel: channel, version: promise.futureResult)
      }
      guard !connectionLimit.isExceeded else { return refused("connections") }
      let address = ConnectionPeer.address(of: channel)
      let isFromProxy = address.map { proxies.contains($0) } ?? false
      // A proxy's connection counts for the client, who is known only after the proxy header was read.
      guard isFromProxy || reserveConnection(channel, for: address) else { return refused("peer_connections") }
      let timeLimit = TimeAmount.nanoseconds(Int64(limits.headerTime / .nanoseconds(1)))
      let proxyHeader = isFromProxy ? try expectProxyHeader(on: channel, within: timeLimit) : nil
      let sniffer = PrefaceSniffer(timeLimit: timeLimit) { isHTTP2 in
        let peer = ConnectionPeer(
          channel, certificateNames: tls == nil ? [] : CertificateNames.uris(of: channel), origin: proxyHeader?.origin)
        let version: EventLoopFuture<Version> =
          isHTTP2
          ? channel.eventLoop.makeCompletedFuture { try addHTTP2(to: channel, peer) }.map { .http2 }
          : channel.eventLoop.makeCompletedFuture { try addHTTP1(to: channel, peer) }.map { .http1 }
        promise.completeWith(version)
        return version.map { _ in }
      } onFailure: {
        registry.add("attribution_http_rejected_total", 1, ["tls"])
      } onClose: {
        promise.fail(ChannelError.ioOnClosedChannel)
      }
      if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context)) }
      try channel.pipeline.syncOperations.addHandler(sniffer)
      return Value(channel: channel, version: promise.futureResult)
    }
  }

  /// Counts the connection for the peer's limit until it is closed. Returns false if it would exceed the limit.
  private func reserveConnection(_ channel: any Channel, for address: IPAddress?) -> Bool {
    guard let connections = peers.connections, let peer = peers.peer(address) else { return true }
    guard connections.reserve(1, of: peer) else { return false }
    channel.closeFuture.whenComplete { _ in connections.release(1, of: peer) }
    return true
  }

  /// Adds the handler that reads the proxy header. It is the first one, because the header is sent before the TLS handshake.
  private func expectProxyHeader(on channel: any Channel, within timeLimit: TimeAmount) throws -> ProxyHeaderReader {
    let reader = ProxyHeaderReader(limit: limits.proxyHeaderBytes, timeLimit: timeLimit) { origin in
      guard case .client(let address) = origin, !reserveConnection(channel, for: address) else { return true }
      registry.add("attribution_http_rejected_total", 1, ["peer_connections"])
      return false
    } onRefusal: {
      registry.add("attribution_http_rejected_total", 1, ["proxy_header"])
    }
    try channel.pipeline.syncOperations.addHandler(reader)
    return reader
  }

  private func addHTTP1(to channel: any Channel, _ peer: ConnectionPeer) throws {
    // The decoder's limits are higher than ours, so that HTTP1Handler gets the whole head of a request that exceeds ours, and its answer
    // 431 has the request's own id. If a head exceeds the decoder's limits too, HTTP1Handler gets only an error, and answers 431 with a new
    // id.
    var decoderLimits = NIOHTTPDecoderLimitConfiguration()
    decoderLimits.maxHeaderFieldSize = limits.headerBytes * 4
    decoderLimits.maxHeaderListSize = limits.headerBytes * 4
    decoderLimits.maxHeaderFieldCount = limits.headerCount * 4
    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
    let handler = HTTP1Handler(
      responder: responder, limits: limits, bodies: bodies, registry: registry, turn: .current(channel.eventLoop),
      executor: .current(channel.eventLoop), peer: peer, isDraining: isDraining)
    try channel.pipeline.syncOperations.addHandlers([HTTP1Handler.ByteArrivalHandler(handler), ByteToMessageHandler(decoder), handler])
  }

  private func addHTTP2(to channel: any Channel, _ peer: ConnectionPeer) throws {
    try HTTP2Handler.add(
      to: channel, responder: responder, limits: limits, bodies: bodies, registry: registry, peer: peer)
  }

  /// Returns when the connection is closed. It closes the connection if the task is cancelled, which happens when the time limit of the
  /// drain is over (`DrainGate.swift`).
  func handle(value: Value, logger: Logger) async {
    await withTaskCancellationHandler {
      guard let version = try? await value.version.get() else { return }
      let name = version == .http1 ? "h1" : "h2"
      registry.add("attribution_http_connections", 1, [name])
      try? await value.channel.closeFuture.get()
      registry.add("attribution_http_connections", -1, [name])
    } onCancel: {
      value.channel.close(promise: nil)
    }
  }
}
