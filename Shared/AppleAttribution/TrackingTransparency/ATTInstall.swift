/// The state of an install, an app on a device, with regard to App Tracking Transparency: its last known status, and the wait for the
/// user's answer. ``receive(_:now:maxWait:)`` handles a session or event, ``learn(_:deviceTime:now:)`` a status that comes alone. Pure:
/// times, in milliseconds since 1970, are passed in. Ingest stores the state as ``text``.
public struct ATTInstall: Sendable, Hashable {
  /// The last known status; nil if none was reported.
  public private(set) var record: ATTStatusRecord?
  /// The wait for the user's answer.
  public private(set) var waiting: ATTStatusWait
  /// The number of items that were held so far.
  private(set) var heldItems: Int64
  /// A change that applies already, but may not be published yet.
  public var unpublishedChange: ATTStatusChange?

  public init(record: ATTStatusRecord? = nil, waiting: ATTStatusWait = ATTStatusWait(), heldItems: Int64 = 0) {
    self.record = record
    self.waiting = waiting
    self.heldItems = heldItems
  }

  /// The result of receiving an item or a status.
  public struct Reception: Sendable, Hashable {
    /// What to do with the item.
    public enum Decision: Sendable, Hashable {
      case send
      /// Hold the item until this deadline at the latest. `position` is its position among the held items of the install, from 1.
      case hold(until: Int64, position: Int64)
    }

    /// The effect on the stored status; nil if there was no status to store.
    public var effect: ATTStatusRecord.Effect?
    public var decision: Decision
    /// True if the items that were held before must be released now.
    public var releasesHeld: Bool
    /// The changes to publish, in order.
    public var changes: [ATTStatusChange]

    public init(effect: ATTStatusRecord.Effect?, decision: Decision, releasesHeld: Bool, changes: [ATTStatusChange] = []) {
      self.effect = effect
      self.decision = decision
      self.releasesHeld = releasesHeld
      self.changes = changes
    }
  }

  /// Receives a session or event.
  public mutating func receive(
    _ session: SessionSubmission, now: Int64, maxWait: Int64 = ATTStatusWait.maxMilliseconds
  ) -> Reception {
    guard session.attStatus.isKnown || isHolding else {
      return withdraw(session.attStatus, deviceTime: session.deviceTime, now: now, isUpdate: false)
    }
    let wasHolding = isHolding
    guard session.attStatus.isKnown else {
      // A status that is not one of Apple's four is no answer to the prompt. The item is held too, to keep the order. It is sent without
      // consent, whatever the answer is.
      return reception(waiting.receive(status: .notDetermined, intervalSeconds: nil, now: now), wasHolding: wasHolding)
    }
    var changes = takeUnpublished()
    let effect: ATTStatusRecord.Effect
    var status = session.attStatus
    if session.deviceTime == nil, let record, record.isReportedRefusal, record.status != session.attStatus {
      // The session may have been made before the refusal. Without its time, it cannot undo the refusal. If the app is asking again, the
      // session waits for the answer nevertheless.
      effect = .older
      if session.attStatus != .notDetermined || now < record.receivedAt { status = record.status }
    } else {
      effect = apply(session.attStatus, deviceTime: session.deviceTime, now: now, isUpdate: false, &changes)
      if let record { status = record.status }
      if case .changed(from: _, to: .notDetermined) = effect { waiting.allowAnother() }
    }
    let decision = waiting.receive(status: status, intervalSeconds: session.waitingInterval, now: now, maxWait: maxWait)
    return reception(decision, wasHolding: wasHolding, effect: effect, changes: changes)
  }

  /// The result for an item that is held or sent. An item that is sent ends the wait.
  private mutating func reception(
    _ decision: ATTStatusWait.Decision, wasHolding: Bool, effect: ATTStatusRecord.Effect? = nil, changes: [ATTStatusChange] = []
  ) -> Reception {
    guard case .hold(let deadline) = decision else {
      return Reception(effect: effect, decision: .send, releasesHeld: wasHolding, changes: changes)
    }
    heldItems += 1
    return Reception(effect: effect, decision: .hold(until: deadline, position: heldItems), releasesHeld: false, changes: changes)
  }

  /// Receives a status that comes without an item.
  public mutating func learn(_ status: ATTStatus, deviceTime: Int64?, now: Int64) -> Reception {
    guard status.isKnown else { return withdraw(status, deviceTime: deviceTime, now: now, isUpdate: true) }
    var changes = takeUnpublished()
    let effect = apply(status, deviceTime: deviceTime, now: now, isUpdate: true, &changes)
    return Reception(
      effect: effect, decision: .send, releasesHeld: waiting.learn(record?.status ?? status, now: now), changes: changes)
  }

