import NIOCore

/// Answers requests of one listener in two steps, so that requests can be refused before their body is read.
public protocol HTTPResponder: Sendable {
  /// Decides by the head of a request. Called on the connection's event loop, so it must not block.
  func begin(_ request: IncomingRequest) -> RequestAdmission
}

/// The decision about a request after its head was read.
public enum RequestAdmission: Sendable {
  /// Answer at once; the body is discarded.
  case response(HTTPResponse)
  /// Read a body of at most `limit` bytes, then let the exchange answer.
  case body(limit: Int, any HTTPExchange)
}

/// A request that waits for its body.
public protocol HTTPExchange: Sendable {
  /// The peer whose memory quota the body counts against; nil if peers have no quota, and for a proxy's own requests.
  var peer: IPAddress? { get }
  /// The time at which the request is over, if its head states one: no body is read after it.
  var deadline: ContinuousClock.Instant? { get }
  /// What happens to work that is returned as ``HTTPOutcome/later(_:)`` if the caller leaves before it is done.
  var abandonment: Abandonment { get }
  /// The response if the body cannot be read.
  func refuse(_ error: BodyError) -> HTTPResponse
  /// The response to the whole request. Called on the connection's event loop: work that takes longer than a signature must be returned as
  /// ``HTTPOutcome/later(_:)``.
  ///
  /// - Parameter reservation: the memory of the body, reserved until the response is made. Inflated bytes must be reserved on it too.
  func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome
}

extension HTTPExchange {
  public var peer: IPAddress? { nil }
  public var deadline: ContinuousClock.Instant? { nil }
  public var abandonment: Abandonment { .finishes }

  /// The time to receive the body: `limit`, or the rest of the request's own time if that is shorter.
  func bodyTime(_ limit: TimeAmount) -> TimeAmount {
    guard let deadline else { return limit }
    return min(limit, max(.zero, TimeAmount(deadline - .now)))
  }
}

/// What happens to the work of a request whose caller leaves.
public enum Abandonment: Sendable {
  /// The work goes on: a retry will ask for its result.
  case finishes
  /// The work is cancelled when the connection is closed. A caller that closed only its sending side still gets the answer.
  case isCancelled
  /// The work waits for something to happen. It is cancelled as soon as the caller closes its sending side, because the end of the
  /// caller's process shows in no other way until something is written.
  case isCancelledAtInputEnd
}

/// A response, or the work that makes it.
public enum HTTPOutcome: Sendable {
  case now(HTTPResponse)
  /// Work that may take long. It runs in a task, not on the connection's event loop.
  case later(@Sendable () async -> HTTPResponse)
  /// Work that waits for other systems and computes no longer than a signature takes. It runs on the connection's event loop, without a
  /// change of thread.
  case waiting(@Sendable () async -> HTTPResponse)
  /// Work as in ``waiting(_:)`` whose response is `late` if it is not made within the time. The work then continues, and its response is
  /// dropped.
  case waitingAtMost(Duration, late: @Sendable () -> HTTPResponse, @Sendable () async -> HTTPResponse)
  /// Work that is performed together with the same kind of work of other requests, and a closure that makes the response afterwards.
  case coalesced(any CoalescedWork, @Sendable () -> HTTPResponse)

  /// The response, after any work.
  func response() async -> HTTPResponse {
    switch self {
    case .now(let response): return response
    case .later(let work), .waiting(let work), .waitingAtMost(_, _, let work): return await work()
    case .coalesced(let work, let response):
      [work].performCoalesced()
      return response()
    }
  }
}

/// The reason why a body was not read.
public enum BodyError: Error, Sendable {
  case tooLarge
  case timedOut
  /// The listener's memory for bodies is used up; the sender may retry.
  case noRoom
}

/// An exchange whose body is small and whose work is a closure.
public struct SimpleExchange: HTTPExchange {
  let work: @Sendable ([UInt8], BodyReservation) async -> HTTPResponse

  public init(work: @escaping @Sendable ([UInt8], BodyReservation) async -> HTTPResponse) { self.work = work }

  public func refuse(_ error: BodyError) -> HTTPResponse { HTTPResponse(status: error == .tooLarge ? 413 : error == .noRoom ? 503 : 408) }
  public func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome { .later { await work(body, reservation) } }
}

extension RequestAdmission {
  /// Adds the request's id to responses to anything but an RPC, and compresses those that are large.
  func named(_ request: IncomingRequest) -> RequestAdmission {
    let requestId = RequestID.usable(request.requestId)
    switch self {
    case .response(var response):
      response.requestId = requestId
      return .response(response)
    case .body(let limit, let exchange):
      let wrapped = SimpleExchange { body, reservation in
        var response = await exchange.respond(to: body, reservation).response()
        response.requestId = requestId
        ResponseCompression.apply(&response, request)
        return response
      }
      return .body(limit: limit, wrapped)
    }
  }
}
