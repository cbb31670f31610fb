/// The position at which a page of a list by time begins: after a number of entries with that time.
struct PageToken: Sendable, Hashable {
  /// Milliseconds since 1970.
  let moment: Int64
  let offset: Int

  init(moment: Int64, offset: Int) {
    self.moment = moment
    self.offset = offset
  }

  /// The position after an entry of that time.
  static func behind(_ moment: Int64, _ token: PageToken?) -> PageToken {
    PageToken(moment: moment, offset: token.map { $0.moment == moment ? $0.offset + 1 : 1 } ?? 1)
  }

  var text: String { "\(moment)-\(offset)" }

  /// Nil for an invalid token.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let moment = Int64(parts[0]), let offset = Int(parts[1]), moment >= 0, (0...1_000_000).contains(offset) else {
      return nil
    }
    self.init(moment: moment, offset: offset)
  }
}
