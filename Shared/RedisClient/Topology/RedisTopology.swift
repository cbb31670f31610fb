import Logging
import NIOConcurrencyHelpers

/// The known topology of a cluster, or the primary that Sentinels name. The clients that were derived from one client share it. It is
/// discovered again periodically, and when a command shows that it has changed. ``TopologyElection`` decides when nodes disagree.
final class RedisTopology: Sendable {
  private struct State {
    var map: SlotMap?
    /// Corrections by `MOVED`, which are newer than the map.
    var moved: [HashSlot: NodeAddress] = [:]
    /// The discovery that is running.
    var discoveryTask: Task<Void, Never>?
    /// The error of the last discovery; nil if it succeeded.
    var lastError: RedisError?
    /// The earliest time of the next discovery.
    var earliestDiscoveryTime = ContinuousClock.now
    /// The time of the next periodic discovery.
    var periodicDiscoveryTime = ContinuousClock.now
  }

  /// The least time between two discoveries, because many commands notice the same change.
  private static let interval: Duration = .milliseconds(100)
  /// The time after which the topology is discovered again in any case, because a primary that is cut off from the others may go on
  /// replying to commands.
  private static let period: Duration = .seconds(10)

  private let discovery: any TopologyDiscovery
  private let seeds: [NodeAddress]
  private let pools: NodePools
  private let logger: Logger
  private let onChange: NIOLockedValueBox<[@Sendable ([NodeAddress]) -> Void]>
  private let state = NIOLockedValueBox(State())

  /// - Parameters:
  ///   - seeds: the addresses in the URL.
  ///   - pools: connections to the nodes that are queried.
  init(_ discovery: any TopologyDiscovery, seeds: [NodeAddress], pools: NodePools, logger: Logger) {
    self.discovery = discovery
    self.seeds = seeds
    self.pools = pools
    self.logger = logger
    onChange = NIOLockedValueBox([])
  }

  /// Registers a callback that is called with all nodes after a change, so that connections to removed nodes can be closed.
  func whenChanged(_ callback: @escaping @Sendable ([NodeAddress]) -> Void) { onChange.withLockedValue { $0.append(callback) } }

  /// The node that serves a slot, or any primary if there is no key; nil if no node serves it. Discovers the topology if it is unknown.
  func node(for slot: HashSlot?) async throws(RedisError) -> NodeAddress? {
    let now = ContinuousClock.now
    let (isKnown, node, isDue) = state.withLockedValue { state in
      (state.map != nil, Self.node(slot, state), now >= state.periodicDiscoveryTime)
    }
    if isKnown {
      if isDue { startDiscovery(now) }
      return node
    }
    await discover()
    let (found, lastError) = state.withLockedValue { state in
      (state.map.map { _ in Self.node(slot, state) }, state.lastError)
    }
    guard let found else { throw lastError ?? .unavailable("the topology is not known") }
    return found
  }

  private static func node(_ slot: HashSlot?, _ state: State) -> NodeAddress? {
    guard let slot else { return state.map?.primaries.randomElement() }
    return state.moved[slot] ?? state.map?[slot]
  }

  /// The known primaries. Discovers the topology if it is unknown.
  func primaries() async throws(RedisError) -> [NodeAddress] {
    _ = try await node(for: nil)
    return state.withLockedValue { $0.map?.primaries ?? [] }
  }

  /// Records a `MOVED` redirection, which applies at once, and starts a discovery.
  func moved(_ slot: HashSlot, to node: NodeAddress) {
    state.withLockedValue { $0.moved[slot] = node }
    startDiscovery(.now)
  }

  /// Discovers the topology and waits for the result. Returns at once if the last discovery began less than ``interval`` ago.
  func discover() async { await startDiscovery(.now)?.value }

  /// Starts a discovery without waiting for the result.
  func refresh() { startDiscovery(.now) }

  /// Starts a discovery, unless one is running or the last one was too recent. Returns the running discovery.
  @discardableResult
  private func startDiscovery(_ now: ContinuousClock.Instant) -> Task<Void, Never>? {
    state.withLockedValue { state in
      if let task = state.discoveryTask { return task }
      guard now >= state.earliestDiscoveryTime else { return nil }
      state.earliestDiscoveryTime = now + Self.interval
      state.periodicDiscoveryTime = now + Self.period
      let task = Task { await self.updateMap() }
      state.discoveryTask = task
      return task
    }
  }

  /// Queries the nodes, and replaces the map by the one on which they agree.
  private func updateMap() async {
    let known = state.withLockedValue { $0.map }
    let movedBefore = state.withLockedValue { $0.moved }
    var outcome = await holdElection(discovery.voters(known), current: known)
    // All nodes may have new addresses. The addresses in the URL lead to them.
    if !outcome.isElected, known != nil {
      let again = await holdElection(seeds, current: known)
      if again.isElected || !outcome.isAnswered { outcome = again }
    }
    let change: SlotMap? = state.withLockedValue { state in
      state.discoveryTask = nil
      state.lastError = outcome.map == nil ? outcome.error : nil
      guard let map = outcome.map, outcome.isElected || state.map == nil else { return nil }
      // A `MOVED` that arrived during the discovery is newer than the map.
      state.moved = state.moved.filter { slot, node in movedBefore[slot] != node && map[slot] != node }
      defer { state.map = map }
      return map == state.map ? nil : map
    }
    guard let change else { return }
    pools.keep(discovery.voters(change) + seeds + change.nodes)
    // Only a change of the primaries is logged at the level info, because each slot that moves changes the map.
    let hasOtherPrimaries = Set(change.primaries) != Set(known?.primaries ?? [])
    logger.log(
      level: hasOtherPrimaries ? .info : .debug, hasOtherPrimaries ? "found the primaries of Redis" : "found moved slots of Redis",
      metadata: ["primaries": "\(change.primaries.map(\.description).joined(separator: ", "))"])
    let nodes = change.nodes
    for callback in onChange.withLockedValue({ $0 }) { callback(nodes) }
  }

  /// Queries all voters concurrently. `isAnswered` is true if one of them returned a map, `isElected` if a majority agrees on `map`.
  private func holdElection(_ voters: [NodeAddress], current: SlotMap?) async
    -> (map: SlotMap?, isAnswered: Bool, isElected: Bool, error: RedisError?)
  {
    await withTaskGroup(of: Result<SlotMap?, RedisError>.self) { group in
      for voter in voters {
        group.addTask {
          do throws(RedisError) {
            let reply = try await self.pools[voter].send(EncodedArguments(self.discovery.command), name: "TOPOLOGY")
            if let text = reply.error { throw .refused(text) }
            return .success(self.discovery.read(reply, from: voter))
          } catch {
            return .failure(error)
          }
        }
      }
      var election = TopologyElection(voters: voters.count)
      var isAnswered = false
      var firstError: RedisError?
      for await vote in group {
        switch vote {
        case .success(let map):
          election.vote(map)
          if map != nil {
            isAnswered = true
          } else {
            firstError = firstError ?? .unavailable("\(discovery.command[0].text ?? "") knows no primary")
          }
        case .failure(let error):
          election.vote(nil)
          firstError = firstError ?? error
        }
      }
      return (election.result(current: current), isAnswered, election.elected != nil, firstError)
    }
  }
}
