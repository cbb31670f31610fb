import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sets up a connection: HTTP/1.1, or HTTP/2 if the connection begins with the HTTP/2 preface, on the same port.
struct ConnectionChannel: ServerChildChannel {
  enum Negotiated: Sendable {
    case http1
    case http2
  }

  struct Value: ServerChildChannelValue {
    let channel: any Channel
    let negotiated: EventLoopFuture<Negotiated>
  }

  private let responder: any HTTPResponder
  private let limits: Limits
  private let registry: MetricsRegistry
  private let bound: ConnectionLimit
  private let bodies: BodyBudget
  /// Nil for connections without TLS.
  private let tls: LiveTLS?
  /// Peers whose connections begin with a ``ProxyHeader``.
  private let proxies: [AddressRange]
  private let peers: PeerLimits
  private let isDraining: @Sendable () -> Bool

  init(
    responder: any HTTPResponder, limits: Limits, registry: MetricsRegistry, bound: ConnectionLimit, tls: LiveTLS?,
    proxies: [AddressRange], peers: PeerLimits, isDraining: @escaping @Sendable () -> Bool
  ) {
    self.bound = bound
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
      let promise = channel.eventLoop.makePromise(of: Negotiated.self)
      // If a connection closes before its handlers are active, they get no event of the close, so the promise is failed here.
      channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.ioOnClosedChannel) }
      func closed(_ cause: String) -> Value {
        registry.add("attribution_http_rejected_total", 1, [cause])
        promise.fail(ChannelError.ioOnClosedChannel)
        channel.close(promise: nil)
        return Value(channel: channel, negotiated: promise.futureResult)
      }
      guard !bound.isPassed else { return closed("connections") }
      let address = ConnectionPeer.address(of: channel)
      let isProxys = address.map { proxies.contains($0) } ?? false
      // The client behind a proxy is known only after the proxy header was read.
      guard isProxys || take(channel, from: address) else { return closed("peer_connections") }
      let timeLimit = TimeAmount.nanoseconds(Int64(limits.headerTime / .nanoseconds(1)))
      let proxyHeader = isProxys ? try expectProxyHeader(on: channel, within: timeLimit) : nil
      let sniffer = PrefaceSniffer(timeLimit: timeLimit) { isHTTP2 in
        let peer = ConnectionPeer(
          channel, certificateNames: tls == nil ? [] : CertificateNames.uris(of: channel), origin: proxyHeader?.origin)
        let made: EventLoopFuture<Negotiated> =
          isHTTP2
          ? channel.eventLoop.makeCompletedFuture { try addHTTP2(to: channel, peer) }.map { .http2 }
          : channel.eventLoop.makeCompletedFuture { try addHTTP1(to: channel, peer) }.map { .http1 }
        promise.completeWith(made)
        return made.map { _ in }
      } onFailure: {
        registry.add("attribution_http_rejected_total", 1, ["tls"])
      } onClose: {
        promise.fail(ChannelError.ioOnClosedChannel)
      }
      if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context)) }
      try channel.pipeline.syncOperations.addHandler(sniffer)
      return Value(channel: channel, negotiated: promise.futureResult)
    }
  }

  /// Counts a peer's connection until it is closed. False if it exceeds the peer's limit.
  private func take(_ channel: any Channel, from address: IPAddress?) -> Bool {
    guard let connections = peers.connections, let peer = peers.peer(address) else { return true }
    guard connections.take(1, of: peer) else { return false }
    channel.closeFuture.whenComplete { _ in connections.giveBack(1, of: peer) }
    return true
  }

  /// Adds the handler that reads the proxy header, before all others including TLS.
  private func expectProxyHeader(on channel: any Channel, within timeLimit: TimeAmount) throws -> ProxyHeaderReader {
    let reader = ProxyHeaderReader(limit: limits.proxyHeaderBytes, timeLimit: timeLimit) { origin in
      guard case .client(let address) = origin, !take(channel, from: address) else { return true }
      registry.add("attribution_http_rejected_total", 1, ["peer_connections"])
      return false
    } onRefusal: {
      registry.add("attribution_http_rejected_total", 1, ["proxy_header"])
    }
    try channel.pipeline.syncOperations.addHandler(reader)
    return reader
  }

  private func addHTTP1(to channel: any Channel, _ peer: ConnectionPeer) throws {
    // The decoder's limits are above ours, so that this server answers 431 itself; beyond them the decoder fails.
    var bounds = NIOHTTPDecoderLimitConfiguration()
    bounds.maxHeaderFieldSize = limits.headerBytes * 4
    bounds.maxHeaderListSize = limits.headerBytes * 4
    bounds.maxHeaderFieldCount = limits.headerCount * 4
    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: bounds)
    let handler = HTTP1Handler(
      responder: responder, limits: limits, bodies: bodies, registry: registry, turn: .current(channel.eventLoop),
      executor: .current(channel.eventLoop), peer: peer, isDraining: isDraining)
    try channel.pipeline.syncOperations.addHandlers([HTTP1Handler.ByteArrivalHandler(handler), ByteToMessageHandler(decoder), handler])
  }

  private func addHTTP2(to channel: any Channel, _ peer: ConnectionPeer) throws {
    try HTTP2Handler.add(
      to: channel, responder: responder, limits: limits, bodies: bodies, registry: registry, peer: peer)
  }

  /// Returns when the connection is closed. Closes it if the task is cancelled, which happens when the limit of the drain has passed.
  func handle(value: Value, logger: Logger) async {
    await withTaskCancellationHandler {
      guard let negotiated = try? await value.negotiated.get() else { return }
      let name = negotiated == .http1 ? "h1" : "h2"
      registry.add("attribution_http_connections", 1, [name])
      try? await value.channel.closeFuture.get()
      registry.add("attribution_http_connections", -1, [name])
    } onCancel: {
      value.channel.close(promise: nil)
    }
  }
}
