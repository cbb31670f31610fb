/// The kinds of keys in the ``DeduplicationStore``. Their generations have different lengths.
enum DeduplicationScope: String, Sendable, CaseIterable {
  /// Natural keys of senders that stop retrying within days, and digests of deliveries that claim no natural key.
  case delivery = "d"
  /// Natural keys of notifications, which recovery can fetch again for half a year.
  case notification = "n"
  /// Digests of deliveries that are stored only to save work: ``AcceptRequest/isKnownBriefly``.
  case copy = "c"
  /// Details of natural keys in ``delivery``: ``DeduplicationStore/Detail``.
  case detail = "u"

  /// The index among all scopes.
  var place: Int {
    switch self {
    case .delivery: 0
    case .notification: 1
    case .copy: 2
    case .detail: 3
    }
  }
}
