import Testing

@testable import Console

@Suite struct PlotTests {
  private static func plot(_ values: [[Int64]]) -> Plot {
    Plot(
      id: "p", title: "Deliveries", unit: "a minute", names: values[0].indices.map { "09:0\($0)" }, labels: [],
      series: values.enumerated().map { Plot.Series(name: "part \($0)", style: "s-\($0)", values: $1) })
  }

  @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (201, 500), (1_000_001, 2_000_000)] as [(Int64, Int64)])
  func `An axis ends at a sufficient round number`(greatest: Int64, end: Int64) { #expect(Plot.axisEnd(greatest) == end) }

  @Test func `The parts of a column are stacked and stay within the drawing`() throws {
    let plot = Self.plot([[1, 3, 0], [1, 1, 0]])
    let bars = plot.columns[0].bars
    #expect(bars.count == 2 && plot.columns[2].bars.isEmpty && plot.top == "5")
    // The axis ends at 5 and the drawing is 120 high, so each value of 1 is 24 high.
    #expect(bars[0].y == "96" && bars[0].height == "24" && bars[1].y == "72" && bars[1].height == "24")
    for column in plot.columns {
      for bar in column.bars { #expect(try #require(Double(bar.y)) >= 0) }
    }
    #expect(plot.columns[1].text == "09:01: 3 part 0, 1 part 1")
    #expect(plot.rows.map(\.label) == ["09:00", "09:01"] && plot.rows[1].cells == ["3", "1"])
    #expect(plot.summary.contains("6 in all") && plot.summary.contains("4 in the highest column"))
  }

  @Test func `A small value beside a large one is visible`() throws {
    let plot = Self.plot([[1_000_000, 1]])
    #expect(plot.columns[1].bars.map(\.height) == ["1"])
  }

  @Test func `An empty plot is reported as empty`() {
    let plot = Self.plot([[0, 0]])
    #expect(!plot.hasData && plot.legend.isEmpty && plot.rows.isEmpty && plot.summary == "Deliveries: nothing.")
  }

  @Test func `A list shows the most frequent items and counts the others`() {
    let list = BarList((1...5).map { (name: "n\($0)", note: "", count: Int64($0)) }, limit: 2)
    #expect(list.items.map(\.name) == ["n5", "n4"] && list.items[0].width == "100" && list.items[0].share == "33.3 %")
    #expect(list.hasMore && list.more == "3 more with 6 together")
    #expect(!BarList([]).hasItems)
  }
}
