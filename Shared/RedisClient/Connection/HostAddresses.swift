import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#endif

/// Resolves host names for each connection, and keeps the last addresses for when the name server does not answer.
///
/// After a lost DNS query, the system's resolver waits seconds before it retries, which is longer than a command may wait. For a known host
/// a connection therefore waits at most ``patience`` and then uses the last addresses; the reply counts for the next connection. Only one
/// query per host is in flight at a time.
final class HostAddresses: Sendable {
  /// Resolves a name by the system's resolver; blocks.
  typealias LookUp = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

  private struct Host: Hashable {
    let name: String
    let port: Int
  }

  private struct State {
    var known: [Host: [SocketAddress]] = [:]
    /// The callers that wait for the query in flight, by host.
    var asked: [Host: [EventLoopPromise<[SocketAddress]>]] = [:]
  }

  private let patience: TimeAmount
  private let lookUp: LookUp
  private let state = NIOLockedValueBox(State())

  /// `patience`: how long a connection waits for a new answer before it uses the last addresses.
  init(patience: TimeAmount = .milliseconds(300), lookUp: @escaping LookUp = HostAddresses.system) {
    self.patience = patience
    self.lookUp = lookUp
  }

  /// The host's addresses in the order in which to try them. Fails only for a host that was never resolved.
  func find(_ name: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
    let host = Host(name: name, port: port)
    let answer = loop.makePromise(of: [SocketAddress].self)
    let (isFirst, known) = state.withLockedValue { state in
      state.asked[host, default: []].append(answer)
      return (state.asked[host]?.count == 1, state.known[host])
    }
    if isFirst {
      NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try self.lookUp(name, port) }.whenComplete { self.settle(host, $0) }
    }
    guard let known else { return answer.futureResult }
    let soon = loop.makePromise(of: [SocketAddress].self)
    let alarm = loop.scheduleTask(in: patience) { soon.succeed(known) }
    answer.futureResult.whenComplete { found in
      alarm.cancel()
      soon.succeed((try? found.get()) ?? known)
    }
    return soon.futureResult
  }

  private func settle(_ host: Host, _ found: Result<[SocketAddress], any Error>) {
    let waiting = state.withLockedValue { state in
      if case .success(let addresses) = found { state.known[host] = addresses }
      return state.asked.removeValue(forKey: host) ?? []
    }
    for promise in waiting { promise.completeWith(found) }
  }

  /// The answer of the system's resolver, IPv4 and IPv6.
  @Sendable static func system(_ name: String, _ port: Int) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_protocol = CInt(IPPROTO_TCP)
    var first: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, String(port), &hints, &first)
    guard code == 0 else {
      throw RedisError.unavailable("cannot connect: no address for \(name) (\(String(cString: gai_strerror(code))))")
    }
    defer { freeaddrinfo(first) }
    var addresses: [SocketAddress] = []
    var next = first
    while let entry = next?.pointee {
      let address = UnsafeRawPointer(entry.ai_addr)
      switch entry.ai_family {
      case AF_INET: if let address { addresses.append(SocketAddress(address.load(as: sockaddr_in.self), host: name)) }
      case AF_INET6: if let address { addresses.append(SocketAddress(address.load(as: sockaddr_in6.self), host: name)) }
      default: break
      }
      next = entry.ai_next
    }
    return addresses
  }
}

/// Adapts ``HostAddresses`` to NIO, for one connection.
struct HostResolver: Resolver, Sendable {
  let found: EventLoopFuture<[SocketAddress]>

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    found.map { $0.filter { $0.protocol == .inet } }
  }

  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    found.map { $0.filter { $0.protocol == .inet6 } }
  }

  func cancelQueries() {}
}
