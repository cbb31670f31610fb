import AppleAttribution
import Testing
import WireJSON

@Suite("ATT install")
struct ATTInstallTests {
  func session(_ status: Int64?, wait: Int64? = nil, deviceTime: Int64? = nil) throws -> SessionSubmission {
    var payload: JSONObject = ["bundleId": "b", "installId": "i"]
    payload["attStatus"] = status.map { .integer($0) }
    payload["attConsentWaitingInterval"] = wait.map { .integer($0) }
    payload["deviceTime"] = deviceTime.map { .integer($0) }
    return try SessionSubmission(payload)
  }

  @Test("items are held in order until the answer, and a later item releases them too")
  func held() throws {
    var install = ATTInstall()
    let first = install.receive(try session(0, wait: 30), now: 1000)
    #expect(first == .init(effect: .first, decision: .hold(until: 31_000, position: 1), releasesHeld: false))
    #expect(install.receive(try session(0, wait: 30), now: 2000).decision == .hold(until: 31_000, position: 2))
    let answered = install.receive(try session(3, wait: 30), now: 3000)
    #expect(
      answered
        == .init(
          effect: .changed(from: .notDetermined, to: .authorized), decision: .send, releasesHeld: true,
          changes: [ATTStatusChange(from: .notDetermined, to: .authorized, deviceTime: 3000, isUpdate: false)]))
    #expect(!install.isHolding)
  }

  @Test(
    "a status that is not determined again after an answer begins a new wait, and what was held goes by the next answer",
    arguments: [1, 2, 3] as [Int64])
  func reinstalled(_ answer: Int64) throws {
    for isUpdate in [false, true] {
      var install = ATTInstall()
      if isUpdate {
        _ = install.learn(ATTStatus(code: answer), deviceTime: nil, now: 1000)
      } else {
        _ = install.receive(try session(answer, wait: 60), now: 1000)
      }
      #expect(install.receive(try session(0, wait: 60), now: 2000).decision == .hold(until: 62_000, position: 1))
      install = try #require(ATTInstall(text: install.text))
      #expect(install.isHolding && install.record?.status.isConsent == false)
      #expect(install.receive(try session(0, wait: 60), now: 3000).decision == .hold(until: 62_000, position: 2))
      let given = install.learn(.authorized, deviceTime: nil, now: 4000)
      #expect(given.releasesHeld && !install.isHolding)
      #expect(ConsentDecision.status(atReceipt: .notDetermined, heldUntil: 62_000, current: install.record) == .authorized)
      // Without an answer, the wait runs out, and is not begun again.
      _ = install.receive(try session(0, wait: 60), now: 5000)
      #expect(
        install.receive(try session(0, wait: 60), now: 65_000)
          == .init(effect: ATTStatusRecord.Effect.none, decision: .send, releasesHeld: true))
      #expect(ConsentDecision.status(atReceipt: .notDetermined, heldUntil: 65_000, current: install.record) == .notDetermined)
      #expect(install.receive(try session(0, wait: 60), now: 66_000).decision == .send)
    }
  }

  @Test("a session that waits after a reported refusal does not undo it, and a repeated one does not wait")
  func reinstalledAfterRefusal() throws {
    var install = ATTInstall()
    _ = install.learn(.denied, deviceTime: nil, now: 1000)
    // A repeat counts at the time of its first receipt.
    #expect(install.receive(try session(0, wait: 60), now: 500).decision == .send)
    #expect(install.receive(try session(0, wait: 60), now: 2000).decision == .hold(until: 62_000, position: 1))
    #expect(install.record?.status == .denied)
    #expect(ConsentDecision.status(atReceipt: .notDetermined, heldUntil: 62_000, current: install.record) == .denied)
    // A session that was made before the refusal.
    #expect(install.receive(try session(3), now: 3000) == .init(effect: .older, decision: .send, releasesHeld: true))
    #expect(install.record?.status == .denied)
    #expect(install.receive(try session(0, wait: 60), now: 4000).decision == .hold(until: 64_000, position: 2))
    #expect(install.receive(try session(0, wait: 60), now: 64_000).decision == .send)
    #expect(install.receive(try session(0, wait: 60), now: 65_000).decision == .send)
  }

  @Test("an install whose wait an older build has ended may wait again after its answer")
  func waitOfOlderBuild() throws {
    var install = try #require(ATTInstall(text: "3,1000,1000,over,4,0,,1000"))
    #expect(install.receive(try session(0, wait: 60), now: 2000).decision == .hold(until: 62_000, position: 5))
  }

  @Test("an invalid status is no answer, and is not stored without a consent that it ends")
  func unknown() throws {
    var install = ATTInstall()
    _ = install.receive(try session(0, wait: 30), now: 1000)
    // It waits with the others for the order, and does not extend the wait.
    for (place, status) in zip(Int64(2)..., [nil, -1, 7] as [Int64?]) {
      #expect(
        install.receive(try session(status, wait: 60), now: 2000)
          == .init(effect: nil, decision: .hold(until: 31_000, position: place), releasesHeld: false))
    }
    #expect(install.learn(.unknown(9), deviceTime: nil, now: 2000).releasesHeld == false)
    #expect(install.isHolding && install.record?.status == .notDetermined)
    #expect(ConsentDecision.status(atReceipt: .unavailable, heldUntil: 31_000, current: install.record) == .unavailable)
    // After the deadline it ends the wait like any other item.
    #expect(
      install.receive(try session(nil, wait: 60), now: 31_000) == .init(effect: nil, decision: .send, releasesHeld: true))
    #expect(install.receive(try session(-1, wait: 60), now: 31_001) == .init(effect: nil, decision: .send, releasesHeld: false))
  }

  @Test("a status that is unknown or missing ends an earlier consent, and the next answer counts", arguments: [nil, -1, 7] as [Int64?])
  func withdrawnByUnknown(_ code: Int64?) throws {
    let status = code.map { ATTStatus(code: $0) } ?? .unavailable
    for isUpdate in [false, true] {
      var install = ATTInstall()
      _ = install.receive(try session(3), now: 1000)
      let ended =
        isUpdate ? install.learn(status, deviceTime: nil, now: 2000) : install.receive(try session(code, wait: 30), now: 2000)
      let change = ATTStatusChange(from: .authorized, to: status, deviceTime: 2000, isUpdate: isUpdate)
      #expect(
        ended == .init(effect: .changed(from: .authorized, to: status), decision: .send, releasesHeld: false, changes: [change]))
      #expect(install.record?.status == status && !install.isHolding)
      #expect(ATTInstall(text: install.text) == install)
      #expect(ConsentDecision.status(atReceipt: .authorized, heldUntil: nil, current: install.record) == status)
      // It is no consent already.
      #expect(install.learn(.unknown(9), deviceTime: nil, now: 2500).effect == nil)
      #expect(install.learn(.authorized, deviceTime: nil, now: 3000).effect == .changed(from: status, to: .authorized))
      // An older report is not applied.
      _ = install.learn(.authorized, deviceTime: 3500, now: 4000)
      #expect(install.learn(status, deviceTime: 2900, now: 5000).effect == .older)
      #expect(install.record?.status == .authorized)
    }
  }

  @Test("an update releases items once, and an older update changes nothing")
  func update() throws {
    var install = ATTInstall()
    _ = install.receive(try session(0, wait: 30, deviceTime: 900), now: 1000)
    #expect(
      install.learn(.denied, deviceTime: 500, now: 1500) == .init(effect: .older, decision: .send, releasesHeld: false))
    #expect(install.learn(.denied, deviceTime: 1400, now: 1500).releasesHeld)
    #expect(
      install.learn(.authorized, deviceTime: nil, now: 1600)
        == .init(
          effect: .changed(from: .denied, to: .authorized), decision: .send, releasesHeld: false,
          changes: [ATTStatusChange(from: .denied, to: .authorized, deviceTime: 1600, isUpdate: true)]))
  }

  @Test("a withdrawn consent is stored although no event can be published; the event follows once with the next delivery")
  func unpublished() throws {
    var install = ATTInstall()
    _ = install.receive(try session(3), now: 1000)
    let withdrawn = ATTStatusChange(from: .authorized, to: .denied, deviceTime: 1500, isUpdate: true)
    let first = install.learn(.denied, deviceTime: 1500, now: 2000)
    #expect(first.changes == [withdrawn])
    let isLeft = install.keepUnpublished(first.changes)
    #expect(isLeft)
    #expect(install.record?.status == .denied && install.unpublishedChange == withdrawn)
    #expect(ATTInstall(text: install.text) == install)
    // An unknown status changes nothing.
    #expect(install.receive(try session(7), now: 2500).changes == [])
    let repeated = install.learn(.denied, deviceTime: 1500, now: 3000)
    #expect(repeated.effect == ATTStatusRecord.Effect.none && repeated.changes == [withdrawn])
    #expect(install.unpublishedChange == nil)
    #expect(install.learn(.denied, deviceTime: 1500, now: 3100).changes == [])
  }

  @Test("a pending event comes before the next change, and only that of a withdrawn consent may be pending")
  func unpublishedOrder() throws {
    var install = ATTInstall()
    _ = install.learn(.authorized, deviceTime: nil, now: 1000)
    let withdrawn = install.receive(try session(2), now: 2000)
    let isLeft = install.keepUnpublished(withdrawn.changes)
    #expect(isLeft)
    let given = install.learn(.authorized, deviceTime: nil, now: 3000)
    #expect(given.changes.map(\.to) == [.denied, .authorized])
    #expect(given.changes.map(\.isUpdate) == [false, true])
    let others = [install.keepUnpublished(given.changes), install.keepUnpublished([])]
    #expect(others == [false, false])
  }

  @Test("a reported refusal is not revoked by a session without its own time")
  func staleSession() throws {
    var install = ATTInstall()
    _ = install.receive(try session(3), now: 1000)
    _ = install.learn(.denied, deviceTime: nil, now: 2000)
    for status in [3, 0] as [Int64] {
      #expect(install.receive(try session(status), now: 3000).effect == .older)
      #expect(install.record?.status == .denied)
    }
    #expect(install.receive(try session(2), now: 3100).effect == ATTStatusRecord.Effect.none)
    #expect(install.receive(try session(3), now: 3200).effect == .older)
    let later: Int64 = 1_790_000_000_000
    #expect(
      install.receive(try session(3, deviceTime: later), now: later + 100).effect == .changed(from: .denied, to: .authorized))
    _ = install.learn(.denied, deviceTime: nil, now: later + 1000)
    #expect(install.learn(.authorized, deviceTime: nil, now: later + 2000).effect == .changed(from: .denied, to: .authorized))
  }

  @Test("an update that ended a consent is not undone by a session without its own time", arguments: [-1, 7, 1, 2] as [Int64])
  func staleSessionAfterUnreadable(_ code: Int64) throws {
    var install = ATTInstall()
    _ = install.receive(try session(3), now: 1000)
    _ = install.learn(ATTStatus(code: code), deviceTime: nil, now: 2000)
    #expect(install.receive(try session(3), now: 3000).effect == .older)
    #expect(install.record?.status.code == code)
    #expect(install.learn(.authorized, deviceTime: nil, now: 4000).effect == .changed(from: ATTStatus(code: code), to: .authorized))
  }

  @Test(
    "an update without a time that ends a consent applies after a session that was received a moment later",
    arguments: [-1, 7, 0, 2] as [Int64])
  func overtakenUpdate(_ code: Int64) throws {
    var install = ATTInstall()
    _ = install.receive(try session(3), now: 2000)
    let status = ATTStatus(code: code)
    #expect(install.learn(status, deviceTime: nil, now: 1999).effect == .changed(from: .authorized, to: status))
    #expect(install.record?.receivedAt == 2000)
    // A consent is not newer for that.
    #expect(install.learn(.authorized, deviceTime: nil, now: 1999).effect == .older)
  }

  @Test("repeating a consent keeps its time, unless it was withdrawn in between")
  func repeatedAnswer() throws {
    var install = ATTInstall()
    guard case .hold(let deadline, _) = install.receive(try session(0, wait: 2), now: 0).decision else {
      Issue.record("not held")
      return
    }
    func decided() -> ATTStatus {
      ConsentDecision.status(atReceipt: .notDetermined, heldUntil: deadline, current: install.record)
    }
    _ = install.learn(.authorized, deviceTime: nil, now: 1000)
    _ = install.receive(try session(3), now: 3000)
    _ = install.learn(.authorized, deviceTime: nil, now: 4000)
    install = try #require(ATTInstall(text: install.text))
    #expect(install.record?.receivedAt == 4000)
    #expect(decided() == .authorized)
    _ = install.learn(.denied, deviceTime: nil, now: 5000)
    #expect(decided() == .denied)
    _ = install.learn(.authorized, deviceTime: nil, now: 6000)
    #expect(decided() == .notDetermined)
  }

  @Test("without updates, the status is that of the latest session")
  func sessionsOnly() throws {
    var install = ATTInstall()
    for (index, status) in ([2, 3, 0, 3, 1] as [Int64]).enumerated() {
      _ = install.receive(try session(status), now: Int64(index))
      #expect(install.record?.status.code == status)
    }
  }

  @Test("the stored text can be read back, and damaged text is invalid")
  func text() throws {
    var install = ATTInstall()
    #expect(ATTInstall(text: install.text) == install)
    _ = install.receive(try session(0, wait: 30), now: 1000)
    #expect(ATTInstall(text: install.text) == install)
    _ = install.learn(.denied, deviceTime: nil, now: 1500)
    #expect(ATTInstall(text: install.text) == install)
    for damaged in [
      "", "3", "3,1,1,-,0", "3,1,1,x,0,0", "x,1,1,-,0,0", "3,1,1,-,,0", "3,,1,-,0,0", "3,1,1,-,0,0,x", "3,1,1,-,0,0,3:2:1", "3,1,1,-,0,0,,",
      "3,1,1,-,0,0,,x",
    ] {
      #expect(ATTInstall(text: damaged) == nil)
    }
    // Of damaged text nothing is known, and a later status counts.
    var damaged = ATTInstall(stored: "2;1;1")
    #expect(damaged.record?.status == .unavailable)
    #expect(damaged.receive(try session(3), now: 5).effect == .changed(from: .unavailable, to: .authorized))
    // A newer build may write more.
    #expect(ATTInstall(text: "2,1,5,-,0,0,,4,more,9")?.record == ATTInstall(text: "2,1,5,-,0,0,,4")?.record)
    #expect(ATTInstall(stored: "2,1,5,-,0,0,,4,more").record?.status == .denied)
    #expect(ATTInstall(text: "3,1,1,-,0,0")?.record?.status == .authorized)
    #expect(ATTInstall(text: "3,1,5,-,0,0")?.record?.since == 5)
    #expect(ATTInstall(text: "3,1,5,-,0,0,,4")?.record?.since == 4)
  }
}
