import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#endif

/// The connections of one event loop to a server.
final class LoopPool: @unchecked Sendable {  // touched on its loop alone
  /// The greatest number of connections; further requests wait.
  private static let maxConnections = 64
  private static let connectTimeout: TimeAmount = .seconds(3)
  /// How long sent data may stay unacknowledged, milliseconds, so that a peer that vanished is noticed.
  private static let maxSilence = 5000

  private let loop: any EventLoop
  private let host: String
  private let port: Int
  /// Idle connections; the one that was used last is at the end and used first.
  private var idle: [LoopConnection] = []
  private var waiting = CircularBuffer<LoopExchange>()
  /// The number of connections that are open or being opened, and of those being opened.
  private var open = 0
  private var making = 0

  init(loop: any EventLoop, host: String, port: Int) {
    self.loop = loop
    self.host = host
    self.port = port
  }

  func begin(_ exchange: LoopExchange) {
    let time = TimeAmount.nanoseconds(max(0, Int64(exchange.timeout / .nanoseconds(1))))
    exchange.timer = loop.assumeIsolated().scheduleTask(in: time) {
      let connection = exchange.connection
      exchange.end(.failure(.timedOut))
      guard let connection else { return }
      // The idle connections may be dead too.
      connection.close()
      self.closeIdle()
    }
    carry(exchange)
  }

  /// Sends a request again, over another connection.
  func resend(_ exchange: LoopExchange) {
    exchange.wasResent = true
    carry(exchange)
  }

  /// A connection is ready for a request.
  func release(_ connection: LoopConnection) {
    while let next = waiting.popFirst() {
      if !next.isOver { return connection.send(next) }
    }
    idle.append(connection)
  }

  /// A connection has ended.
  func remove(_ connection: LoopConnection) {
    open -= 1
    idle.removeAll { $0 === connection }
    connectIfNeeded()
  }

  private func carry(_ exchange: LoopExchange) {
    if let connection = idle.popLast() { return connection.send(exchange) }
    waiting.append(exchange)
    connectIfNeeded()
  }

  private func connectIfNeeded() {
    while waiting.first?.isOver == true { waiting.removeFirst() }
    if waiting.count > making, open < Self.maxConnections { connect() }
  }

  private func closeIdle() {
    let connections = idle
    idle = []
    for connection in connections { connection.close() }
  }

  private func connect() {
    making += 1
    open += 1
    let silence = ChannelOptions.Types.SocketOption(level: .init(rawValue: CInt(IPPROTO_TCP)), name: .init(rawValue: TCP_USER_TIMEOUT))
    let connecting = ClientBootstrap(group: loop).connectTimeout(Self.connectTimeout)
      .channelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(silence, value: Self.maxSilence)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(LoopConnection(channel: channel, pool: self))
        }
      }.connect(host: host, port: port)
    connecting.assumeIsolated().whenComplete { result in
      self.making -= 1
      switch result {
      case .success(let channel): self.opened(channel)
      case .failure(let error): self.cannotConnect("\(error)")
      }
    }
  }

  private func opened(_ channel: any Channel) {
    // Only the channel of the first address that answers gets here.
    guard channel.isActive, let connection = try? channel.pipeline.syncOperations.handler(type: LoopConnection.self) else {
      return cannotConnect("it was closed at once")
    }
    connection.isCounted = true
    release(connection)
  }

  private func cannotConnect(_ message: String) {
    open -= 1
    // The request that has waited longest fails. The others wait for other connections, if there are any.
    while let first = waiting.popFirst() {
      let wasOver = first.isOver
      first.end(.failure(.couldNotConnect(message)))
      if !wasOver, open > 0 { return }
    }
  }
}
