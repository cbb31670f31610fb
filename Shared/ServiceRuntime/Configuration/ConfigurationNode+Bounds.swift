/// Reads settings that have bounds into variables that contain the defaults. A missing setting leaves the default. A value out of bounds
/// throws an error that names the setting and the bounds. `Documentation/generate.py` reads key and bounds from these calls.
extension ConfigurationNode {
  func time(_ key: String, _ bounds: ClosedRange<Duration>, _ value: inout Duration) throws(ConfigurationError) {
    if let node = self[key] { value = try node.time(bounds) }
  }

  func time(_ key: String, _ bounds: PartialRangeFrom<Duration>, _ value: inout Duration) throws(ConfigurationError) {
    guard let node = self[key] else { return }
    let time = try node.duration()
    guard bounds.contains(time) else { throw ConfigurationError(node.path, "must be at least \(Self.text(bounds.lowerBound))") }
    value = time
  }

  func time(_ bounds: ClosedRange<Duration>) throws(ConfigurationError) -> Duration {
    let time = try duration()
    guard bounds.contains(time) else {
      throw ConfigurationError(path, "must be \(Self.text(bounds.lowerBound)) to \(Self.text(bounds.upperBound))")
    }
    return time
  }

  func count(_ key: String, _ bounds: ClosedRange<Int>, _ value: inout Int) throws(ConfigurationError) {
    guard let node = self[key] else { return }
    let number = try node.integer()
    guard let count = Int(exactly: number), bounds.contains(count) else {
      throw ConfigurationError(node.path, "must be \(bounds.lowerBound) to \(bounds.upperBound)")
    }
    value = count
  }

  func number(_ key: String, _ bounds: ClosedRange<Double>, _ value: inout Double) throws(ConfigurationError) {
    if let node = self[key] { value = try node.number(bounds) }
  }

  func number(_ bounds: ClosedRange<Double>) throws(ConfigurationError) -> Double {
    let number = try number()
    guard bounds.contains(number) else {
      throw ConfigurationError(path, "must be \(bounds.lowerBound) to \(bounds.upperBound)")
    }
    return number
  }

  private static func text(_ time: Duration) -> String {
    let milliseconds = Int64(time / .milliseconds(1))
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }
}
