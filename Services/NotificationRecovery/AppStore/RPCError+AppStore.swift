import AppStore
import AttributionProtocol

extension RPCError {
  /// The error for a request that was not sent to Apple, because Apple would refuse it.
  init(_ refusal: RequestRefusal) { self = .invalidArgument(field: refusal.field, refusal.reason) }

  /// The error for callers if nothing in Apple's answer can be used, because its signed data cannot be verified.
  init(_ problem: AppStoreCalls.Problem) {
    self.init(
      .dataLoss, "the App Store's answer contains signed data that cannot be verified", reason: "SIGNED_DATA_INVALID",
      metadata: ["verdict": problem.reason.rawValue, "kind": problem.kind.rawValue])
  }

  /// The error reason code for a request that Apple refuses.
  static let refusedByApple = "APP_STORE_REFUSED"

  /// The error for callers if the call failed. Its metadata has Apple's error code, if Apple returned one. `now`: milliseconds since 1970.
  init(_ error: AppStoreServerAPIError, now: Int64) {
    let code: RPCCode
    let reason: String
    var delay: Duration?
    switch error.classification {
    case .retry, .server:
      (code, reason) = (.unavailable, "APP_STORE_UNAVAILABLE")
      delay = .seconds(1)
    case .rate:
      (code, reason) = (.resourceExhausted, "APP_STORE_RATE_LIMITED")
      delay = .milliseconds(max(1000, (error.retryAt ?? now) - now))
    case .credentials: (code, reason) = (.failedPrecondition, "APP_STORE_CREDENTIALS")
    case .configuration: (code, reason) = (.failedPrecondition, "APP_STORE_CONFIGURATION")
    case .tryOtherEnvironment: (code, reason) = (.notFound, "APP_STORE_NOT_FOUND")
    case .permanent:
      switch error.status {
      case 404: (code, reason) = (.notFound, "APP_STORE_NOT_FOUND")
      // Without a status, the request was refused before it was sent.
      case 400, nil: (code, reason) = (.invalidArgument, Self.refusedByApple)
      case 409: (code, reason) = (.alreadyExists, Self.refusedByApple)
      default: (code, reason) = (.failedPrecondition, Self.refusedByApple)
      }
    }
    var metadata = ["environment": error.server.rawValue]
    metadata["errorCode"] = error.errorCode.map(String.init)
    metadata["errorName"] = error.errorCode.flatMap(AppStoreServerErrorName.name)
    metadata["status"] = error.status.map(String.init)
    metadata["clockDifferenceSeconds"] = error.clockDifference.map(String.init)
    self.init(code, error.message, reason: reason, metadata: metadata, retryDelay: delay)
  }
}
