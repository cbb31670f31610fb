public import AttributionProtocol

/// Told of calls that a client makes, for traces.
public protocol CallObserver: Sendable {
  /// Called in the task that calls; nil for a call of which nothing is to be told.
  func begin(_ method: any RPCMethod.Type) -> (any ObservedCall)?
}

/// A call that is told of, over all its attempts.
public protocol ObservedCall: Sendable {
  /// W3C's header that goes with the call, in place of the caller's.
  var traceparent: String { get }
  /// - Parameter failure: nil for a call that succeeded.
  func end(_ failure: RPCCode?)
}
