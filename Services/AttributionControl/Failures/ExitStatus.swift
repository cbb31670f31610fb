/// The exit codes of all commands by kind of failure. Those from 64 to 78 are numbers of BSD's sysexits.h, which the services use too; 130
/// is what shells report for a process that SIGINT ended.
enum ExitStatus: Int32, Sendable, CaseIterable {
  case success = 0
  /// The command was completed, and its result is negative: a signature is invalid, for example.
  case negative = 1
  case notFound = 3
  case notAllowedNow = 4
  case usage = 64
  case refusedInput = 65
  case noInput = 66
  case unavailable = 69
  case internalError = 70
  case cannotWrite = 73
  case tryLater = 75
  case noPermission = 77
  case configuration = 78
  case interrupted = 130

  /// The explanation in the generated reference.
  var explanation: String {
    switch self {
    case .success: "Completed; the result is positive."
    case .negative: "Completed; the result is negative: a signature is invalid, doctor found a problem, a receipt failed."
    case .notFound: "The named object does not exist, or has expired."
    case .notAllowedNow: "The named object's state does not allow the change, or it was changed at the same time."
    case .usage: "The command line is wrong."
    case .refusedInput: "The input is invalid, or a service refuses a value."
    case .noInput: "A file cannot be read."
    case .unavailable: "A service, or one of its dependencies, does not answer."
    case .internalError: "A service failed, or its answer cannot be read."
    case .cannotWrite: "A file cannot be written."
    case .tryLater: "A limit is reached; try again later."
    case .noPermission: "The token is missing, unknown, or not allowed to do this."
    case .configuration: "A profile, a token file or a configuration is invalid."
    case .interrupted: "Stopped by Ctrl-C or SIGTERM."
    }
  }
}
