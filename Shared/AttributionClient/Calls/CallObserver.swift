public import AttributionProtocol

/// Callbacks for traces and metrics of a client's calls. ``RPCClient`` calls them.
public protocol CallObserver: Sendable {
  /// Called in the calling task when a call begins. Nil if this call is not to be observed.
  func begin(_ method: any RPCMethod.Type) -> (any ObservedCall)?
}

/// One observed call with all its attempts.
public protocol ObservedCall: Sendable {
  /// The value of the header `traceparent` (W3C Trace Context) that the call sends in place of the caller's; nil to send the caller's.
  var traceparent: String? { get }
  /// Called before each attempt after the first one.
  ///
  /// - Parameter failure: the code of the error with which the previous attempt failed.
  func retries(after failure: RPCCode)
  /// Called once, when the call has ended.
  ///
  /// - Parameter failure: the code of the error that the caller gets; nil for a call that succeeded.
  func end(_ failure: RPCCode?)
}

extension ObservedCall {
  public func retries(after failure: RPCCode) {}
}
