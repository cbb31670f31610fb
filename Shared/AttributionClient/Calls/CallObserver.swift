public import AttributionProtocol

/// Callbacks for traces of a client's calls.
public protocol CallObserver: Sendable {
  /// Called in the calling task. Returns nil if the call is not observed.
  func begin(_ method: any RPCMethod.Type) -> (any ObservedCall)?
}

/// An observed call, including all its attempts.
public protocol ObservedCall: Sendable {
  /// The W3C header of the call, which replaces the caller's.
  var traceparent: String { get }
  /// - Parameter failure: nil for a call that succeeded.
  func end(_ failure: RPCCode?)
}
