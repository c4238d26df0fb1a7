import Testing

/// Limits of parallel tasks and shared resources.
struct ResourceTests {
  /// Counts itself in and out under a lock, and writes down the highest count it saw.
  private static let count = #"""
    flock lock sh -c 'n=$(cat now 2>/dev/null || echo 0); n=$((n+1)); echo $n > now; echo $n >> counts';
    cat /etc/passwd /etc/group > /dev/null;
    flock lock sh -c 'n=$(cat now); echo $((n-1)) > now'
    """#

  private func counted(_ head: String, task: String = "", tasks: Int = 16) throws -> Workplace {
    let command = Self.count.replacing("\n", with: " ")
    var manifest = head + "\nx-count: &count\n  run: |\n    \(command)\n\(task)\ntasks:\n"
    for index in 0..<tasks { manifest += "  t\(index): { <<: *count }\n" }
    return try Workplace(manifest)
  }

  private func highest(_ place: Workplace) -> Int {
    place.lines("counts").compactMap { Int($0) }.max() ?? 0
  }

  @Test func `never more than max_parallel at once`() throws {
    let place = try counted("max_parallel: 3")
    try place.opflow("run")
    #expect(place.lines("counts").count == 16)
    #expect((1...3).contains(highest(place)))
  }

  @Test func `-j wins over max_parallel`() throws {
    let place = try counted("max_parallel: 8")
    try place.opflow("run", "-j", "1")
    #expect(place.lines("counts").count == 16)
    #expect(highest(place) == 1)
  }

  @Test func `as many as allowed do run at once`() throws {
    let place = try Workplace(
      """
      max_parallel: 5
      x-meet: &meet { run: "echo here > here; read x < go" }
      tasks: { a: *meet, b: *meet, c: *meet, d: *meet, e: *meet }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next(5)
    try go.letGo(5)
    #expect(try live.finish().status == 0)
  }

  @Test func `a named resource bounds those that ask for it`() throws {
    let place = try counted("max_parallel: 8\nresources: { db: 1 }", task: "  resources: { db: 1 }")
    try place.opflow("run")
    #expect(place.lines("counts").count == 16)
    #expect(highest(place) == 1)
  }

  @Test func `a share of two in a resource of five leaves room for two`() throws {
    let place = try counted(
      "max_parallel: 8\nresources: { net: 5 }", task: "  resources: { net: 2 }")
    try place.opflow("run")
    #expect(place.lines("counts").count == 16)
    #expect((1...2).contains(highest(place)))
  }

  @Test(arguments: [("1", "0.5", 2), ("1", "0.334", 2), ("0.5", "0.25", 2), ("1", "1.0", 1)])
  func `a fraction of a resource is that fraction`(
    capacity: String, share: String, most: Int
  ) throws {
    let place = try Workplace(
      """
      max_parallel: 8
      resources: { gpu: \(capacity) }
      defaults: { resources: { gpu: \(share) } }
      x-meet: &meet { run: "echo here > here; read x < go" }
      tasks: { a: *meet, b: *meet, c: *meet }
      """)
    #expect(try place.opflow("plan").output.contains("gpu \(share == "1.0" ? "1" : share)"))
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next(most)
    let running = try place.status().tasks.filter { $0.state == "running" }
    #expect(running.count == most)
    try go.letGo(most)
    for _ in most..<3 {
      _ = try here.next()
      try go.letGo()
    }
    #expect(try live.finish().status == 0)
  }

  @Test func `memory is a resource with sizes`() throws {
    let place = try counted(
      "max_parallel: 8\nresources: { memory: 100MiB }", task: "  resources: { memory: 60MiB }")
    try place.opflow("run")
    #expect(highest(place) == 1)
  }

  @Test func `cpu 2 takes two places`() throws {
    let place = try counted("max_parallel: 4", task: "  resources: { cpu: 2 }")
    try place.opflow("run")
    #expect((1...2).contains(highest(place)))
  }

  @Test func `cpu 0 takes no place`() throws {
    let place = try Workplace(
      """
      max_parallel: 1
      x-meet: &meet { run: "echo here > here; read x < go", resources: { cpu: 0 } }
      tasks: { a: *meet, b: *meet, c: *meet }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next(3)
    try go.letGo(3)
    #expect(try live.finish().status == 0)
  }

  @Test func `more cpu than there is means alone, with a warning`() throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        big: { run: echo big >> trace, resources: { cpu: 64 } }
        small: { run: echo small >> trace }
      """)
    let run = try place.opflow("run")
    #expect(place.lines().sorted() == ["big", "small"])
    #expect(run.errors.contains("warning"))
    #expect(run.errors.contains("cpu"))
  }

  @Test func `more of a named resource than there is is a mistake`() throws {
    let place = try Workplace(
      """
      resources: { db: 1 }
      tasks:
        greedy: { run: "true", resources: { db: 2 } }
      """)
    let run = try place.opflow("run", status: 3)
    #expect(run.errors.contains("opflow.yaml:3:"))
    #expect(run.errors.contains("db"))
    #expect(!place.exists(".opflow"))
  }

  @Test func `a large request is not starved by small ones`() throws {
    // `first` holds one of two places until `second` is gone. From then on the place that `second`
    // left is kept for `big`, so that none of the small ones behind it comes before it.
    var manifest = """
      max_parallel: 2
      tasks:
        first: { run: "read x < baton", priority: 9 }
        second: { run: "echo go > baton", priority: 8 }
        big: { run: echo big >> trace, resources: { cpu: 2 }, priority: 7 }

      """
    for index in 0..<20 { manifest += "  small\(index): { run: echo small >> trace }\n" }
    let place = try Workplace(manifest)
    _ = try place.gate("baton")
    try place.opflow("run")
    #expect(place.lines().first == "big")
    #expect(place.lines().count == 21)
  }

  @Test func `a thousand and twenty-five tasks run at once`() throws {
    var manifest = "max_parallel: 1100\ntasks:\n"
    for index in 0..<1025 { manifest += "  t\(index): { run: 'echo here > here; read x < go' }\n" }
    let place = try Workplace(manifest)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run", "--output", "quiet")
    _ = try here.next(1025)
    try go.letGo(1025)
    let run = try live.finish()
    #expect(run.status == 0, "\(run)")
    #expect(try place.status().counts["succeeded"] == 1025)
    place.expectNothingAlive()
  }

  @Test func `ten thousand tasks all run once`() throws {
    var manifest = "tasks:\n"
    for index in 0..<10_000 { manifest += "  t\(index): { run: 'true' }\n" }
    let place = try Workplace(manifest)
    try place.opflow("run", "--output", "quiet")
    let journal = try place.journal()
    #expect(Set(journal.filter { $0.event == "success" }.map(\.task)).count == 10_000)
    #expect(journal.filter { $0.event == "success" }.count == 10_000)
  }
}
