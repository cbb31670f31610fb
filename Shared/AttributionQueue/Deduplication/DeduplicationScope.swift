/// The kinds of keys in the ``DeduplicationStore``. A key is stored for one to two generations; each case names their length.
enum DeduplicationScope: String, Sendable, CaseIterable {
  /// Natural keys of senders that stop retrying within days, and idempotency keys of deliveries without ``AcceptRequest/isKnownBriefly``:
  /// ``QueueConfiguration/deliveryGeneration``, by default ten days.
  case delivery = "d"
  /// Natural keys of notifications, which recovery can fetch again for half a year:
  /// ``QueueConfiguration/notificationGeneration``, by default 200 days.
  case notification = "n"
  /// Idempotency keys of deliveries with ``AcceptRequest/isKnownBriefly``, stored only to save work:
  /// ``QueueConfiguration/copyGeneration``, by default six hours.
  case copy = "c"
  /// Details of natural keys in ``delivery`` (``DeduplicationStore/Detail``): ``QueueConfiguration/deliveryGeneration``.
  case detail = "u"

  /// The index among all scopes.
  var index: Int {
    switch self {
    case .delivery: 0
    case .notification: 1
    case .copy: 2
    case .detail: 3
    }
  }
}
