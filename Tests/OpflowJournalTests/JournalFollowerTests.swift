import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import Testing

@Suite struct JournalFollowerTests {
  private static let seeds: Range<UInt64> = 0..<100

  /// Looks of a follower at a file.
  private struct Looks {
    let growing: GrowingPlan
    var follower: JournalFollower
    private var sessions = 0

    init(_ plan: Plan) { self.init(GrowingPlan(plan)) }

    init(_ growing: GrowingPlan) {
      self.growing = growing
      follower = Self.follower(growing.first, growing)
    }

    private static func follower(_ plan: Plan, _ growing: GrowingPlan) -> JournalFollower {
      JournalFollower(plan: plan, keepingDetails: true, grown: growing.grown)
    }

    mutating func grow(_ file: some Collection<UInt8>) throws {
      // Less than was there at the look before.
      if file.count < follower.offset { return }
      try look(file) { follower, bytes in try follower.read(growing: bytes) }
    }

    mutating func end(_ file: some Collection<UInt8>) throws -> JournalRecovery {
      try look(file) { follower, bytes in try follower.read(toEnd: bytes) }
    }

    private mutating func look<Result>(
      _ file: some Collection<UInt8>,
      _ read: (inout JournalFollower, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
      try Array(file).withUnsafeBytes { bytes in
        var result = try read(&follower, .init(rebasing: bytes[follower.offset...]))
        // Another session has another plan.
        if follower.model.sessions != sessions {
          follower = Self.follower(try growing.open(toldBy: bytes), growing)
          result = try read(&follower, bytes)
        }
        sessions = follower.model.sessions
        guard follower.mustReread else { return result }
        follower = follower.anew
        return try read(&follower, bytes)
      }
    }
  }

  private func whole(
    _ file: some Collection<UInt8>, _ plan: Plan
  ) throws -> (history: RunModel, recovery: JournalRecovery) {
    try Array(file).withUnsafeBytes {
      try RunModel.read($0, plan: plan, keepingDetails: true)
    }
  }

  private func check(
    _ looks: inout Looks, _ file: some Collection<UInt8>, seed: UInt64
  ) throws {
    let recovery = try looks.end(file)
    let plan = looks.follower.plan
    let once = try whole(file, plan)
    try #require(recovery == once.recovery, "seed \(seed)")
    try #require(looks.follower.model.brief(plan) == once.history.brief(plan), "seed \(seed)")
  }

  /// The file as it is at some moments of its growth, the last one whole.
  private func cuts(_ count: Int, _ random: inout SplitMix64) -> [Int] {
    (0..<random.below(12)).map { _ in random.below(count + 1) }.sorted() + [count]
  }

  @Test func `a journal that is followed says what it says when it is read once`() throws {
    for seed in Self.seeds {
      var run = try RandomRun(seed: seed)
      var looks = Looks(run.file)
      for _ in 0..<(1 + run.random.below(4)) {
        for _ in 0..<run.random.below(60) {
          try run.step()
          if run.random.chance(20) {
            try looks.grow(run.bytes.dropLast(run.random.below(50)))
          } else if run.random.chance(3) {
            try check(&looks, run.bytes, seed: seed)
          }
        }
        // A crash may cut what was followed: then it was never written, and the file is another
        // one.
        if run.random.chance(50) {
          let file = run.bytes
          run.crash()
          if looks.follower.offset > run.bytes.count { looks = Looks(run.file) }
          if !run.bytes.starts(with: file.prefix(looks.follower.offset)) { looks = Looks(run.file) }
          if run.random.chance(50) { try looks.grow(run.bytes) }
          if run.random.chance(30) { try check(&looks, run.bytes, seed: seed) }
        }
        try run.mend()
        try #require(looks.follower.offset <= run.bytes.count, "seed \(seed)")
      }
      try check(&looks, run.bytes, seed: seed)
      try #require(looks.follower.plan.taskCount == run.plan.taskCount, "seed \(seed)")
    }
  }

  @Test func `however a journal is damaged, following it finds what reading it once does`() throws {
    for seed in Self.seeds {
      var run = try RandomRun(seed: seed)
      for _ in 0..<80 { try run.step() }
      var file = run.bytes
      let first = try #require(file.firstIndex(of: 10)) + 1
      for _ in 0..<(1 + run.random.below(5)) { damage(&file, from: first, &run.random) }
      var looks = Looks(run.file)
      for cut in cuts(file.count, &run.random) {
        if run.random.chance(70) {
          try looks.grow(file.prefix(cut))
        } else if cut >= first {
          try check(&looks, file.prefix(cut), seed: seed)
        }
      }
      try check(&looks, file, seed: seed)
    }
  }

  @Test func `who comes to a session that goes on knows what who saw it begin does`() throws {
    for seed in Self.seeds {
      var run = try RandomRun(seed: seed)
      for _ in 0..<run.random.below(100) { try run.step() }
      let plan = run.plan
      var follower = JournalFollower(plan: plan, keepingDetails: true, grown: run.file.grown)
      try run.bytes.withUnsafeBytes { try follower.read(growing: $0) }
      let entered = EnteredSession.states(follower.model, plan)
      // These sessions keep results that no resume keeps.
      for index in plan.tasks where follower.model[TaskID(index)].state != .cancelled {
        let isKept = entered[index] != .run
        try #require(isKept == !run.included.contains(TaskID(index)), "seed \(seed), \(index)")
      }
      let scope = SessionScope(
        plan.tasks.map { run.included.contains(TaskID($0)) ? .run : .succeeded })
      var joined = SessionModel(plan: plan, scope: scope, joining: follower.model)
      try expect(joined, run, seed: seed)
      // Each line changes the session as the engine's transition does.
      for _ in 0..<40 {
        let sessions = follower.model.sessions
        try run.step()
        var isOther = false
        try run.bytes.withUnsafeBytes { bytes in
          let new = UnsafeRawBufferPointer(rebasing: bytes[follower.offset...])
          try follower.read(growing: new) { line, model, plan in
            isOther = isOther || model.sessions != sessions
            let entry = line.entry(plan: plan)
            if !isOther, case .extend(let extend) = entry {
              joined.grow(
                to: plan, plan.tasks.dropFirst(joined.plan.taskCount).map { _ in .run })
              joined.apply(extend)
            }
            guard !isOther, case .transition(let transition) = entry else { return }
            joined.apply(transition, atMilliseconds: line.milliseconds)
            let (begun, sequence) = model.begun
            if sequence == line.sequence {
              joined.apply(
                Transition(.start, begun, attempt: model[begun].attempts),
                atMilliseconds: line.milliseconds)
            }
          }
        }
        if isOther { break }
        try expect(joined, run, seed: seed)
      }
    }
  }

