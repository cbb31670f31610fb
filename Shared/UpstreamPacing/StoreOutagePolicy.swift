/// The behaviour of a shared limit while Redis does not answer.
public enum StoreOutagePolicy: Sendable, Hashable, CaseIterable {
  /// Refuses everything, so that the limit is never exceeded.
  case refuses
  /// Applies the limit to this instance alone; together the instances may exceed it.
  case limitsLocally
}
