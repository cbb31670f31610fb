/// The columns of a commit batch. commit.lua describes them; their names are those of its map.
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
  private var staysIfClaimed = CommitColumn("staysIfClaimed")
  private var details = CommitColumn("details")
  private var detail = CommitColumn("detail")
  private var other = CommitColumn("other")

  func write(to pack: inout MessagePackWriter) {
    for column in [
      entry, id, record, late, line, lineId, ordered, delivered, event, type, network, app, bundle, environment, keepsOriginal, bucket,
      member, staysIfClaimed, details, detail, other,
    ] { column.write(to: &pack) }
  }

  /// - Parameter buckets: collects the buckets of natural keys.
  init(_ items: [CommitItem], _ buckets: inout CommitBuckets) {
    for (index, item) in items.enumerated() { put(item, &buckets, at: index) }
  }

  private mutating func put(_ item: CommitItem, _ buckets: inout CommitBuckets, at index: Int) {
    entry.put(item.entryID, at: index)
    id.put(item.deliveryID.description, at: index)
    record.put(Keys.deliveries(item.deliveryID.shard), item.deliveryID.digest, at: index)
    if item.isLate { late.putTrue(at: index) }
    if let value = item.line { line.put(value, at: index) }
    if let value = item.lineId { lineId.put(value, at: index) }
    if item.isOrdered { ordered.putTrue(at: index) }
    if let count = item.delivered { delivered.put(Int(count), at: index) }
    if let event = item.event { put(event, at: index) }
    if item.keepsOriginal { keepsOriginal.putTrue(at: index) }
    if let claim = item.claim {
      bucket.put(buckets.number(of: claim), at: index)
      member.put(String(claim.member), at: index)
    }
    if item.staysIfClaimed { staysIfClaimed.putTrue(at: index) }
    if let itemDetail = item.detail {
      details.put(itemDetail.claim.bucketName(.current), at: index)
      detail.put(String(itemDetail.member), at: index)
    }
    if let map = item.other { other.put(map, at: index) }
  }

  private mutating func put(_ record: EventRecord, at index: Int) {
    event.put(record.id, at: index)
    type.put(record.type, at: index)
    let attributes = record.attributes
    if let value = attributes.adNetworkId { network.put(value, at: index) }
    if let value = attributes.appAppleId { app.put(String(value), at: index) }
    if let value = attributes.bundleId { bundle.put(value, at: index) }
    if let value = attributes.environment { environment.put(value, at: index) }
  }
}
