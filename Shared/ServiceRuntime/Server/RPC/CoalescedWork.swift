public import AttributionProtocol

/// Work of a call that costs less per call when it is performed for several calls together.
///
/// An object is used by one thread after the other: it is created, performed, and then its outcome is read.
public protocol CoalescedWork: AnyObject, Sendable {
  /// Performs all of them. Afterwards each has its own outcome.
  static func perform(_ works: [Self])
}

extension CoalescedWork {
  /// Performs those of this type, and returns the others.
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
  /// Performs all of them, those of the same type together.
  func performCoalesced() {
    var left = self
    while let first = left.first { left = type(of: first).performOwn(left) }
  }
}

/// A call that was begun: its work, and a closure that makes the response after the work.
public struct CoalescedCall<Work: CoalescedWork, Response: Sendable>: Sendable {
  public let work: Work
  /// Must be called once, after the work.
  public let response: @Sendable () throws(RPCError) -> Response

  public init(_ work: Work, response: @escaping @Sendable () throws(RPCError) -> Response) {
    self.work = work
    self.response = response
  }

  /// The same call with a transformed response.
  public func map<Other: Sendable>(_ transform: @escaping @Sendable (Response) -> Other) -> CoalescedCall<Work, Other> {
    CoalescedCall<Work, Other>(work) { () throws(RPCError) in transform(try response()) }
  }

  /// Performs the work of this call alone, and returns the response.
  public func performAlone() throws(RPCError) -> Response {
    Work.perform([work])
    return try response()
  }
}

/// A handler whose work is pure computation of microseconds and is cheaper when coalesced with other calls. The work is performed on the
/// connection's event loop at the end of its turn, without a task. A call whose deadline has passed before is refused.
public protocol CoalescingRPCHandler<Method>: RPCHandler {
  associatedtype Work: CoalescedWork
  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<Work, Method.Response>
}

extension CoalescingRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try begin(request, context).performAlone()
  }
}