  /// Decides about changes that cannot be published now. Returns true if the last one withdraws consent. This change applies at once, and
  /// is published with the next receipt, in place of an earlier unpublished change. Returns false for any other change; the caller must
  /// then not store the new state.
  public mutating func keepUnpublished(_ changes: [ATTStatusChange]) -> Bool {
    guard let last = changes.last, last.from.isConsent else { return false }
    unpublishedChange = last
    return true
  }

  /// True if items are being held.
  public var isHolding: Bool { if case .holding = waiting.phase { true } else { false } }

  /// Receives a status that is not one of Apple's four, that cannot be read, or that contradicts another one. Such a status is not consent,
  /// so it ends an earlier consent. Otherwise it says nothing about the install, and is no answer to the prompt. An item with such a status is
  /// sent at once, without consent, unless items are held.
  private mutating func withdraw(_ status: ATTStatus, deviceTime: Int64?, now: Int64, isUpdate: Bool) -> Reception {
    guard record?.status.isConsent == true else { return Reception(effect: nil, decision: .send, releasesHeld: false) }
    var changes = takeUnpublished()
    let effect = apply(status, deviceTime: deviceTime, now: now, isUpdate: isUpdate, &changes)
    return Reception(effect: effect, decision: .send, releasesHeld: false, changes: changes)
  }

  /// Applies a status to the record and adds the change, if there is one, to `changes`.
  private mutating func apply(
    _ status: ATTStatus, deviceTime: Int64?, now: Int64, isUpdate: Bool, _ changes: inout [ATTStatusChange]
  ) -> ATTStatusRecord.Effect {
    // A session that was received a moment later may have been worked first. An update without a time that is no consent counts as later.
    let isWithdrawal = isUpdate && deviceTime == nil && !status.isConsent
    let receivedAt = isWithdrawal ? max(now, record?.receivedAt ?? now) : now
    let (next, effect) = ATTStatusRecord.applying(
      ATTStatusRecord(status: status, deviceTime: deviceTime, receivedAt: receivedAt, isUpdate: isUpdate), to: record)
    record = next
    if case .changed(let from, let to) = effect {
      changes.append(ATTStatusChange(from: from, to: to, deviceTime: next.deviceTime, isUpdate: isUpdate))
    }
    return effect
  }

  /// Returns the change that could not be published before, and forgets it.
  private mutating func takeUnpublished() -> [ATTStatusChange] {
    defer { unpublishedChange = nil }
    return unpublishedChange.map { [$0] } ?? []
  }
}

extension ATTInstall {
  /// The stored format: `status,deviceTime,receivedAt,phase,heldItems,isUpdate,unpublishedChange,since`.
  public var text: String {
    let status = record.map { "\($0.status.code),\($0.deviceTime),\($0.receivedAt)" } ?? ",,"
    let phase =
      switch waiting.phase {
      case .notBegun: "-"
      case .holding(let deadline): String(deadline)
      case .over: "over"
      }
    let isUpdate = record?.isUpdate == true ? 1 : 0
    let since = record.map { String($0.since) } ?? ""
    return "\(status),\(phase),\(heldItems),\(isUpdate),\(unpublishedChange?.text ?? ""),\(since)"
  }

  /// Parses the stored format. A damaged text counts as a status without consent, until the app reports a status again.
  public init(stored text: String) {
    self = ATTInstall(text: text) ?? ATTInstall(record: ATTStatusRecord(status: .unavailable, deviceTime: 0, receivedAt: 0))
  }

  /// Parses the stored format; nil if it is damaged. `unpublishedChange` and `since` may be missing, and further values may follow, because
  /// other builds may have stored the text.
  public init?(text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 6, let heldItems = Int64(parts[4]) else { return nil }
    if parts[0].isEmpty {
      record = nil
    } else {
      guard let code = Int64(parts[0]), let deviceTime = Int64(parts[1]), let receivedAt = Int64(parts[2]) else {
        return nil
      }
      let since = parts.count > 7 ? Int64(parts[7]) : receivedAt
      guard let since else { return nil }
      record = ATTStatusRecord(
        status: ATTStatus(code: code), deviceTime: deviceTime, receivedAt: receivedAt, since: since, isUpdate: parts[5] == "1")
    }
    switch parts[3] {
    case "-": waiting = ATTStatusWait()
    case "over": waiting = ATTStatusWait(phase: .over)
    default:
      guard let deadline = Int64(parts[3]) else { return nil }
      waiting = ATTStatusWait(phase: .holding(until: deadline))
    }
    self.heldItems = heldItems
    if parts.count > 6, !parts[6].isEmpty {
      guard let change = ATTStatusChange(text: parts[6]) else { return nil }
      unpublishedChange = change
    }
  }
}
