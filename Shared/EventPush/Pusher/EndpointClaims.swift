/// The endpoints that an instance may own in the registry (``PusherRegistry``). The instance must release those that it no longer wants,
/// because no other instance can take them while this one is alive.
///
/// Each heartbeat requests and releases endpoints. Its reply may be lost after it has taken effect, so requested endpoints count as owned
/// until a reply says otherwise.
struct EndpointClaims: Sendable {
  private var names: Set<String> = []

  /// The endpoints to release: those that are neither wanted nor still running.
  func toRelease(wanted: Set<String>, running: Set<String>) -> [String] { names.subtracting(wanted).subtracting(running).sorted() }

  /// Records that a heartbeat requests endpoints.
  mutating func request(_ wanted: Set<String>) { names.formUnion(wanted) }

  /// Records the reply to a heartbeat: the instance owns these endpoints, and those that still run.
  mutating func confirm(_ own: Set<String>, running: Set<String>) { names = own.union(running) }

  /// All endpoints that the instance may own.
  var all: [String] { names.sorted() }
}
