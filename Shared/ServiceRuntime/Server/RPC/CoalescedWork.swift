public import AttributionProtocol

/// Work of one call that costs less when it is done for several calls together.
///
/// One is used by one thread after the other: it is begun, performed, and its outcome read.
public protocol CoalescedWork: AnyObject, Sendable {
  /// Does all of them. Afterwards each has its own outcome.
  static func perform(_ works: [Self])
}

extension CoalescedWork {
  /// Does those of this kind, and answers the others.
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
  /// Does them all, those of a kind together.
  func performCoalesced() {
    var left = self
    while let first = left.first { left = type(of: first).performOwn(left) }
  }
}

/// A call that is begun: its work, and the answer that can be made when it is done.
public struct CoalescedCall<Work: CoalescedWork, Response: Sendable>: Sendable {
  public let work: Work
  /// To be called once, after the work.
  public let answer: @Sendable () throws(RPCError) -> Response

  public init(_ work: Work, answer: @escaping @Sendable () throws(RPCError) -> Response) {
    self.work = work
    self.answer = answer
  }

  /// The same call with another form of its answer.
  public func map<Other: Sendable>(_ transform: @escaping @Sendable (Response) -> Other) -> CoalescedCall<Work, Other> {
    CoalescedCall<Work, Other>(work) { () throws(RPCError) in transform(try answer()) }
  }

  /// Does the work of this call alone, and answers.
  public func performAlone() throws(RPCError) -> Response {
    Work.perform([work])
    return try answer()
  }
}

/// Answers one method by computing alone, for microseconds, and most cheaply together with the calls that came at the same
/// moment: on the connection's event loop, at the end of its turn, without a task; its time is not watched.
public protocol CoalescingRPCHandler<Method>: RPCHandler {
  associatedtype Work: CoalescedWork
  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<Work, Method.Response>
}

extension CoalescingRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try begin(request, context).performAlone()
  }
}
