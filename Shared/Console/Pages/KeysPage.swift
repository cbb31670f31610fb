import AttributionProtocol
import Cryptography

/// The signing keys: ids, states and fingerprints of the public keys.
struct KeysPage {
  struct Row {
    let id: String
    let state: String
    let style: String
    let meaning: String
    let algorithm: String
    let fingerprint: String
  }

  /// The keys of one ad network or app for one use.
  struct Owner {
    let name: String
    let use: String
    /// True if one of the keys is active.
    let signs: Bool
    let rows: [Row]
  }

  private static let states = ["active", "pending", "retiring", "revoked"]

  let layout: Layout
  let notice: Notice?
  let figures: [Figure]
  let owners: [Owner]
  let isEmpty: Bool

  init(_ layout: Layout, _ reader: ConsoleReader) async {
    self.layout = layout
    let result = await reader.signer(SignerService.ListSigningKeys.self, ListSigningKeysRequest())
    notice = result.notice
    let keys = result.value?.keys ?? []
    owners = Self.owners(keys)
    isEmpty = keys.isEmpty && result.value != nil
    figures =
      keys.isEmpty
      ? []
      : Self.states.map { state in
        let count = keys.count { $0.state == state }
        return Figure(
          state.prefix(1).uppercased() + state.dropFirst(), DisplayFormat.count(Int64(count)), note: DisplayNames.keyState(state))
      }
  }

  /// The keys by owner and use, sorted.
  static func owners(_ keys: [SigningKeyInfo]) -> [Owner] {
    let byOwner = Dictionary(grouping: keys) { [$0.adNetworkId ?? $0.bundleId ?? "", $0.use] }
    return byOwner.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { owner, keys in
      Owner(
        name: owner[0], use: DisplayNames.keyUse(owner[1]), signs: keys.contains { $0.state == "active" },
        rows: keys.sorted { order($0) < order($1) }.map(row))
    }
  }

  private static func order(_ key: SigningKeyInfo) -> (Int, String) { (states.firstIndex(of: key.state) ?? states.count, key.keyId) }

  private static func row(_ key: SigningKeyInfo) -> Row {
    let style = ["active": "good", "pending": "run", "retiring": "warn", "revoked": "bad"][key.state] ?? "plain"
    // The first digits of the text that `openssl pkey -pubin -outform DER | sha256sum` prints for the public key.
    let fingerprint = (try? PublicKey(pem: key.publicKey)).map { Hex.encode(SHA256Digest.hash($0.subjectPublicKeyInfo)).prefix(16) } ?? "–"
    return Row(
      id: key.keyId, state: key.state, style: style, meaning: DisplayNames.keyState(key.state), algorithm: key.algorithm,
      fingerprint: String(fingerprint))
  }
}
