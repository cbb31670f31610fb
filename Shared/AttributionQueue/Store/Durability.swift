/// What a delivery survives once it is answered 200.
public enum Durability: String, Sendable, Hashable, CaseIterable {
  /// The death of any process. Redis appends to its file and brings it to the disk each second.
  case process
  /// The loss of power. Redis brings every batch to the disk before it answers.
  case disk
  /// The loss of a host. Beside that, replicas have it before it is answered.
  case replicated

  /// Redis' `appendfsync` that is enough.
  var fsyncPolicies: [String] { self == .process ? ["everysec", "always"] : ["always"] }
}
