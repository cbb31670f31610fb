import AppleAttribution

/// Computes the verdicts of the RPCs, for single calls and for `VerifyBatch`. Each kind of request has a `verify(_:)` in the file of its
/// handler.
struct Verdicts: Sendable {
  let postbacks: PostbackVerifier
  let signedData: RevocationCheckedVerifier
  let impressions: ImpressionKeys
}
