import Testing

@testable import OpflowCore

/// Parts of the engine against the plainest thing that does the same.
@Suite struct EnginePartsTests {
  @Test(arguments: 1...20)
  func `an indexed heap has the smallest key first, whatever was moved or taken out`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var heap = IndexedHeap<Int>()
    var model: [Int: Int] = [:]
    for _ in 0..<500 {
      let number = Int(random.next() % 40)
      switch random.next() % 3 {
      case 0:
        heap.remove(number)
        model[number] = nil
      default:
        let key = Int(random.next() % 1000)
        heap.set(number, to: key)
        model[number] = key
      }
      #expect(heap.checkInvariants() == nil)
      #expect(heap.first?.key == model.values.min())
      #expect(heap.first.map { model[$0.number] == $0.key } ?? model.isEmpty)
      #expect(Set(heap.numbers) == Set(model.keys))
    }
    heap.removeAll()
    #expect(heap.isEmpty)
    #expect(!heap.contains(3))
  }

  @Test(arguments: 1...20)
  func `ready lanes give the best task of those that are not set aside`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var queues = ReadyQueues(laneCount: 5)
    var model = Array(repeating: Set<Int32>(), count: 5)
    var next: Int32 = 0
    for _ in 0..<200 {
      for _ in 0..<(random.next() % 4) {
        let lane = Int(random.next() % 5)
        // Ranks are given once each, in no order.
        next += 1
        let rank = next ^ 0x55
        queues.push(rank, lane: lane)
        model[lane].insert(rank)
      }
      #expect(queues.first == model.joined().min())
      var aside: Set<Int> = []
      while let (lane, rank) = queues.best {
        let open = (0..<5).filter { !aside.contains($0) }
        #expect(rank == open.compactMap { model[$0].min() }.min())
        if random.next() % 2 == 0 {
          queues.block()
          aside.insert(lane)
        } else {
          #expect(queues.pop(lane) == rank)
          model[lane].remove(rank)
        }
        if random.next() % 8 == 0 { break }
      }
      queues.unblock()
      #expect(queues.checkInvariants() == nil)
      #expect(queues.count == model.reduce(0) { $0 + $1.count })
    }
    #expect(Set(queues.removeAll()) == Set(model.joined()))
    #expect(queues.best == nil)
  }

  @Test func `what was taken before a cut is given back as it was taken`() {
    var grants = Grants()
    grants.addLane([DemandItem(resource: 0, amount: 8)])
    let first = grants.current(0)
    grants.hold(first)
    grants.cut(0, to: [DemandItem(resource: 0, amount: 3)])
    let second = grants.current(0)
    #expect(grants.amount(of: 0, in: first) == 8)
    #expect(grants.amount(of: 0, in: second) == 3)
    #expect(grants.checkInvariants(holding: [first]) == nil)
    // The same once more adds nothing.
    grants.cut(0, to: [DemandItem(resource: 0, amount: 3)])
    #expect(grants.current(0) == second)
    grants.release(first)
    grants.hold(second)
    // The one that nobody holds any more is used again.
    grants.cut(0, to: [DemandItem(resource: 0, amount: 5)])
    #expect(grants.current(0) == first)
    #expect(grants.amount(of: 0, in: second) == 3)
    #expect(grants.checkInvariants(holding: [second]) == nil)
  }
}
