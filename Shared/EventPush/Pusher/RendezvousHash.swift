/// Assigns endpoints to instances by rendezvous hashing: all instances compute the same assignment, and if an instance joins or leaves,
/// only its own endpoints move.
enum RendezvousHash {
  /// The instance to which an endpoint belongs; nil if there are no instances.
  static func winner(of name: String, among pushers: [String]) -> String? {
    pushers.max { (weight($0, name), $0) < (weight($1, name), $1) }
  }

  /// FNV-1a over both names, and the final steps of splitmix64, because FNV-1a alone distributes similar names unevenly. Swift's `Hasher`
  /// cannot be used, because its results differ in each process.
  private static func weight(_ pusher: String, _ name: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in Array(pusher.utf8) + [0] + Array(name.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
    return hash ^ (hash >> 31)
  }
}
