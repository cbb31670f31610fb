/// What a limit that all instances share does while its Redis does not answer.
public enum StoreOutagePolicy: Sendable, Hashable, CaseIterable {
  /// Refuses: nothing is done that is not known to be within the limit.
  case refuses
  /// Goes by the limit as if this instance were the only one: together the instances may exceed it.
  case goesAlone
}
