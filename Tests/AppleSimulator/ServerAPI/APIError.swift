import WireJSON

/// An error of the App Store Server API: Apple's code, whose first three digits are the HTTP status, and Apple's message.
struct APIError: Error, Sendable, Equatable {
  var code: Int64
  var message: String

  init(_ code: Int64, _ message: String) {
    self.code = code
    self.message = message
  }

  var response: SimulatedResponse {
    .json(["errorCode": .integer(code), "errorMessage": .string(message)], status: Int(code / 10_000))
  }

  static let badRequest = APIError(4_000_000, "Bad request.")
  static let invalidTransactionID = APIError(4_000_006, "Invalid transaction id.")
  static let transactionNotFound = APIError(4_040_010, "Transaction id not found.")
  static let originalTransactionNotFound = APIError(4_040_005, "Original transaction id not found.")
  static let invalidRevision = APIError(4_000_005, "Invalid request revision.")
}
