/// The state of a delivery.
public enum DeliveryState: String, Sendable, Hashable {
  case accepted, verified, rejected, dead, done
}
