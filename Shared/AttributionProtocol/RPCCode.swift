/// The sixteen codes of an RPC error in Connect's protocol. `RPCRetryRule` of AttributionClient decides after which of them a call is
/// retried.
public enum RPCCode: String, Sendable, Hashable, CaseIterable {
  case canceled
  case unknown
  case invalidArgument = "invalid_argument"
  case deadlineExceeded = "deadline_exceeded"
  case notFound = "not_found"
  case alreadyExists = "already_exists"
  case permissionDenied = "permission_denied"
  case resourceExhausted = "resource_exhausted"
  case failedPrecondition = "failed_precondition"
  case aborted
  case outOfRange = "out_of_range"
  case unimplemented
  case `internal`
  case unavailable
  case dataLoss = "data_loss"
  case unauthenticated

  /// The HTTP status of an answer with this code.
  public var httpStatus: Int {
    switch self {
    case .canceled: 499
    case .unknown, .internal, .dataLoss: 500
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .deadlineExceeded: 504
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .permissionDenied: 403
    case .resourceExhausted: 429
    case .unimplemented: 501
    case .unavailable: 503
    case .unauthenticated: 401
    }
  }
}
