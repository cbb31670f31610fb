import EventLoops
import HTTPClient
import NIOCore
import Synchronization
import Traces

/// A client for one server without TLS. It uses HTTP/1.1 connections of the caller's event loop, so that neither requests nor responses
/// change threads: the services make thousands of calls a second to each other.
///
/// It sends to the `fallback` the calls from threads that are not event loops. It also repeats there a repeatable call whose response it
/// cannot parse (see ``ResponseHead``).
///
/// A ``LoopPool`` has the connections of one event loop, a ``LoopConnection`` is one of them, and a ``LoopExchange`` is one request.
final class LoopCalls: HTTPSender {
  private static let scheme = "http://"

  private let server: URLServer
  private let authority: String
  private let fallback: any HTTPSender
  private let pools = Mutex<[ObjectIdentifier: LoopPool]>([:])

  /// Nil for a URL that does not begin with `http://`.
  init?(baseURL: String, fallback: any HTTPSender) {
    guard baseURL.hasPrefix(Self.scheme), let server = URLServer(baseURL) else { return nil }
    self.server = server
    authority = String(baseURL.dropFirst(Self.scheme.count).prefix { $0 != "/" })
    self.fallback = fallback
  }

  func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    guard let loop = EventLoopExecutor.ofThisThread?.loop, loop.inEventLoop else { return try await fallback.send(request) }
    let pool = pools.withLock { pools in
      if let known = pools[ObjectIdentifier(loop)] { return known }
      let pool = LoopPool(loop: loop, host: server.host, port: server.port)
      pools[ObjectIdentifier(loop)] = pool
      return pool
    }
    let path = request.url.dropFirst(Self.scheme.count).drop { $0 != "/" }
    let result = await withCheckedContinuation { continuation in
      pool.begin(LoopExchange(request, path: path.isEmpty ? "/" : path, authority: authority, continuation))
    }
    if case .failure(.other(code: LoopExchange.unsupported, _)) = result, request.isRepeatable { return try await fallback.send(request) }
    return try result.get()
  }
}
