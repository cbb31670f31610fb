public import AttributionProtocol

/// Callbacks for traces and metrics of a client's calls.
public protocol CallObserver: Sendable {
  /// Called in the calling task when a call begins. Returns nil if the call is not observed.
  func begin(_ method: any RPCMethod.Type) -> (any ObservedCall)?
}

/// An observed call, including all its attempts.
public protocol ObservedCall: Sendable {
  /// The W3C header of the call, which replaces the caller's; nil if the caller's is kept.
  var traceparent: String? { get }
  /// Called before each attempt after the first one.
  ///
  /// - Parameter failure: how the attempt before it failed.
  func retries(after failure: RPCCode)
  /// - Parameter failure: nil for a call that succeeded.
  func end(_ failure: RPCCode?)
}

extension ObservedCall {
  public func retries(after failure: RPCCode) {}
}
