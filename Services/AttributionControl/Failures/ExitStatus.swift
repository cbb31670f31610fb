/// The exit codes of all commands by kind of failure. Numbers from 64 on are those of BSD's sysexits, which the services use too.
enum ExitStatus: Int32, Sendable, CaseIterable {
  case success = 0
  /// The command ran to its end, and its answer is no.
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
    case .success: "Done; the answer is yes."
    case .negative: "Done; the answer is no: a signature is invalid, something is not well, a receipt failed."
    case .notFound: "What was named is not there, or no longer kept."
    case .notAllowedNow: "The state of what was named does not allow it, or another change came between."
    case .usage: "The command line is wrong."
    case .refusedInput: "The input is not what it should be, or a service refuses a value."
    case .noInput: "A file cannot be read."
    case .unavailable: "A service, or what it needs, does not answer."
    case .internalError: "A service failed, or its answer cannot be read."
    case .cannotWrite: "A file cannot be written."
    case .tryLater: "A limit is reached; later it will go."
    case .noPermission: "The token is missing, unknown, or may not do this."
    case .configuration: "A profile, a token's file or a configuration is wrong."
    case .interrupted: "Ended by Ctrl-C or SIGTERM."
    }
  }
}
