/// The endpoints that an instance may have in the registry, opened or not: what is not wanted any more has to be given back, or nobody else could
/// take it while this instance lives.
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
