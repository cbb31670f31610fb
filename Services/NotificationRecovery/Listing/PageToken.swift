/// Where a page of a list by time begins: after so many of those of that millisecond.
struct PageToken: Sendable, Hashable {
  /// Milliseconds since 1970.
  let moment: Int64
  let offset: Int

  init(moment: Int64, offset: Int) {
    self.moment = moment
    self.offset = offset
  }

  /// The place behind an entry of that moment.
  static func behind(_ moment: Int64, _ token: PageToken?) -> PageToken {
    PageToken(moment: moment, offset: token.map { $0.moment == moment ? $0.offset + 1 : 1 } ?? 1)
  }

  var text: String { "\(moment)-\(offset)" }

  /// Nil for anything that is no token of ours.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let moment = Int64(parts[0]), let offset = Int(parts[1]), moment >= 0, (0...1_000_000).contains(offset) else {
      return nil
    }
    self.init(moment: moment, offset: offset)
  }
}
