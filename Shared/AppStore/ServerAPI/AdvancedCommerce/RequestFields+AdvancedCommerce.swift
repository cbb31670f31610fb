/// The fields that several requests of the Advanced Commerce API have in common.
extension RequestFields {
  // Apple's limits, characters.
  static let maxSKULength = 128
  static let maxDescriptionLength = 45
  static let maxDisplayNameLength = 30

  /// Checks the members of `requestInfo` (RequestInfo). All of them may be absent here; the caller requires those that it needs.
  func checkRequestInfo() throws(RequestRefusal) {
    _ = try uuid("requestReferenceId")
    _ = try uuid("appAccountToken")
    _ = try text("consistencyToken", maxLength: 1024)
    try allow(["requestReferenceId", "appAccountToken", "consistencyToken"])
  }

  /// Checks `effective`, the time at which a change begins.
  func checkEffective() throws(RequestRefusal) { _ = try requiredChoice("effective", ["IMMEDIATELY", "NEXT_BILL_CYCLE"]) }

  /// Checks that `taxCode` has the format of Apple's codes (Choosing tax codes for your SKUs), such as C003-00-1: a letter and three
  /// digits, two or more digits, one digit. Its value is not checked, because Apple uses more codes than its table lists.
  func checkTaxCode() throws(RequestRefusal) {
    guard let code = try text("taxCode", maxLength: 64) else { return }
    let parts = code.split(separator: "-", omittingEmptySubsequences: false).map { Array($0.utf8) }
    let isWellFormed =
      parts.count == 3 && parts[0].count == 4 && (65...90).contains(parts[0][0])
      && parts[0].dropFirst().allSatisfy { (48...57).contains($0) } && parts[1].count >= 2 && parts[2].count == 1
      && (parts[1] + parts[2]).allSatisfy { (48...57).contains($0) }
    guard isWellFormed else { throw refusal("taxCode", "must be one of Apple's tax codes, such as C003-00-1") }
  }

  /// A price in thousandths of the currency's unit. The currency limits its decimal places, if Apple's table has the currency
  /// (``CurrencyDecimals``).
  func requiredPrice(_ field: String, of currency: String?) throws(RequestRefusal) -> Int64 {
    let price = try requiredInteger(field, min: 0)
    if let currency, let step = CurrencyDecimals.step(of: currency), price % step != 0 {
      throw refusal(field, "has more decimal places than the App Store accepts for \(currency): it must be a multiple of \(step)")
    }
    return price
  }
}
