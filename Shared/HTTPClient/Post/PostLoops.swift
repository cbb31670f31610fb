import Synchronization

/// Posts from several threads, because one thread can make about ten thousand posts a second.
public final class PostLoops: Sendable {
  private let loops: [PostLoop]
  private let turn = Atomic(0)

  /// - Parameters:
  ///   - count: the number of threads, at least 1.
  ///   - configuration: trust anchors, the connect timeout, and the setting of HTTP/2.
  ///   - allows: returns true if a connection to an address, in 4 or 16 bytes of network order, is allowed (``PostLoop``).
  public init(count: Int, configuration: HTTPClientConfiguration, allows: @escaping @Sendable ([UInt8]) -> Bool) {
    loops = (0..<max(1, count)).map { _ in PostLoop(configuration: configuration, allows: allows) }
  }

  /// Posts a request. Redirects are not followed.
  ///
  /// - Parameters:
  ///   - thread: the thread that posts. In `done` of another post it should be the thread that called it, which is awake; nil: the threads
  ///     in turn.
  ///   - done: called once, with the number of its thread, which it must not block; it may post again.
  public func post(_ request: PostRequest, on thread: Int?, done: @escaping @Sendable (_ outcome: PostOutcome, _ thread: Int) -> Void) {
    let thread = thread ?? Int(UInt(bitPattern: turn.wrappingAdd(1, ordering: .relaxed).newValue) % UInt(loops.count))
    loops[thread].post(request) { done($0, thread) }
  }

  /// Ends the threads. Posts in flight are cancelled.
  public func shutdown() { for loop in loops { loop.shutdown() } }
}
