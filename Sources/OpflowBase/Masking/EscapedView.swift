/// A stream with one kind of escape decoded. It is read apart from the stream only from an escape
/// on and while that may be part of a word, so most bytes are read once.
struct EscapedView: Sendable {
  let escape: Escape
  private(set) var isApart = false
  private(set) var state: WordAutomaton.State = 0
  private(set) var tails = TailReader()
  /// A possible escape, and the position of its first byte.
  private var waiting: [UInt8] = []
  private var waitingStart = 0
  private var isIndenting = false
  private var forkPlace = 0
  /// The origin of each byte since the fork, as far back as a word can reach.
  private var places: [Int] = []
  private var leftOut = 0
  private var plainBytes = 0

  init(_ escape: Escape) { self.escape = escape }

  mutating func fork(_ state: WordAutomaton.State, _ tails: TailReader, at place: Int) {
    isApart = true
    self.state = state
    self.tails = tails
    forkPlace = place
    waiting.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    leftOut = 0
    plainBytes = 0
    isIndenting = false
  }

  /// A word with a longer gap is not found; `CleanText` shows an ellipsis there.
  private static let mostHeldBytes = 1 << 20

  mutating func take(
    _ byte: UInt8, at place: Int, _ automaton: WordAutomaton, _ borders: inout Borders,
    found: (Range<Int>) -> Void
  ) {
    if waiting.isEmpty { waitingStart = place }
    waiting.append(byte)
    while !waiting.isEmpty {
      switch escape.step(waiting, isIndenting: isIndenting) {
      case .needsMore: return
      case .plain: read(waiting[0], count: 1, isPlain: true, automaton, &borders, found)
      case .byte(let byte, let count):
        read(byte, count: count, isPlain: false, automaton, &borders, found)
      case .scalar(let value, let count):
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        let bytes = Array(String(Character(scalar)).utf8)
        for byte in bytes.dropLast() {
          add(byte, end: waitingStart + count, automaton, &borders, found)
        }
        read(bytes[bytes.count - 1], count: count, isPlain: false, automaton, &borders, found)
      case .repeated(let byte, let times, let count):
        for _ in 1..<times { add(byte, end: waitingStart + count, automaton, &borders, found) }
        read(byte, count: count, isPlain: false, automaton, &borders, found)
      case .nothing(let count):
        isIndenting = true
        plainBytes = 0
        drop(count)
        if let held = hold(automaton), place - held > Self.mostHeldBytes { forget() }
      }
    }
  }

  private mutating func forget() {
    state = 0
    tails = TailReader()
  }

  private mutating func read(
    _ byte: UInt8, count: Int, isPlain: Bool, _ automaton: WordAutomaton,
    _ borders: inout Borders, _ found: (Range<Int>) -> Void
  ) {
    isIndenting = false
    add(byte, end: waitingStart + count, automaton, &borders, found)
    plainBytes = isPlain ? plainBytes + 1 : 0
    drop(count)
  }

  private mutating func drop(_ count: Int) {
    waiting.removeFirst(count)
    waitingStart += count
  }

  private mutating func add(
    _ byte: UInt8, end: Int, _ automaton: WordAutomaton, _ borders: inout Borders,
    _ found: (Range<Int>) -> Void
  ) {
    places.append(waitingStart)
    if places.count > 2 * automaton.longestWordBytes + 64 {
      let count = places.count - automaton.longestWordBytes
      places.removeFirst(count)
      leftOut += count
    }
    var length = tails.isEmpty ? 0 : tails.take(byte, automaton, &borders)
    state = automaton.step(state, automaton.entry(byte))
    if automaton.isEnd(state) {
      length = max(length, automaton.longestWord(state))
      automaton.forEachHead(state) { tails.follow($0) }
    }
    // Hidden characters are not an encoding: users see the value itself.
    if length >= (escape == .hidden ? 1 : SecretWords.shortestEncodedBytes) {
      found(start(ofLast: length)..<end)
    }
  }

  private func start(ofLast length: Int) -> Int {
    let place = places.count - length
    return place >= 0 ? places[place] : forkPlace + place
  }

  func hold(_ automaton: WordAutomaton) -> Int? {
    let length = max(automaton.reach(state), tails.longest)
    if length > 0 { return start(ofLast: length) }
    return waiting.isEmpty ? nil : waitingStart
  }

  /// Rejoins the stream if both are in the same state after the same bytes.
  mutating func join(
    _ state: WordAutomaton.State, _ tails: TailReader, _ automaton: WordAutomaton
  ) {
    guard waiting.isEmpty, self.state == state, self.tails == tails, !isIndenting,
      plainBytes >= max(automaton.reach(state), tails.longest)
    else { return }
    isApart = false
  }

  mutating func end(
    _ automaton: WordAutomaton, _ borders: inout Borders, found: (Range<Int>) -> Void
  ) {
    if escape == .hidden, !waiting.isEmpty {
      take(10, at: waitingStart + waiting.count, automaton, &borders, found: found)
    }
    while !waiting.isEmpty { read(waiting[0], count: 1, isPlain: true, automaton, &borders, found) }
    isApart = false
  }
}
