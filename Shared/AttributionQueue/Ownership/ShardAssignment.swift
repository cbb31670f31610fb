/// Assigns the shards of a queue to workers. Every worker computes the same assignment from the names of the live workers.
///
/// Each shard goes to the worker with the highest hash of name and shard (rendezvous hashing), so that a worker that joins or leaves moves
/// only its own share.
enum ShardAssignment {
  /// The worker to which the shard belongs; nil if there are no workers.
  static func owner(of shard: Shard, among workers: [String]) -> String? {
    workers.max { (weight($0, shard), $0) < (weight($1, shard), $1) }
  }

  static func shards(of worker: String, among workers: [String]) -> Set<Shard> {
    Set(Shard.all.filter { owner(of: $0, among: workers) == worker })
  }

  /// FNV-1a with 64 bits, followed by the mixing step of MurmurHash3, because names differ in few characters.
  private static func weight(_ worker: String, _ shard: Shard) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in worker.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ UInt64(shard.index)) &* 0x100_0000_01b3
    hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ (hash >> 33)
  }
}
