/// Runs two operations in turn, so that a change of the processor's speed affects both.
struct Rounds {
  let seconds: Double
  private static let count = 5

  /// Prints the medians of both operations. Each closure does its work once and returns how many operations that was.
  func compare(_ name: String, ours: () throws -> Int, library: () throws -> Int) throws {
    var times: (ours: [Double], library: [Double]) = ([], [])
    for _ in 0..<Self.count {
      times.ours.append(try nanoseconds(ours))
      times.library.append(try nanoseconds(library))
    }
    print("\(name)\t\(Self.median(times.ours))\t\(Self.median(times.library))")
  }

  private func nanoseconds(_ work: () throws -> Int) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    let end = start + .seconds(seconds / Double(2 * Self.count))
    var operations = 0
    repeat { operations += try work() } while clock.now < end
    return (clock.now - start) / .nanoseconds(1) / Double(operations)
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
