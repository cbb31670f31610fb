import TestSupport
import Testing

@testable import AppStore

/// A notification history with the dates at which its notifications were signed. It reads several slices at a time, as the runner does.
private struct SimulatedHistory {
  let dates: [Int64]

  init(dates: [Int64]) { self.dates = dates.sorted() }

  /// The index of the first notification at or after a time.
  private func place(_ moment: Int64) -> Int {
    var low = 0
    var high = dates.count
    while low < high {
      let middle = (low + high) / 2
      if dates[middle] < moment { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Reads everything. Returns the number of pages, and how many rounds of concurrent pages were needed.
  func read(_ slices: inout HistorySlices, readers: Int) throws -> (pages: Int, rounds: Int, read: [Int64: Int]) {
    var pages = 0
    var rounds = 0
    var read: [Int64: Int] = [:]
    while !slices.isFinished {
      while slices.openNext(readers: readers) != nil {}
      try #require(!slices.open.isEmpty, "nothing is read and nothing is over")
      #expect(slices.open.count <= readers)
      rounds += 1
      for slice in slices.open {
        let inside = dates[place(slice.window.start)..<place(slice.window.end)]
        let offset = Int(slice.pager.paginationToken ?? "0") ?? 0
        let page = inside.dropFirst(offset).prefix(20)
        pages += 1
        for date in page { read[date, default: 0] += 1 }
        let hasMore = offset + page.count < inside.count
        _ = slices.received(
          slice.number, items: page.count, hasMore: hasMore, paginationToken: hasMore ? String(offset + page.count) : nil)
      }
    }
    return (pages, rounds, read)
  }
}

@Suite("Slices of a recovery's window")
struct HistorySlicesTests {
  static let start: Int64 = 1_790_000_000_000
  static let day: Int64 = 86_400_000

  private func window(_ length: Int64 = day) throws -> TimeWindow { try TimeWindow(start: Self.start, end: Self.start + length) }

  @Test("every entry is read for any distribution", arguments: 0..<40)
  func complete(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let length = Int64.random(in: 1000...(3 * Self.day), using: &random)
    let count = [0, 1, 20, 21, 60, 61, 500, 3000].randomElement(using: &random)!
    // Evenly distributed, or most of them within a short time.
    let crowded = Bool.random(using: &random)
    let dates = (0..<count).map { _ in
      Self.start
        + (crowded && Int.random(in: 0..<10, using: &random) > 0
          ? Int64.random(in: 0..<max(1, length / 50), using: &random) : Int64.random(in: 0..<length, using: &random))
    }
    var slices = HistorySlices(window: try window(length))
    let result = try SimulatedHistory(dates: dates).read(&slices, readers: Int.random(in: 1...16, using: &random))
    #expect(Set(result.read.keys) == Set(dates))
    #expect(slices.progress == 1)
  }

  @Test("a large window costs at most 1.1 times the fewest pages", arguments: [4000, 20_000, 100_000])
  func economical(count: Int) throws {
    // A day with busy and quiet hours.
    let dates = (0..<count).map { place in
      let share = Double(place) / Double(count)
      return Self.start + Int64((share + 0.12 * sin(share)) * Double(Self.day - 1))
    }
    var slices = HistorySlices(window: try window())
    let result = try SimulatedHistory(dates: dates).read(&slices, readers: 16)
    let fewest = (count + 19) / 20
    #expect(Double(result.pages) <= 1.1 * Double(fewest), "\(result.pages) pages, \(fewest) would do")
    #expect(result.rounds * 4 <= fewest, "\(result.rounds) one after the other")
  }

  @Test("a busy time after a quiet one is read concurrently", arguments: [0.007, 0.05, 0.4, 0.8])
  func busyAfterQuiet(share: Double) throws {
    let count = 100_000
    let quiet = Int64(share * Double(Self.day))
    let dates = (0..<count).map { Self.start + quiet + Int64($0) * (Self.day - quiet - 1) / Int64(count) }
    var slices = HistorySlices(window: try window())
    let result = try SimulatedHistory(dates: dates).read(&slices, readers: 16)
    #expect(Double(result.pages) <= 1.1 * 5000, "\(result.pages) pages, 5000 would do")
    #expect(result.rounds * 4 <= 5000, "\(result.rounds) one after the other")
  }

  private func sin(_ share: Double) -> Double {
    // A wave with one period a day, without Foundation: a parabola for each half.
    let x = share < 0.5 ? share * 2 : (share - 0.5) * 2
    return (share < 0.5 ? 1 : -1) * 4 * x * (1 - x) / 2
  }

  @Test("a history of up to three pages is read without dividing it")
  func small() throws {
    for (count, pages) in [(0, 1), (20, 1), (21, 2), (60, 3)] {
      var slices = HistorySlices(window: try window())
      let dates = (0..<count).map { Self.start + Int64($0) * 1000 }
      let result = try SimulatedHistory(dates: dates).read(&slices, readers: 16)
      #expect(result.pages == pages && !slices.isDivided, "\(count)")
    }
  }

  @Test("the notifications of one transaction are not divided")
  func undivided() throws {
    var slices = HistorySlices(window: try window(), mayDivide: false)
    let dates = (0..<200).map { Self.start + Int64($0) * 1000 }
    #expect(try SimulatedHistory(dates: dates).read(&slices, readers: 16).pages == 10)
    #expect(!slices.isDivided)
  }

  @Test("slices have no gaps and do not overlap")
  func seamless() throws {
    var slices = HistorySlices(window: try window())
    var windows: [TimeWindow] = []
    while !slices.isFinished {
      while let slice = slices.openNext(readers: 8) { windows.append(slice.window) }
      for slice in slices.open {
        let hasMore = !slices.isDivided || slice.pages < 12
        _ = slices.received(slice.number, items: 20, hasMore: hasMore, paginationToken: hasMore ? "t\(slice.number).\(slice.pages)" : nil)
      }
    }
    windows.removeFirst()  // the whole window
    #expect(windows.first?.start == Self.start && windows.last?.end == Self.start + Self.day)
    for (left, right) in zip(windows, windows.dropFirst()) { #expect(left.end == right.start) }
  }

  @Test("reading continues from the stored state")
  func restored() throws {
    let dates = (0..<5000).map { Self.start + Int64($0) * 17_000 }
    var slices = HistorySlices(window: try window())
    var pages = 0
    var read: Set<Int64> = []
    while !slices.isFinished {
      // After every page the process dies and another one continues.
      slices = HistorySlices(
        window: slices.window, mayDivide: slices.mayDivide, cursor: slices.cursor, isDivided: slices.isDivided, open: slices.open,
        measures: slices.measures, longest: slices.longest)
      while slices.openNext(readers: 4) != nil {}
      let slice = try #require(slices.open.randomElement())
      let inside = dates.filter { $0 >= slice.window.start && $0 < slice.window.end }
      let offset = Int(slice.pager.paginationToken ?? "0") ?? 0
      read.formUnion(inside.dropFirst(offset).prefix(20))
      pages += 1
      let hasMore = offset + 20 < inside.count
      _ = slices.received(
        slice.number, items: min(20, inside.count - offset), hasMore: hasMore, paginationToken: hasMore ? "\(offset + 20)" : nil)
    }
    #expect(read == Set(dates))
    #expect(Double(pages) <= 1.2 * 250)
  }

  @Test("a slice with an invalid token starts again, and a slice that begins before the retention is shortened")
  func refused() throws {
    var slices = HistorySlices(window: try window())
    let opened = slices.openNext(readers: 4)
    let slice = try #require(opened)
    _ = slices.received(slice.number, items: 20, hasMore: true, paginationToken: "a")
    let answer1 = slices.refused(slice.number, errorCode: 4_000_017, oldest: 0)
    #expect(answer1 == .request(paginationToken: nil))
    #expect(slices.open[0].pages == 0 && slices.open[0].window == slice.window)
    let answer2 = slices.refused(slice.number, errorCode: 4_000_012, oldest: Self.start + 5)
    #expect(answer2 == .request(paginationToken: nil))
    #expect(slices.open[0].window.start == Self.start + 5)
    let answer3 = slices.refused(slice.number, errorCode: 4_000_018, oldest: 0)
    #expect(answer3 == nil)
    let answer4 = slices.refused(slice.number, errorCode: 4_000_012, oldest: Self.start + 2 * Self.day)
    #expect(answer4 == .finished)
    #expect(slices.isFinished)
  }

  @Test("progress only grows while a divided window is read evenly, and ends at 1")
  func progress() throws {
    let dates = (0..<20_000).map { Self.start + Int64($0) * 4300 }
    var slices = HistorySlices(window: try window())
    var last = 0.0
    while !slices.isFinished {
      while slices.openNext(readers: 8) != nil {}
      for slice in slices.open {
        let inside = dates.filter { $0 >= slice.window.start && $0 < slice.window.end }
        let offset = Int(slice.pager.paginationToken ?? "0") ?? 0
        let hasMore = offset + 20 < inside.count
        _ = slices.received(
          slice.number, items: min(20, inside.count - offset), hasMore: hasMore, paginationToken: hasMore ? "\(offset + 20)" : nil)
      }
      guard slices.isDivided else { continue }
      #expect((0...1).contains(slices.progress))
      if slices.progress > 0.05 { #expect(slices.progress >= last - 0.02, "\(last) → \(slices.progress)") }
      last = slices.progress > 0.05 ? max(last, slices.progress) : 0
    }
    #expect(slices.progress == 1)
  }
}
