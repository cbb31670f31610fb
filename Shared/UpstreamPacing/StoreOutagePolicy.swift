/// The behaviour of a shared limit while Redis does not reply.
public enum StoreOutagePolicy: Sendable, Hashable, CaseIterable {
  /// Grants nothing, so that the limit is never exceeded.
  case refuses
  /// Applies the limit to each instance alone, so that together the instances may exceed it.
  case limitsLocally
}
