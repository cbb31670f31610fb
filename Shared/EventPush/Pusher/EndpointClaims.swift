/// The endpoints that an instance may own in the registry. Endpoints that it no longer wants must be released, or no other instance could
/// take them while this one is alive.
struct EndpointClaims: Sendable {
  private var names: Set<String> = []

  /// The endpoints to release: those that are neither wanted nor still running.
  func given(wanted: Set<String>, running: Set<String>) -> [String] { names.subtracting(wanted).subtracting(running).sorted() }

  /// Records a request for endpoints, whose answer may be lost.
  mutating func ask(for wanted: Set<String>) { names.formUnion(wanted) }

  /// Records the answer: the instance owns these endpoints and those still running; the released ones are gone.
  mutating func take(_ own: Set<String>, running: Set<String>) { names = own.union(running) }

  /// All endpoints that the instance may own.
  var all: [String] { names.sorted() }
}
