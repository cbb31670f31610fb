import Cryptography

/// A share of the customers of an experiment: a range of its buckets. A customer's bucket depends only on the original transaction id and
/// the experiment's name, so it is the same for every request, on every instance, after every restart.
public struct ExperimentShare: Sendable, Hashable {
  /// The number of buckets. One bucket is a hundredth of a percent of the customers.
  public static let bucketCount = 10_000

  /// The experiment's name.
  public let experiment: String
  /// The buckets of the share.
  public let range: Range<Int>

  /// - Parameters:
  ///   - from: the start of the share in percent, with at most two decimal places.
  ///   - to: the end of the share in percent, exclusive, with at most two decimal places.
  public init(experiment: String, from: Double, to: Double) throws(RequestRefusal) {
    self.experiment = try RetentionFieldRules.text(experiment, "experiment.name")
    guard (0...100).contains(from), let low = Self.bucket(atPercent: from) else {
      throw RequestRefusal(field: "experiment.from", "must be 0 to 100, with at most two decimal places")
    }
    guard (0...100).contains(to), let high = Self.bucket(atPercent: to), high > low else {
      throw RequestRefusal(field: "experiment.to", "must be more than from and at most 100, with at most two decimal places")
    }
    range = low..<high
  }

  /// The first bucket from a percentage on; nil for more than two decimal places.
  private static func bucket(atPercent percent: Double) -> Int? {
    let hundredths = percent * 100
    let whole = hundredths.rounded()
    return abs(hundredths - whole) < 1e-6 ? Int(whole) : nil
  }

  /// The customer's bucket in an experiment, from 0 to 9,999.
  public static func bucket(of originalTransactionId: String, in experiment: String) -> Int {
    let digest = SHA256Digest.hash(Array("\(experiment)\u{0}\(originalTransactionId)".utf8))
    return Int(digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % UInt64(bucketCount))
  }

  /// True if the customer with this original transaction id is in the share.
  public func contains(_ originalTransactionId: String) -> Bool {
    range.contains(Self.bucket(of: originalTransactionId, in: experiment))
  }
}
