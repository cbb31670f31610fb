import Synchronization

/// Posts from several threads, because one thread is too slow for the highest rates. Each thread has a ``PostLoop``.
public final class PostLoops: Sendable {
  private let loops: [PostLoop]
  /// Counts the posts without a thread, which go to the threads in turn.
  private let counter = Atomic(0)

  /// - Parameters:
  ///   - count: the number of threads, at least 1.
  ///   - configuration: only the trust anchors, the connect timeout and the setting of HTTP/2 are used.
  ///   - allows: returns true if a connection to an address, in 4 or 16 bytes of network order, is allowed (``PostLoop``).
  public init(count: Int, configuration: HTTPClientConfiguration, allows: @escaping @Sendable ([UInt8]) -> Bool) {
    loops = (0..<max(1, count)).map { _ in PostLoop(configuration: configuration, allows: allows) }
  }

  /// Posts a request. Redirects are not followed.
  ///
  /// - Parameters:
  ///   - thread: the number of the thread that posts; nil for the threads in turn. A post made in `done` of another post should use that
  ///     post's thread, which is awake already.
  ///   - done: called once, on the thread that posted, with the thread's number. It must not block the thread, and may post again.
  public func post(_ request: PostRequest, on thread: Int?, done: @escaping @Sendable (_ outcome: PostOutcome, _ thread: Int) -> Void) {
    let thread = thread ?? Int(UInt(bitPattern: counter.wrappingAdd(1, ordering: .relaxed).newValue) % UInt(loops.count))
    loops[thread].post(request) { done($0, thread) }
  }

  /// Ends the threads. Posts in flight, and all later ones, fail as cancelled.
  public func shutdown() { for loop in loops { loop.shutdown() } }
}
