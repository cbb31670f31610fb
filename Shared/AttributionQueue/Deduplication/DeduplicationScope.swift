/// What the ``DeduplicationStore`` keeps apart: kinds of keys whose generations have different lengths.
enum DeduplicationScope: String, Sendable, CaseIterable {
  /// Natural keys of senders that give up within days, and deliveries by their bytes where nothing else keeps them from counting twice.
  case delivery = "d"
  /// Natural keys that recovery can bring back for half a year.
  case notification = "n"
  /// Deliveries by their bytes where that only spares work: ``AcceptRequest/isKnownBriefly``.
  case copy = "c"
  /// Digests of what came with natural keys of ``delivery``, of generations as long: ``DeduplicationStore/Detail``.
  case detail = "u"

  /// Its number among all.
  var place: Int {
    switch self {
    case .delivery: 0
    case .notification: 1
    case .copy: 2
    case .detail: 3
    }
  }
}
