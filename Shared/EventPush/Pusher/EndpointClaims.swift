/// The endpoints that an instance may own in the registry. Endpoints that it no longer wants must be released, or no other instance could take them
/// while this one is alive.
struct EndpointClaims: Sendable {
  private var names: Set<String> = []

  /// What is to be given back: all that is neither wanted nor running any more.
  func given(wanted: Set<String>, running: Set<String>) -> [String] { names.subtracting(wanted).subtracting(running).sorted() }

  /// Endpoints are asked for. What comes of it may stay unknown.
  mutating func ask(for wanted: Set<String>) { names.formUnion(wanted) }

  /// What came of it: these are its own, what runs is its own still, and what was given back is not.
  mutating func take(_ own: Set<String>, running: Set<String>) { names = own.union(running) }

  /// All that there may be.
  var all: [String] { names.sorted() }
}
