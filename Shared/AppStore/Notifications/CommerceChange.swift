/// A change of a purchase that a server requested with the Advanced Commerce API, and that a notification reports
/// (App Store Server Notifications, `notificationType`).
public enum CommerceChange: Sendable, Hashable {
  case metadata, migration, price

  /// Nil for notifications of other types.
  public init?(notificationType: String) {
    switch notificationType {
    case "METADATA_UPDATE": self = .metadata
    // Apple's changelog and its libraries spell it differently.
    case "MIGRATION", "MIGRATE": self = .migration
    case "PRICE_CHANGE": self = .price
    default: return nil
    }
  }
}
