import Foundation
import FuzzTargets
import Testing

/// Parses the corpus of each fuzz target and changes of it. Tests/Fuzz/run searches for further inputs with libFuzzer.
@Suite struct FuzzCorpusTests {
  /// The number of changed inputs for each input of the corpus.
  private static let changesEach = 60
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus")

  /// The inputs of a target, in the order of their names.
  private static func inputs(_ target: FuzzTarget) throws -> [[UInt8]] {
    let folder = corpus.appendingPathComponent(target.rawValue)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      Array(try Data(contentsOf: folder.appendingPathComponent($0)))
    }
  }

  @Test(arguments: FuzzTarget.allCases) func `No input of the corpus, and no change of one, stops a parser`(_ target: FuzzTarget) throws {
    let inputs = try Self.inputs(target)
    #expect(inputs.count >= 10)
    // The changes are the same in every run, so that crashes can be reproduced.
    var random = RepeatableNumbers(seed: 1)
    target.feed([])
    for input in inputs {
      target.feed(input)
      for _ in 0..<Self.changesEach {
        target.feed(InputChange.random(using: &random).apply(to: input, inputs.randomElement(using: &random) ?? [], using: &random))
      }
    }
  }

  @Test func `Every folder of the corpus belongs to a target`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(Set(folders) == Set(FuzzTarget.allCases.map(\.rawValue)))
  }
}

/// A change of an input.
enum InputChange: CaseIterable {
  case flip, overwrite, delete, insert, cut, repeatPart, join

  /// Text that is significant to parsers.
  private static let pieces: [[UInt8]] = [
    Array("\"".utf8), Array("{".utf8), Array("]".utf8), Array("\\u0000".utf8), Array("\\ud800".utf8), Array("1e999".utf8), Array("-0".utf8),
    Array("18446744073709551616".utf8), Array(".".utf8), Array("=".utf8), [0], [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x30, 0x80],
    [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
  ]

  static func random(using random: inout RepeatableNumbers) -> InputChange { allCases.randomElement(using: &random) ?? .flip }

  /// - Parameter other: another input, for ``join``.
  func apply(to input: [UInt8], _ other: [UInt8], using random: inout RepeatableNumbers) -> [UInt8] {
    guard !input.isEmpty else { return other }
    var bytes = input
    let start = Int.random(in: 0..<bytes.count, using: &random)
    let end = min(bytes.count, start + Int.random(in: 1...16, using: &random))
    let piece = Self.pieces.randomElement(using: &random) ?? []
    switch self {
    case .flip: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case .overwrite: bytes.replaceSubrange(start..<end, with: piece)
    case .delete: bytes.removeSubrange(start..<end)
    case .insert: bytes.insert(contentsOf: piece, at: start)
    case .cut: bytes.removeSubrange(start...)
    case .repeatPart:
      let part = Array(bytes[start..<end])
      for _ in 0..<Int.random(in: 1...200, using: &random) { bytes.insert(contentsOf: part, at: start) }
    case .join: bytes = Array(bytes[..<start]) + other.dropFirst(other.count / 2)
    }
    return bytes
  }
}

/// SplitMix64, which gives the same numbers for the same seed.
struct RepeatableNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
