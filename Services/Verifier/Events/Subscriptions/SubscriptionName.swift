import AttributionProtocol

/// The rule for the names of subscriptions.
enum SubscriptionName {
  /// Returns the name if it is valid.
  static func checked(_ name: String?, field: String) throws(RPCError) -> String {
    guard let name else { throw .invalidArgument(field: field, "is missing") }
    guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isAllowed) else {
      throw .invalidArgument(field: field, "must be 1 to 64 of A-Z a-z 0-9 . _ -")
    }
    return name
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}
