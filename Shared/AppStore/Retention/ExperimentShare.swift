import Cryptography

/// A share of an experiment's customers. A customer's bucket depends only on the original transaction id and the experiment's name, so it
/// is the same for each request, on each instance, after each restart.
public struct ExperimentShare: Sendable, Hashable {
  /// The number of buckets: hundredths of a percent.
  public static let parts = 10_000

  public let experiment: String
  public let range: Range<Int>

  /// - Parameters:
  ///   - from: percent, with at most two decimal places.
  ///   - to: percent, exclusive.
  public init(experiment: String, from: Double, to: Double) throws(RequestRefusal) {
    self.experiment = try RetentionFieldRules.text(experiment, "experiment.name")
    guard (0...100).contains(from), let low = Self.part(from) else {
      throw RequestRefusal(field: "experiment.from", "must be 0 to 100, with at most two decimal places")
    }
    guard (0...100).contains(to), let high = Self.part(to), high > low else {
      throw RequestRefusal(field: "experiment.to", "must be more than from and at most 100, with at most two decimal places")
    }
    range = low..<high
  }

  private static func part(_ percent: Double) -> Int? {
    let hundredths = percent * 100
    let whole = hundredths.rounded()
    return abs(hundredths - whole) < 1e-6 ? Int(whole) : nil
  }

  /// The customer's bucket in an experiment, from 0 to 9,999.
  public static func bucket(of originalTransactionId: String, in experiment: String) -> Int {
    let digest = SHA256Digest.hash(Array("\(experiment)\u{0}\(originalTransactionId)".utf8))
    return Int(digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % UInt64(parts))
  }

  public func holds(_ originalTransactionId: String) -> Bool {
    range.contains(Self.bucket(of: originalTransactionId, in: experiment))
  }
}