  private func expect(_ joined: SessionModel, _ run: RandomRun, seed: UInt64) throws {
    try #require(joined.checkInvariants() == nil, "seed \(seed)")
    try #require(joined.counts == run.live.counts, "seed \(seed)")
    try #require(
      Set(joined.interrupted) == Set(run.live.interrupted), "seed \(seed), \(run.bytes.count)")
    for task in run.plan.tasks.map({ TaskID($0) }) where run.included.contains(task) {
      try #require(
        joined.state(task) == run.live.state(task),
        "seed \(seed), \(run.plan.nameString(task)) at \(run.bytes.count)")
    }
  }

  private func damage(_ file: inout [UInt8], from first: Int, _ random: inout SplitMix64) {
    let place = first + random.below(file.count - first)
    let end = min(place + 1 + random.below(200), file.count)
    switch random.below(6) {
    case 0: file[place] ^= 1 << random.below(8)
    case 1: for index in place..<end { file[index] = 0 }
    case 2: file.removeSubrange(place..<end)
    case 3: file += file[place..<end]
    case 4: file.insert(13, at: file[place...].firstIndex(of: 10) ?? file.count)
    default: file.insert(contentsOf: Array("noise\n\n".utf8), at: place)
    }
  }

  @Test func `what a view is told as it goes and the journal put every task in the same state`()
    throws
  {
    for seed in Self.seeds {
      var run = try RandomRun(seed: seed)
      for _ in 0..<150 {
        try run.step()
        guard run.random.chance(25) else { continue }
        let plan = run.plan
        let history = try whole(run.bytes, plan).history
        try #require(run.live.checkInvariants() == nil, "seed \(seed)")
        for index in plan.tasks where run.included.contains(TaskID(index)) {
          let task = TaskID(index)
          let (told, record) = (run.live.state(task), history[task])
          try #require(
            record.state == told, "seed \(seed), \(plan.nameString(task)) at \(run.bytes.count)")
          if told == .waiting,
            record.why != .rerun(.interrupted) || run.live.interrupted.contains(task)
          {
            try #require(
              record.isInterrupted == run.live.interrupted.contains(task),
              "seed \(seed), \(plan.nameString(task))")
          }
        }
        let status = RunStatus(
          run: "r", plan: plan, history: history, included: run.included, isHeld: true)
        try #require(status.counts == run.live.counts, "seed \(seed)")
      }
    }
  }

  @Test func `half a line waits for its other half`() throws {
    var journal = JournalText(try TestPlan.make(names: ["a"]))
    try journal.run("a")
    let file = journal.bytes
    var looks = Looks(journal.plan)
    for length in 0..<file.count {
      try looks.grow(file.prefix(length))
      #expect(journal.offsets.contains(looks.follower.offset))
      #expect(looks.follower.offset <= length)
    }
    #expect(looks.follower.model[TaskID(0)].state == .running)
    try looks.grow(file)
    #expect(looks.follower.model[TaskID(0)].state == .succeeded)
    #expect(looks.follower.offset == file.count)
  }

  @Test func `what a resume cuts off the end does not hide what it writes there`() throws {
    var journal = JournalText(try TestPlan.make(names: ["a", "b"]))
    try journal.start("a")
    let intact = journal.bytes
    var looks = Looks(journal.plan)
    try looks.grow(intact + Array("noise that has an end\nand noise that has none".utf8))
    #expect(looks.follower.offset == intact.count)
    try journal.success("a")
    try journal.run("b")
    try looks.grow(journal.bytes)
    #expect(looks.follower.model.successes(journal.plan) == ["a", "b"])
    #expect(try looks.end(journal.bytes).isIntact)
  }

  @Test func `a last line that lacked its line feed counts once`() throws {
    var journal = JournalText(try TestPlan.make(names: ["a"]))
    try journal.start("a")
    var looks = Looks(journal.plan)
    let torn = try looks.end(journal.bytes.dropLast())
    #expect(looks.follower.model[TaskID(0)].state == .running)
    #expect(torn.repair == JournalRepair(truncateTo: nil, appendsLineFeed: true))
    try journal.success("a")
    let mended = try looks.end(journal.bytes)
    #expect(looks.follower.model[TaskID(0)].state == .succeeded)
    #expect(mended.isIntact)
    #expect(mended.lineCount == 3)
  }

  @Test func `a file that begins otherwise is no journal, however little of it is there`() throws {
    let plan = try TestPlan.make(names: ["a"])
    var looks = Looks(plan)
    try looks.grow([])
    try looks.grow(Array("no line".utf8))
    #expect(throws: JournalError.firstLine) { try looks.grow(Array("no line\n".utf8)) }
    #expect(throws: JournalError.empty) {
      var other = Looks(plan)
      _ = try other.end([])
    }
  }
}
