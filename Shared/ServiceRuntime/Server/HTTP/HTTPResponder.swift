import NIOCore

/// Answers the requests of one listener in two steps, so that a request can be refused before its body is read: ``begin(_:)`` decides by
/// the head, then the ``HTTPExchange`` that it returns answers with the body. Implemented by ``RPCServer`` for the internal port and by
/// ``PublicServer`` for the public one.
public protocol HTTPResponder: Sendable {
  /// Decides by the head of a request. It is called on the connection's event loop, so it must not block.
  func begin(_ request: IncomingRequest) -> RequestAdmission
}

/// The decision about a request after its head was read.
public enum RequestAdmission: Sendable {
  /// The request is answered at once, and its body is discarded.
  case response(HTTPResponse)
  /// A body of at most `limit` bytes is read, and then the exchange answers.
  case body(limit: Int, any HTTPExchange)
}

/// A request whose head was accepted. At most one of ``respond(to:_:)`` and ``refuse(_:)`` is called, once.
public protocol HTTPExchange: Sendable {
  /// The peer in whose memory quota the body is reserved; nil for none.
  var peer: IPAddress? { get }
  /// The deadline of the request, after which its body is no longer read; nil for none.
  var deadline: ContinuousClock.Instant? { get }
  /// What happens to work that was returned as ``HTTPOutcome/later(_:)`` if the caller leaves before the work has ended.
  var abandonment: Abandonment { get }
  /// Returns the response to a request whose body cannot be read.
  func refuse(_ error: BodyError) -> HTTPResponse
  /// Returns the response to the whole request, or the work that makes it. It is called on the connection's event loop, so work that takes
  /// longer than a signature must be returned as ``HTTPOutcome/later(_:)``.
  ///
  /// - Parameter reservation: the reserved memory of the body. Bytes that are inflated from it must be reserved there too.
  func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome
}

extension HTTPExchange {
  public var peer: IPAddress? { nil }
  public var deadline: ContinuousClock.Instant? { nil }
  public var abandonment: Abandonment { .finishes }

  /// The time limit for receiving the body: `limit`, or the time to the request's own deadline if that is shorter.
  func bodyTime(_ limit: TimeAmount) -> TimeAmount {
    guard let deadline else { return limit }
    return min(limit, max(.zero, TimeAmount(deadline - .now)))
  }
}

/// What happens to the work of a request whose caller leaves before it is answered.
public enum Abandonment: Sendable {
  /// The work goes on, because a retry will ask for its result.
  case finishes
  /// The work is cancelled when the connection is closed. A caller that closed only its sending side still gets the response.
  case isCancelled
  /// The work is cancelled as soon as the caller closes its sending side. This is for work that waits for something to happen: if the
  /// caller's process has ended, nothing else shows it until the response is written.
  case isCancelledAtInputEnd
}

/// A response, or the work that makes the response.
public enum HTTPOutcome: Sendable {
  case now(HTTPResponse)
  /// Work that may take long or compute much. It runs in a task, not on the connection's event loop.
  case later(@Sendable () async -> HTTPResponse)
  /// Work that waits for other systems and computes no longer than a signature takes. On HTTP/1.1 it runs on the connection's event loop,
  /// without a change of thread; on HTTP/2 it runs like ``later(_:)``.
  case waiting(@Sendable () async -> HTTPResponse)
  /// Work as in ``waiting(_:)`` with a time limit. If it has not ended by then, the response is `late`; the work continues, and its
  /// response is dropped.
  case waitingAtMost(Duration, late: @Sendable () -> HTTPResponse, @Sendable () async -> HTTPResponse)
  /// Work that is performed together with work of the same type of other requests, and the closure that makes the response afterwards.
  case coalesced(any CoalescedWork, @Sendable () -> HTTPResponse)

  /// The response, after the work was done.
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

/// The reason why a request's body was not read to its end.
public enum BodyError: Error, Sendable {
  case tooLarge
  case timedOut
  /// The listener's memory for bodies is used up; the sender may retry.
  case noRoom
}

/// An exchange whose work is a closure, for requests with a small body or none.
public struct SimpleExchange: HTTPExchange {
  let work: @Sendable ([UInt8], BodyReservation) async -> HTTPResponse

  public init(work: @escaping @Sendable ([UInt8], BodyReservation) async -> HTTPResponse) { self.work = work }

  public func refuse(_ error: BodyError) -> HTTPResponse { HTTPResponse(status: error == .tooLarge ? 413 : error == .noRoom ? 503 : 408) }
  public func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome { .later { await work(body, reservation) } }
}

extension RequestAdmission {
  /// The same decision, with the request's id in the response. It is for all requests but RPCs, and also compresses their large responses.
  func addingRequestID(of request: IncomingRequest) -> RequestAdmission {
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
