import EventLoops
import HTTPClient
import NIOCore
import Synchronization
import Traces

/// Sends calls to one server, in clear text, over HTTP/1.1 connections of the caller's event loop, so that neither requests nor responses
/// change threads. It is made for thousands of calls a second. Calls from other threads are left to ``HTTPClient``, which also sends a
/// repeatable call again if its response has a form that is not parsed here.
final class LoopCalls: HTTPSender {
  private static let scheme = "http://"

  private let server: URLServer
  private let authority: String
  private let otherwise: any HTTPSender
  private let pools = Mutex<[ObjectIdentifier: LoopPool]>([:])

  /// Nil for a URL that is not `http`.
  init?(baseURL: String, otherwise: any HTTPSender) {
    guard baseURL.hasPrefix(Self.scheme), let server = URLServer(baseURL) else { return nil }
    self.server = server
    authority = String(baseURL.dropFirst(Self.scheme.count).prefix { $0 != "/" })
    self.otherwise = otherwise
  }

  func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    guard let loop = EventLoopExecutor.ofThisThread?.loop, loop.inEventLoop else { return try await otherwise.send(request) }
    let pool = pools.withLock { pools in
      if let known = pools[ObjectIdentifier(loop)] { return known }
      let made = LoopPool(loop: loop, host: server.host, port: server.port)
      pools[ObjectIdentifier(loop)] = made
      return made
    }
    let path = request.url.dropFirst(Self.scheme.count).drop { $0 != "/" }
    let result = await withCheckedContinuation { continuation in
      pool.begin(LoopExchange(request, path: path.isEmpty ? "/" : path, authority: authority, continuation))
    }
    if case .failure(.other(code: LoopExchange.unreadable, _)) = result, request.isRepeatable { return try await otherwise.send(request) }
    return try result.get()
  }
}
