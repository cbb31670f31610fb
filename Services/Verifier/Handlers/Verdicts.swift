import AppleAttribution

/// Computes verdicts as messages of the contract, for single calls and batches. `verify(_:)` of each kind is beside its handler.
struct Verdicts: Sendable {
  let postbacks: PostbackVerifier
  let signedData: RevocationCheckedVerifier
  let impressions: ImpressionKeys
}
