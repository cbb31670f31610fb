import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#endif

/// Resolves host names for each new connection, and keeps the last addresses in case the name server does not answer.
///
/// After a lost DNS query, the system's resolver waits seconds before it retries, which is longer than a command may wait. So for a host
/// that was resolved before, a connection waits at most ``timeout`` and then uses the last addresses. A later result is for the next
/// connection. At most one query for each host is in flight.
final class HostAddresses: Sendable {
  /// A function that resolves a name, and blocks until it has the addresses.
  typealias LookUp = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

  private struct Host: Hashable {
    let name: String
    let port: Int
  }

  private struct State {
    /// The last addresses of each host.
    var known: [Host: [SocketAddress]] = [:]
    /// The callers that wait for the query in flight, by host.
    var waiting: [Host: [EventLoopPromise<[SocketAddress]>]] = [:]
  }

  /// The time for which a connection waits for a new result before it uses the last addresses.
  private let timeout: TimeAmount
  private let lookUp: LookUp
  private let state = NIOLockedValueBox(State())

  init(timeout: TimeAmount = .milliseconds(300), lookUp: @escaping LookUp = HostAddresses.system) {
    self.timeout = timeout
    self.lookUp = lookUp
  }

  /// The host's addresses, in the order in which they should be tried. Fails only for a host that was never resolved.
  func find(_ name: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
    let host = Host(name: name, port: port)
    let resolved = loop.makePromise(of: [SocketAddress].self)
    let (isFirst, known) = state.withLockedValue { state in
      state.waiting[host, default: []].append(resolved)
      return (state.waiting[host]?.count == 1, state.known[host])
    }
    if isFirst {
      NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try self.lookUp(name, port) }.whenComplete { self.finish(host, $0) }
    }
    guard let known else { return resolved.futureResult }
    let result = loop.makePromise(of: [SocketAddress].self)
    let timer = loop.scheduleTask(in: timeout) { result.succeed(known) }
    resolved.futureResult.whenComplete { found in
      timer.cancel()
      result.succeed((try? found.get()) ?? known)
    }
    return result.futureResult
  }

  /// Keeps the addresses, and passes them on to the callers that wait for them.
  private func finish(_ host: Host, _ found: Result<[SocketAddress], any Error>) {
    let waiting = state.withLockedValue { state in
      if case .success(let addresses) = found { state.known[host] = addresses }
      return state.waiting.removeValue(forKey: host) ?? []
    }
    for promise in waiting { promise.completeWith(found) }
  }

  /// The IPv4 and IPv6 addresses that the system's resolver finds.
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

/// Passes the addresses of ``HostAddresses`` to NIO, for one connection.
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
