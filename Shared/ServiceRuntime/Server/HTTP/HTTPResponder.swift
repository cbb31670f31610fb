/// Answers requests of one listener, in two steps, so that no body is taken before it is known whether it is wanted.
public protocol HTTPResponder: Sendable {
  /// Looks at a head. Called on the connection's event loop: it must not block.
  func begin(_ request: IncomingRequest) -> RequestAdmission
}

/// What becomes of a request once its head is known.
public enum RequestAdmission: Sendable {
  /// An answer at once; the body is thrown away.
  case answer(HTTPAnswer)
  /// A body of at most `limit` bytes is read, then the exchange answers.
  case body(limit: Int, any HTTPExchange)
}

/// A request that waits for its body.
public protocol HTTPExchange: Sendable {
  /// Whose bodies this request's counts among; nil where peers have no bound of their own, and for a proxy's own requests.
  var peer: IPAddress? { get }
  /// The answer when the body does not come as it should.
  func refuse(_ error: BodyError) -> HTTPAnswer
  /// The answer to the whole request. Called on the connection's event loop: what takes longer than a signature goes
  /// into ``HTTPOutcome/later(_:)``.
  ///
  /// - Parameter share: what the body counts on until it is answered; what is inflated of it is to be counted on it too.
  func respond(to body: [UInt8], _ share: BodyReservation) -> HTTPOutcome
}

extension HTTPExchange {
  public var peer: IPAddress? { nil }
}

/// An answer, or the work that will make it.
public enum HTTPOutcome: Sendable {
  case now(HTTPAnswer)
  case later(@Sendable () async -> HTTPAnswer)
  /// Work that waits for others and computes no longer than a signature takes: its steps are done on the connection's event
  /// loop, without a change of thread.
  case waiting(@Sendable () async -> HTTPAnswer)
  /// Work that is better done together with its like, and the answer that can be made after it.
  case coalesced(any CoalescedWork, @Sendable () -> HTTPAnswer)

  /// The answer, whatever it takes.
  func answer() async -> HTTPAnswer {
    switch self {
    case .now(let answer): return answer
    case .later(let work), .waiting(let work): return await work()
    case .coalesced(let work, let answer):
      [work].performCoalesced()
      return answer()
    }
  }
}

/// Why a body was not read.
public enum BodyError: Error, Sendable {
  case tooLarge
  case timedOut
  /// As much as may be is being read already; it may come again.
  case noRoom
}

/// An exchange whose body is small and whose work is a closure.
public struct SimpleExchange: HTTPExchange {
  let work: @Sendable ([UInt8], BodyReservation) async -> HTTPAnswer

  public init(work: @escaping @Sendable ([UInt8], BodyReservation) async -> HTTPAnswer) { self.work = work }

  public func refuse(_ error: BodyError) -> HTTPAnswer { HTTPAnswer(status: error == .tooLarge ? 413 : error == .noRoom ? 503 : 408) }
  public func respond(to body: [UInt8], _ share: BodyReservation) -> HTTPOutcome { .later { await work(body, share) } }
}
