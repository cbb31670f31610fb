/// The position at which a page of a list in the order of time begins: after the first `offset` entries with the time `moment`. The token
/// stays valid if entries with other times are added or removed.
struct PageToken: Sendable, Hashable {
  /// Milliseconds since 1970.
  let moment: Int64
  let offset: Int

  init(moment: Int64, offset: Int) {
    self.moment = moment
    self.offset = offset
  }

  /// The position after an entry with that time.
  ///
  /// - Parameter token: the position before the entry; nil at the beginning of the list.
  static func after(_ moment: Int64, previous token: PageToken?) -> PageToken {
    PageToken(moment: moment, offset: token.map { $0.moment == moment ? $0.offset + 1 : 1 } ?? 1)
  }

  /// The token as callers see it.
  var text: String { "\(moment)-\(offset)" }

  /// Parses a token; nil if it is invalid.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let moment = Int64(parts[0]), let offset = Int(parts[1]), moment >= 0, (0...1_000_000).contains(offset) else {
      return nil
    }
    self.init(moment: moment, offset: offset)
  }
}
