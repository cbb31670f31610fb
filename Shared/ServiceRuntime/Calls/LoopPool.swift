import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#endif

/// The connections of one event loop to a server.
final class LoopPool: @unchecked Sendable {  // touched on its loop alone
  /// More requests than these wait for one another.
  private static let most = 64
  private static let connectTimeout: TimeAmount = .seconds(3)
  /// How long what was sent may stay unconfirmed: a peer that is gone without a word is noticed then, milliseconds.
  private static let longestSilence = 5000

  private let loop: any EventLoop
  private let host: String
  private let port: Int
  /// The one that was used last stands last and is used first.
  private var idle: [LoopConnection] = []
  private var waiting = CircularBuffer<LoopExchange>()
  /// Those that stand or are being made, and the latter alone.
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
      // What stands idle may be as dead.
      connection.close()
      self.closeIdle()
    }
    carry(exchange)
  }

  /// Sends a request a second time, over another connection.
  func again(_ exchange: LoopExchange) {
    exchange.wasSentAnew = true
    carry(exchange)
  }

  /// A connection can take a request.
  func isFree(_ connection: LoopConnection) {
    while let next = waiting.popFirst() {
      if !next.isOver { return connection.send(next) }
    }
    idle.append(connection)
  }

  /// A connection has ended.
  func isGone(_ connection: LoopConnection) {
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
    if waiting.count > making, open < Self.most { connect() }
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
      .channelOption(silence, value: Self.longestSilence)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(LoopConnection(channel: channel, pool: self))
        }
      }.connect(host: host, port: port)
    connecting.assumeIsolated().whenComplete { result in
      self.making -= 1
      switch result {
      case .success(let channel): self.stands(channel)
      case .failure(let error): self.cannotConnect("\(error)")
      }
    }
  }

  private func stands(_ channel: any Channel) {
    // Of the addresses of a name, the first that answers counts; the others' channels never come here.
    guard channel.isActive, let connection = try? channel.pipeline.syncOperations.handler(type: LoopConnection.self) else {
      return cannotConnect("it was closed at once")
    }
    connection.isCounted = true
    isFree(connection)
  }

  private func cannotConnect(_ message: String) {
    open -= 1
    // Whoever waits longest hears of it; the others wait for other connections where there are any.
    while let first = waiting.popFirst() {
      let wasOver = first.isOver
      first.end(.failure(.couldNotConnect(message)))
      if !wasOver, open > 0 { return }
    }
  }
}
