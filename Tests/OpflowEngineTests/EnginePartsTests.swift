import Testing

@testable import OpflowBase
@testable import OpflowEngine
@testable import OpflowJournal
@testable import OpflowPlan

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
      let (problem, first, numbers) = (heap.checkInvariants(), heap.first, heap.numbers)
      #expect(problem == nil)
      #expect(first?.key == model.values.min())
      #expect(first.map { model[$0.number] == $0.key } ?? model.isEmpty)
      #expect(Set(numbers) == Set(model.keys))
    }
    heap.removeAll()
    let (isEmpty, hasOne) = (heap.isEmpty, heap.contains(3))
    #expect(isEmpty)
    #expect(!hasOne)
  }

  @Test(arguments: 1...20)
  func `ready lanes give the best task of those that are not set aside`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var queues = ReadyQueues(classCount: 5)
    var model = Array(repeating: Set<Int32>(), count: 5)
    var next: Int32 = 0
    for _ in 0..<200 {
      for _ in 0..<(random.next() % 4) {
        let demandClass = Int(random.next() % 5)
        // Ranks are given once each, in no order.
        next += 1
        let rank = next ^ 0x55
        queues.push(rank, demandClass: demandClass)
        model[demandClass].insert(rank)
      }
      let first = queues.first
      #expect(first == model.joined().min())
      var aside: Set<Int> = []
      while let (demandClass, rank) = queues.best {
        let open = (0..<5).filter { !aside.contains($0) }
        #expect(rank == open.compactMap { model[$0].min() }.min())
        if random.next() % 2 == 0 {
          queues.block()
          aside.insert(demandClass)
        } else {
          let popped = queues.pop(demandClass)
          #expect(popped == rank)
          model[demandClass].remove(rank)
        }
        if random.next() % 8 == 0 { break }
      }
      queues.unblock()
      let (problem, count) = (queues.checkInvariants(), queues.count)
      #expect(problem == nil)
      #expect(count == model.reduce(0) { $0 + $1.count })
    }
    let rest = queues.removeAll()
    #expect(Set(rest) == Set(model.joined()))
    let isOver = queues.best == nil
    #expect(isOver)
  }

  @Test func `what was taken before a cut is given back as it was taken`() {
    var grants = Grants()
    grants.addClass([DemandItem(resource: 0, amount: 8)])
    let first = grants.current(0)
    grants.hold(first)
    grants.cut(0, to: [DemandItem(resource: 0, amount: 3)])
    let second = grants.current(0)
    var amounts = [grants.amount(of: 0, in: first), grants.amount(of: 0, in: second)]
    #expect(amounts == [8, 3])
    var problem = grants.checkInvariants(holding: [first])
    #expect(problem == nil)
    // The same once more adds nothing.
    grants.cut(0, to: [DemandItem(resource: 0, amount: 3)])
    var current = grants.current(0)
    #expect(current == second)
    grants.release(first)
    grants.hold(second)
    // The one that nobody holds any more is used again.
    grants.cut(0, to: [DemandItem(resource: 0, amount: 5)])
    current = grants.current(0)
    #expect(current == first)
    amounts = [grants.amount(of: 0, in: second)]
    #expect(amounts == [3])
    problem = grants.checkInvariants(holding: [second])
    #expect(problem == nil)
  }

  @Test(arguments: 1...20)
  func `steps come out in the order in which they went in, however many wait`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let queue = StepQueue(capacity: 2)
    var model: [EngineStep] = []
    for number in 0..<2000 {
      if random.next() % 5 < 3 {
        // One that is moved, and one that holds something.
        var transition = Transition(.failure, TaskID(number))
        if number % 3 == 0 { transition.detail = "step number \(number), which is told at length" }
        queue.append(.tell(.transition(transition)))
        model.append(.tell(.transition(transition)))
      } else if !queue.isEmpty {
        let isTold = queue.firstIs { if case .tell = $0 { true } else { false } }
        #expect(isTold)
        let step = queue.removeFirst()
        #expect(step == model.removeFirst())
      }
      let isEmpty = queue.isEmpty
      #expect(isEmpty == model.isEmpty)
    }
  }

  @Test(arguments: 1...20)
  func `a table has what an array would have`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var table = Table(repeating: "", count: 3)
    var model = ["", "", ""]
    for number in 0..<500 {
      let text = "value \(number), too long to lie in its place"
      switch random.next() % 6 {
      case 0...1:
        table.append(text)
        model.append(text)
      case 2:
        table.append(repeating: text, count: 2)
        model += [text, text]
      case 3:
        let last = table.popLast()
        #expect(last == model.popLast())
      case 4 where !model.isEmpty:
        let place = Int(random.next() % UInt64(model.count))
        let moved = table.removeBySwapping(at: place)
        #expect(moved == model.removeBySwapping(at: place))
      case 5 where !model.isEmpty:
        let place = Int(random.next() % UInt64(model.count))
        table[place] += text
        model[place] += text
      default: break
      }
      let (all, last) = (table.all, table.last)
      #expect(all == model)
      #expect(last == model.last)
    }
    table.removeAll()
    let isEmpty = table.isEmpty
    #expect(isEmpty)
  }

  @Test func `what a table still has goes with it`() {
    final class Thing {}
    weak var inTable: Thing?
    do {
      let thing = Thing()
      inTable = thing
      var table = Table<Thing>()
      table.append(thing)
      table.append(Thing())
      let count = table.count
      #expect(count == 2)
    }
    #expect(inTable == nil)
  }

  @Test func `each kind of worker has a value of its own`() {
    var counts = ByKind { Int($0.rawValue) * 10 }
    for kind in WorkerKind.allCases { counts[kind] += 1 }
    for kind in WorkerKind.allCases { #expect(counts[kind] == Int(kind.rawValue) * 10 + 1) }
  }
}
