import Synchronization

/// The scripted faults in their order. A request is affected by the first one that matches it and that its percentage selects.
public final class FaultScript: Sendable {
  private let faults = Mutex<[Fault]>([])

  func add(_ fault: Fault) { faults.withLock { $0.append(fault) } }

  func reset() { faults.withLock { $0 = [] } }

  var count: Int { faults.withLock(\.count) }

  /// The fault for a request; nil if none affects it.
  func next(names: [String], path: String) -> Fault? {
    faults.withLock { faults in
      for index in faults.indices where faults[index].matches(names: names, path: path) {
        let fault = faults[index]
        guard fault.random.fraction() * 100 < fault.percentage else { continue }
        if let remaining = fault.remaining {
          if remaining <= 1 { faults.remove(at: index) } else { faults[index].remaining = remaining - 1 }
        }
        return fault
      }
      return nil
    }
  }
}
