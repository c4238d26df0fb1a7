import Testing

/// Which of the ready tasks starts first, seen with one at a time.
struct PriorityTests {
  private func order(_ manifest: String) throws -> [String] {
    let place = try Workplace(manifest)
    try place.opflow("run", "-j", "1")
    return place.lines()
  }

  @Test func `the higher priority starts first`() throws {
    let order = try order(
      """
      tasks:
        c: { run: echo c >> trace, priority: -1 }
        n: { run: echo n >> trace }
        a: { run: echo a >> trace, priority: 1000 }
        b: { run: echo b >> trace, priority: 1 }
        d: { run: echo d >> trace, priority: -1000 }
      """)
    #expect(order == ["a", "b", "n", "c", "d"])
  }

  @Test func `the named levels are numbers`() throws {
    let order = try order(
      """
      tasks:
        vl: { run: echo vl >> trace, priority: very_low }
        l: { run: echo l >> trace, priority: low }
        n: { run: echo n >> trace, priority: normal }
        h: { run: echo h >> trace, priority: high }
        vh: { run: echo vh >> trace, priority: very_high }
        five: { run: echo five >> trace, priority: 5 }
        minus5: { run: echo minus5 >> trace, priority: -5 }
      """)
    #expect(order == ["vh", "five", "h", "n", "l", "minus5", "vl"])
  }

  @Test func `a task inherits the priority of what waits for it`() throws {
    let order = try order(
      """
      tasks:
        plain: { run: echo plain >> trace, priority: 5 }
        deep: { run: echo deep >> trace, priority: very_low }
        middle: { needs: [deep], run: echo middle >> trace }
        urgent: { needs: [middle], run: echo urgent >> trace, priority: very_high }
      """)
    #expect(order == ["deep", "middle", "urgent", "plain"])
  }

  @Test func `among equals the start of the longest path comes first`() throws {
    let order = try order(
      """
      tasks:
        single: { run: echo single >> trace }
        short1: { run: echo short1 >> trace }
        short2: { needs: [short1], run: echo short2 >> trace }
        long1: { run: echo long1 >> trace }
        long2: { needs: [long1], run: echo long2 >> trace }
        long3: { needs: [long2], run: echo long3 >> trace }
      """)
    #expect(order.first == "long1")
    let long2 = try #require(order.firstIndex(of: "long2"))
    let single = try #require(order.firstIndex(of: "single"))
    #expect(long2 < single)
  }

  @Test func `priority wins over the longest path`() throws {
    let order = try order(
      """
      tasks:
        long1: { run: echo long1 >> trace }
        long2: { needs: [long1], run: echo long2 >> trace }
        single: { run: echo single >> trace, priority: 1 }
      """)
    #expect(order == ["single", "long1", "long2"])
  }

  @Test func `a default priority holds for every task that names none`() throws {
    let order = try order(
      """
      defaults: { priority: high }
      tasks:
        five: { run: echo five >> trace, priority: 3 }
        plain: { run: echo plain >> trace }
      """)
    #expect(order == ["plain", "five"])
  }
}
