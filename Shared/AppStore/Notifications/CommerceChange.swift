/// A change of a purchase that was requested with the Advanced Commerce API and is reported by a notification (App Store Server
/// Notifications: notificationType).
public enum CommerceChange: Sendable, Hashable {
  case metadata, migration, price

  /// Nil for notifications of other types.
  public init?(notificationType: String) {
    switch notificationType {
    case "METADATA_UPDATE": self = .metadata
    // Apple's libraries write MIGRATION, and its changelog MIGRATE.
    case "MIGRATION", "MIGRATE": self = .migration
    case "PRICE_CHANGE": self = .price
    default: return nil
    }
  }
}
