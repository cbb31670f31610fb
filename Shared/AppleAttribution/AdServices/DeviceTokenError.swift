/// Why a device could not make an attribution token (AdServices: AAAttributionError). A device reports it instead of a token; ingest counts
/// the report and queues nothing (`TokenIntake`).
public enum DeviceTokenError: Int64, Sendable, Hashable, CaseIterable {
  case networkError = 1
  case internalError = 2
  case platformNotSupported = 3

  /// Apple's name.
  public var name: String {
    switch self {
    case .networkError: "networkError"
    case .internalError: "internalError"
    case .platformNotSupported: "platformNotSupported"
    }
  }

  /// True if the app may request a token again. On a platform without AdServices it never gets one.
  public var mayBeTriedAgain: Bool { self != .platformNotSupported }
}
