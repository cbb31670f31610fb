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
  private var holds = CommitColumn("holds")
  private var details = CommitColumn("details")
  private var detail = CommitColumn("detail")
  private var other = CommitColumn("other")

  func write(to pack: inout MessagePackWriter) {
    for column in [
      entry, id, record, late, line, lineId, ordered, delivered, event, type, network, app, bundle, environment, keepsOriginal, bucket,
      member, holds, details, detail, other,
    ] { column.write(to: &pack) }
  }

  /// - Parameter buckets: collects the buckets of natural keys.
  init(_ items: [CommitItem], _ buckets: inout CommitBuckets) {
    for (place, item) in items.enumerated() { put(item, &buckets, at: place) }
  }

  private mutating func put(_ item: CommitItem, _ buckets: inout CommitBuckets, at place: Int) {
    entry.put(item.entryID, at: place)
    id.put(item.deliveryID.description, at: place)
    record.put(Keys.deliveries(item.deliveryID.shard), item.deliveryID.digest, at: place)
    if item.isLate { late.putTrue(at: place) }
    if let value = item.line { line.put(value, at: place) }
    if let value = item.lineId { lineId.put(value, at: place) }
    if item.isOrdered { ordered.putTrue(at: place) }
    if let count = item.delivered { delivered.put(Int(count), at: place) }
    if let event = item.event { put(event, at: place) }
    if item.keepsOriginal { keepsOriginal.putTrue(at: place) }
    if let claim = item.claim {
      bucket.put(buckets.number(of: claim), at: place)
      member.put(String(claim.member), at: place)
    }
    if item.holds { holds.putTrue(at: place) }
    if let found = item.detail {
      details.put(found.claim.bucketName(.this), at: place)
      detail.put(String(found.member), at: place)
    }
    if let map = item.other { other.put(map, at: place) }
  }

  private mutating func put(_ record: EventRecord, at place: Int) {
    event.put(record.id, at: place)
    type.put(record.type, at: place)
    let attributes = record.attributes
    if let value = attributes.adNetworkId { network.put(value, at: place) }
    if let value = attributes.appAppleId { app.put(String(value), at: place) }
    if let value = attributes.bundleId { bundle.put(value, at: place) }
    if let value = attributes.environment { environment.put(value, at: place) }
  }
}
