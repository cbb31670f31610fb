/// Why a device has no attribution token (AdServices: AAAttributionError). Ingest counts what devices report (`TokenIntake`) and queues nothing.
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

  /// True if the app may request a token again.
  public var mayBeTriedAgain: Bool { self != .platformNotSupported }
}
