import WireJSON

extension JSONNumber {
  /// The value, also of a number with a fraction of zero or an exponent (`60.0`, `6E1`), as JSON libraries write that know only doubles; nil
  /// unless it is an integer that fits.
  var whole: Int64? {
    if let int64 { return int64 }
    let parts = text.split(separator: ".", maxSplits: 1)
    if parts.count == 2, parts[1].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) { return Int64(parts[0]) }
    // A double tells numbers with at most 15 digits apart from integers.
    return text.utf8.count <= 16 ? Int64(exactly: double) : nil
  }
}
