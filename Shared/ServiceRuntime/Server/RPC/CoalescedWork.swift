public import AttributionProtocol

/// Work of a call that costs less per call when it is performed for several calls together, such as signing.
///
/// An object is never used by two threads at the same time: it is created, then performed, and then its outcome is read. ``LoopTurnFlush``
/// performs the work of all calls of one turn of an event loop together.
public protocol CoalescedWork: AnyObject, Sendable {
  /// Performs all works. Afterwards each of them has its outcome.
  static func perform(_ works: [Self])
}

extension CoalescedWork {
  /// Performs the works of this type, and returns the others.
  fileprivate static func performOwn(_ works: [any CoalescedWork]) -> [any CoalescedWork] {
    var own: [Self] = []
    var others: [any CoalescedWork] = []
    own.reserveCapacity(works.count)
    for work in works {
      if let work = work as? Self { own.append(work) } else { others.append(work) }
    }
    perform(own)
    return others
  }
}

extension [any CoalescedWork] {
  /// Performs all works, those of the same type together.
  func performCoalesced() {
    var remaining = self
    while let first = remaining.first { remaining = type(of: first).performOwn(remaining) }
  }
}

/// A call that was begun: its work, and the closure that makes the response after the work.
public struct CoalescedCall<Work: CoalescedWork, Response: Sendable>: Sendable {
  public let work: Work
  /// Makes the response. Must be called once, after the work was performed.
  public let response: @Sendable () throws(RPCError) -> Response

  public init(_ work: Work, response: @escaping @Sendable () throws(RPCError) -> Response) {
    self.work = work
    self.response = response
  }

  /// The same call, whose response is transformed.
  public func map<Other: Sendable>(_ transform: @escaping @Sendable (Response) -> Other) -> CoalescedCall<Work, Other> {
    CoalescedCall<Work, Other>(work) { () throws(RPCError) in transform(try response()) }
  }

  /// Performs the work of this call alone, and returns the response.
  public func performAlone() throws(RPCError) -> Response {
    Work.perform([work])
    return try response()
  }
}

/// A handler whose work is pure computation of microseconds and is cheaper when it is coalesced with the work of other calls. The work is
/// performed on the connection's event loop at the end of its turn, without a task.
public protocol CoalescingRPCHandler<Method>: RPCHandler {
  associatedtype Work: CoalescedWork
  /// Checks the request, and returns the work to be performed.
  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<Work, Method.Response>
}

extension CoalescingRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try begin(request, context).performAlone()
  }
}
