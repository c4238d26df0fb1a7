/// Replaces secrets in a stream by `***`, however the stream is split. Holds back only bytes that
/// may still become a secret. Overlapping secrets get one mark.
package struct Masker: Sendable {
  package static let mark = Array("***".utf8)

  private let automaton: WordAutomaton
  private var state: WordAutomaton.State = 0
  private var tails = TailReader()
  private var views = Escape.allCases.map { EscapedView($0) }
  private var apartCount = 0
  private var borders = Borders()

  private var place = 0
  /// Bytes held back, before `place`.
  private var held: [UInt8] = []
  /// Sorted and disjoint.
  private var finds: [Find] = []
  private var output: [UInt8] = []

  private struct Find {
    var range: Range<Int>
    /// The mark is written, but the end of the range is not reached.
    var isMarked: Bool
  }

  package init?(_ secrets: [SecretValue]) {
    if secrets.isEmpty { return nil }
    automaton = WordAutomaton(
      words: SecretWords.words(of: secrets.map(\.bytes)), leads: Escape.allCases.flatMap(\.leads))
  }

  package mutating func mask(
    _ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) -> Void
  ) {
    scan(bytes)
    let hold = hold
    if held.isEmpty, finds.isEmpty, hold == place {
      write(bytes)
      return
    }
    held.append(contentsOf: bytes)
    release(upTo: hold, write)
  }

  /// The next bytes start a new stream.
  package mutating func finish(_ write: (UnsafeRawBufferPointer) -> Void) {
    endViews()
    release(upTo: place, write)
    apartCount = 0
    state = 0
    tails = TailReader()
    finds.removeAll()
    place = 0
  }

  /// Independent of the stream.
  package func masked(_ text: String) -> String {
    var copy = self
    copy.restart()
    var result: [UInt8] = []
    Array(text.utf8).withUnsafeBytes { bytes in copy.mask(bytes) { result.append(contentsOf: $0) } }
    copy.finish { result.append(contentsOf: $0) }
    return String(decoding: result, as: UTF8.self)
  }

  /// Masks the names of processes. The kernel cuts a name at 15 bytes, so a name may end within a
  /// secret.
  package func masked(names: String) -> String {
    var copy = self
    copy.restart()
    var result: [UInt8] = []
    func isEnd(_ byte: UInt8) -> Bool { [",", " ", ")"].contains(Unicode.Scalar(byte)) }
    var rest = Array(names.utf8)[...]
    while let first = rest.first {
      let part = [first] + rest.dropFirst().prefix { !isEnd($0) }
      rest = rest.dropFirst(part.count)
      part.withUnsafeBytes { bytes in copy.mask(bytes) { result.append(contentsOf: $0) } }
      if copy.held.count >= Self.fewestOfCut {
        Self.add(copy.place - copy.held.count..<copy.place, to: &copy.finds)
      }
    }
    copy.finish { result.append(contentsOf: $0) }
    return String(decoding: result, as: UTF8.self)
  }

  /// Fewer bytes are mostly not part of a secret.
  private static let fewestOfCut = 4

  package func finds(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { finds(UnsafeRawBufferPointer($0)) }
  }

  package func finds(_ bytes: UnsafeRawBufferPointer) -> Bool { firstFind(in: bytes) != nil }

  package func firstFind(in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
    var copy = self
    copy.restart()
    copy.scan(bytes)
    copy.endViews()
    return copy.finds.first?.range
  }

  private mutating func endViews() {
    for number in views.indices where views[number].isApart {
      views[number].end(automaton, &borders) { Self.add($0, to: &finds) }
    }
  }

  private mutating func restart() {
    finish { _ in }
    held.removeAll()
  }

  // MARK: - Reading

  private mutating func scan(_ bytes: UnsafeRawBufferPointer) {
    var isBusy = apartCount > 0 || !tails.isEmpty
    var state = state
    for byte in bytes {
      let entry = automaton.entry(byte)
      let next = automaton.step(state, entry)
      if entry & WordAutomaton.lead != 0 || automaton.isEnd(next) || isBusy {
        take(byte, from: state, to: next)
        isBusy = apartCount > 0 || !tails.isEmpty
      }
      state = next
      place += 1
    }
    self.state = state
  }

  /// Handles a byte that may start an escape or end a word, or any byte while views differ.
  private mutating func take(
    _ byte: UInt8, from state: WordAutomaton.State, to next: WordAutomaton.State
  ) {
    for number in views.indices where !views[number].isApart {
      let escape = views[number].escape
      guard escape.leads.contains(byte) else { continue }
      if escape.isGap, state == 0, tails.isEmpty { continue }
      views[number].fork(state, tails, at: place)
      apartCount += 1
    }
    var length = tails.isEmpty ? 0 : tails.take(byte, automaton, &borders)
    if automaton.isEnd(next) {
      length = max(length, automaton.longestWord(next))
      automaton.forEachHead(next) { tails.follow($0) }
    }
    if length > 0 { Self.add(place + 1 - length..<place + 1, to: &finds) }
    if apartCount == 0 { return }
    for number in views.indices where views[number].isApart {
      views[number].take(byte, at: place, automaton, &borders) { Self.add($0, to: &finds) }
      views[number].join(next, tails, automaton)
      if !views[number].isApart { apartCount -= 1 }
    }
  }

  /// Merges overlaps. Ranges arrive sorted by end, except those that an escape ends later.
  private static func add(_ range: Range<Int>, to finds: inout [Find]) {
    var new = Find(range: range, isMarked: false)
    var place = finds.count
    while place > 0, finds[place - 1].range.upperBound > new.range.lowerBound {
      let last = finds[place - 1]
      place -= 1
      guard last.range.lowerBound < new.range.upperBound else { continue }
      finds.remove(at: place)
      new.range =
        min(
          last.range.lowerBound, new.range.lowerBound)..<max(
          last.range.upperBound, new.range.upperBound)
      new.isMarked = new.isMarked || last.isMarked
    }
    finds.insert(new, at: place)
  }

  // MARK: - Writing

  private var hold: Int {
    var hold = place - max(automaton.reach(state), tails.longest)
    if apartCount > 0 {
      for view in views where view.isApart { hold = min(hold, view.hold(automaton) ?? place) }
    }
    return hold
  }

  private mutating func release(upTo end: Int, _ write: (UnsafeRawBufferPointer) -> Void) {
    let start = place - held.count
    var cursor = start
    output.removeAll(keepingCapacity: true)
    while let find = finds.first, find.range.lowerBound < end {
      if cursor < find.range.lowerBound {
        output += held[(cursor - start)..<(find.range.lowerBound - start)]
      }
      if !find.isMarked { output += Self.mark }
      cursor = max(cursor, min(find.range.upperBound, end))
      if find.range.upperBound > end {
        finds[0].isMarked = true
        break
      }
      finds.removeFirst()
    }
    if cursor < end { output += held[(cursor - start)..<(end - start)] }
    held.removeFirst(max(cursor, end) - start)
    if !output.isEmpty { output.withUnsafeBytes(write) }
  }
}

/// A secret's value and environment variable. Never stored or shown.
package struct SecretValue: Equatable, Sendable {
  /// Shorter values would match everywhere.
  package static let shortestBytes = 4
  package static let longestBytes = 64 << 10
  /// Limits all secrets of a run together: every worker holds them.
  package static let longestTotalBytes = 1 << 20

  package let name: String
  package let bytes: [UInt8]

  package init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}
