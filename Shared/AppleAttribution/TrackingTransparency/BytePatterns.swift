/// Finds any of several byte strings in a text, in one pass over the text (the algorithm of Aho and Corasick).
///
/// Texts are compared as ``TextVariants/folded(_:)`` folds them: without letter case, and without ASCII characters that are neither letters
/// nor digits. Bytes outside ASCII that occur in no pattern are passed over too, so that a typographic dash does not hide a copy.
struct BytePatterns: Sendable {
  /// The class of each byte: 0 for bytes that are passed over, 1 for letters and digits of no pattern, others for one letter each.
  private let classes: [UInt8]
  /// For each state and class, the next state, as the index of its first element; −1 if a pattern ends there. The first state is 0.
  private let steps: [Int32]

  /// At most the number of steps in the table of these patterns: states × classes. Each step takes four bytes.
  static func steps(_ patterns: some Collection<[UInt8]>) -> Int {
    (1 + patterns.reduce(0) { $0 + $1.count }) * (1 + Set(patterns.joined()).count)
  }

  /// - Parameter patterns: folded. Empty ones are ignored.
  init(_ patterns: some Collection<[UInt8]>) {
    var classes = [UInt8](repeating: 0, count: 256)
    for byte in UInt8(ascii: "0")...UInt8(ascii: "9") { classes[Int(byte)] = 1 }
    for byte in UInt8(ascii: "a")...UInt8(ascii: "z") { classes[Int(byte)] = 1 }
    var width = 1
    for byte in Set(patterns.joined()) {
      width += 1
      classes[Int(byte)] = UInt8(width)
    }
    for byte in UInt8(ascii: "A")...UInt8(ascii: "Z") { classes[Int(byte)] = classes[Int(byte | 0x20)] }
    self.classes = classes

    // The tree of all patterns. Step 0 means that there is none, because no step of the tree leads to the first state.
    var steps = [Int32](repeating: 0, count: width)
    var isEnd = [false]
    for pattern in patterns where !pattern.isEmpty {
      var state = 0
      for byte in pattern {
        let index = state * width + Int(classes[Int(byte)]) - 1
        if steps[index] == 0 {
          steps[index] = Int32(isEnd.count)
          steps.append(contentsOf: repeatElement(0, count: width))
          isEnd.append(false)
        }
        state = Int(steps[index])
      }
      isEnd[state] = true
    }
    // Missing steps are those of the longest suffix that is also a state. States are completed in the order of their depth.
    var suffixes = [Int](repeating: 0, count: isEnd.count)
    var queue = steps[..<width].filter { $0 != 0 }.map { Int($0) }
    var next = 0
    while next < queue.count {
      let state = queue[next]
      next += 1
      if isEnd[suffixes[state]] { isEnd[state] = true }
      for column in 0..<width {
        let index = state * width + column
        let ofSuffix = steps[suffixes[state] * width + column]
        if steps[index] == 0 {
          steps[index] = ofSuffix
        } else {
          suffixes[Int(steps[index])] = Int(ofSuffix)
          queue.append(Int(steps[index]))
        }
      }
    }
    self.steps = steps.map { isEnd[Int($0)] ? -1 : $0 * Int32(width) }
  }

  /// True if a pattern occurs in the text. The text need not be folded.
  func occur(in text: some Sequence<UInt8>) -> Bool {
    // Without bounds checks, which take most of the time otherwise: classes and steps are complete tables.
    classes.withUnsafeBufferPointer { classes in
      steps.withUnsafeBufferPointer { steps in
        func occur(_ bytes: some Sequence<UInt8>) -> Bool {
          var state = 0
          for byte in bytes {
            let column = Int(classes[Int(byte)])
            if column == 0 { continue }
            let next = steps[state + column - 1]
            if next < 0 { return true }
            state = Int(next)
          }
          return false
        }
        return text.withContiguousStorageIfAvailable { occur($0) } ?? occur(text)
      }
    }
  }
}
