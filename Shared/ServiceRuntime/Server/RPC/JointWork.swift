public import AttributionProtocol

/// Work of one call that costs less when it is done for several calls together.
///
/// One is used by one thread after the other: it is begun, performed, and its outcome read.
public protocol JointWork: AnyObject, Sendable {
  /// Does all of them. Afterwards each has its own outcome.
  static func perform(_ works: [Self])
}

extension JointWork {
  /// Does those of this kind, and answers the others.
  fileprivate static func performOwn(_ works: [any JointWork]) -> [any JointWork] {
    var own: [Self] = []
    var others: [any JointWork] = []
    own.reserveCapacity(works.count)
    for work in works {
      if let work = work as? Self { own.append(work) } else { others.append(work) }
    }
    perform(own)
    return others
  }
}

extension [any JointWork] {
  /// Does them all, those of a kind together.
  func performTogether() {
    var left = self
    while let first = left.first { left = type(of: first).performOwn(left) }
  }
}

/// A call that is begun: its work, and the answer that can be made when it is done.
public struct JointCall<Work: JointWork, Response: Sendable>: Sendable {
  public let work: Work
  /// To be called once, after the work.
  public let answer: @Sendable () throws(RPCError) -> Response

  public init(_ work: Work, answer: @escaping @Sendable () throws(RPCError) -> Response) {
    self.work = work
    self.answer = answer
  }

  /// The same call with another form of its answer.
  public func map<Other: Sendable>(_ transform: @escaping @Sendable (Response) -> Other) -> JointCall<Work, Other> {
    JointCall<Work, Other>(work) { () throws(RPCError) in transform(try answer()) }
  }

  /// Does the work of this call alone, and answers.
  public func performAlone() throws(RPCError) -> Response {
    Work.perform([work])
    return try answer()
  }
}

/// Answers one method by computing alone, for microseconds, and most cheaply together with the calls that came at the same
/// moment: on the connection's event loop, at the end of its turn, without a task; its time is not watched.
public protocol JointRPCHandler<Method>: RPCHandler {
  associatedtype Work: JointWork
  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> JointCall<Work, Method.Response>
}

extension JointRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try begin(request, context).performAlone()
  }
}
