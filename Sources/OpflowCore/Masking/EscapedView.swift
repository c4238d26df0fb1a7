/// What a reader finds in a stream with one kind of escape undone.
///
/// It is only told apart from the stream itself from an escape on, for as long as what was made of that
/// may be part of a word: most bytes of most streams are read once.
struct EscapedView: Sendable {
  let escape: Escape
  private(set) var isApart = false
  private(set) var state: WordAutomaton.State = 0
  private(set) var tails = TailReader()
  /// The bytes of what may be an escape, and where the first one stands.
  private var waiting: [UInt8] = []
  private var waitingStart = 0
  private var isIndenting = false
  /// Where it came apart.
  private var forkPlace = 0
  /// Where each byte since then came from, those that are out of reach left out.
  private var places: [Int] = []
  private var leftOut = 0
  /// Bytes since the last escape.
  private var plainBytes = 0

  init(_ escape: Escape) { self.escape = escape }

  /// Comes apart before the byte at `place`.
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

  /// What is held back of a stream may reach so far: where so much of it stands for nothing, what comes
  /// behind is no part of a word any more. Views show a gap there (`CleanText.mostHidden`).
  private static let mostHeldBytes = 1 << 20

  /// Takes the byte of the stream at `place`.
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
        // All of them come from the same place.
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

  /// Whatever was part of a word is none.
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
    // What is hidden is no encoding: people see the value itself.
    if length >= (escape == .hidden ? 1 : SecretWords.shortestEncodedBytes) {
      found(start(ofLast: length)..<end)
    }
  }

  /// Where the last so many bytes begin in the stream.
  private func start(ofLast length: Int) -> Int {
    let place = places.count - length
    return place >= 0 ? places[place] : forkPlace + place
  }

  /// Where what may still become a word begins; nil for nowhere.
  func hold(_ automaton: WordAutomaton) -> Int? {
    let length = max(automaton.reach(state), tails.longest)
    if length > 0 { return start(ofLast: length) }
    return waiting.isEmpty ? nil : waitingStart
  }

  /// Ends being apart, where the stream itself says the same of the same bytes.
  mutating func join(
    _ state: WordAutomaton.State, _ tails: TailReader, _ automaton: WordAutomaton
  ) {
    guard waiting.isEmpty, self.state == state, self.tails == tails, !isIndenting,
      plainBytes >= max(automaton.reach(state), tails.longest)
    else { return }
    isApart = false
  }

  /// The stream has ended: what waits is no escape.
  mutating func end(
    _ automaton: WordAutomaton, _ borders: inout Borders, found: (Range<Int>) -> Void
  ) {
    // The end of a stream is one of a line: what a sequence lacks does not come any more.
    if escape == .hidden, !waiting.isEmpty {
      take(10, at: waitingStart + waiting.count, automaton, &borders, found: found)
    }
    while !waiting.isEmpty { read(waiting[0], count: 1, isPlain: true, automaton, &borders, found) }
    isApart = false
  }
}
