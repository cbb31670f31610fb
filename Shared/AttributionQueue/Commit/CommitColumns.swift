/// The columns of a commit batch, named as commit.lua reads them.
struct CommitColumns {
  private var entry = CommitColumn("entry")
  private var id = CommitColumn("id")
  private var record = CommitColumn("record")
  private var late = CommitColumn("late")
  private var line = CommitColumn("line")
  private var lineId = CommitColumn("lineId")
  private var ordered = CommitColumn("ordered")
  private var delivered = CommitColumn("delivered")
  private var event = CommitColumn("event")
  private var type = CommitColumn("type")
  private var network = CommitColumn("network")
  private var app = CommitColumn("app")
  private var bundle = CommitColumn("bundle")
  private var environment = CommitColumn("environment")
  private var keepsOriginal = CommitColumn("keepsOriginal")
  private var bucket = CommitColumn("bucket")
  private var member = CommitColumn("member")
  private var details = CommitColumn("details")
  private var detail = CommitColumn("detail")
  private var other = CommitColumn("other")

  func write(to pack: inout MessagePackWriter) {
    for column in [
      entry, id, record, late, line, lineId, ordered, delivered, event, type, network, app, bundle, environment, keepsOriginal, bucket,
      member, details, detail, other,
    ] { column.write(to: &pack) }
  }

  // MARK: A message, by its index in the batch

  mutating func begin(_ message: LeasedMessage, isOrdered: Bool, at place: Int) {
    begin(message.entryID, message.deliveryID, line: message.line, at: place)
    if !message.consumer.isEmpty { delivered.put(Int(message.deliveryCount), at: place) }
    if isOrdered { ordered.putTrue(at: place) }
  }

  /// - Parameter lineId: the id under which the message stands in its line, if it is another.
  mutating func begin(_ entryID: String, _ deliveryID: DeliveryID, line inLine: String?, lineId idInLine: [UInt8]? = nil, at place: Int) {
    entry.put(entryID, at: place)
    id.put(deliveryID.description, at: place)
    record.put(Keys.deliveries(deliveryID.shard), deliveryID.digest, at: place)
    if let inLine { line.put(inLine, at: place) }
    if let idInLine { lineId.put(idInLine, at: place) }
  }

  /// Sets the delivery count of an entry that cannot be read.
  mutating func put(delivered count: Int64, at place: Int) { delivered.put(Int(count), at: place) }

  /// Restarts the expiry of the message's record.
  mutating func isLate(at place: Int) { late.putTrue(at: place) }

  mutating func put(_ record: EventRecord, keepsOriginal keeps: Bool, at place: Int) {
    event.put(record.id, at: place)
    type.put(record.type, at: place)
    let attributes = record.attributes
    if let value = attributes.adNetworkId { network.put(value, at: place) }
    if let value = attributes.appAppleId { app.put(String(value), at: place) }
    if let value = attributes.bundleId { bundle.put(value, at: place) }
    if let value = attributes.environment { environment.put(value, at: place) }
    if keeps { keepsOriginal.putTrue(at: place) }
  }

  /// - Parameter number: the bucket's number in ``CommitBuckets``.
  mutating func put(_ claim: DeduplicationStore.Claim, bucket number: Int, at place: Int) {
    bucket.put(number, at: place)
    member.put(String(claim.member), at: place)
  }

  mutating func put(_ found: DeduplicationStore.Detail, at place: Int) {
    details.put(found.claim.buckets[DeduplicationStore.Generation.this.rawValue], at: place)
    detail.put(String(found.member), at: place)
  }

  mutating func put(other map: MessagePackWriter, at place: Int) { other.put(map, at: place) }
}
