import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

/// In which order an engine has things done: lines, syncs and messages.
@Suite struct EngineTests {
  /// A host that does nothing by itself.
  private struct Host {
    let own: OwnEngine
    var engine: Engine {
      _read { yield own.engine }
      _modify { yield &own.engine }
    }
    var now = Instant(nanoseconds: 0)
    let plan: Plan
    private var place: UInt64 = 0

    init(_ durability: Durability, _ fill: (inout PlanMaker) -> Void) throws {
      var maker = PlanMaker()
      fill(&maker)
      plan = try maker.make()
      let options = SchedulerOptions(
        maxParallel: 2, memoryBytes: 1 << 30, maxFailures: 1, seed: 1)
      own = OwnEngine(
        Engine(
          plan: plan, options: options,
          resumeState: ResumeState(
            initial: [InitialState](repeating: .run, count: plan.taskCount),
            attempts: [Int32](repeating: 0, count: plan.taskCount)),
          journal: JournalEncoder(), durability: durability,
          opening: [
            .open(
              OpenEntry(
                run: "r", planKey: "0", opflowVersion: "0", manifestPath: "/m.yaml", folder: "/"))
          ]))
      engine.begin(at: now, wall: 1)
    }

    mutating func handle(_ fact: EngineFact) { engine.handle(fact, at: now, wall: 1) }

    /// The sync that was asked for last is over.
    mutating func takeSync() { handle(.synced(upTo: place)) }

    /// The words of the next steps, until one must be answered.
    mutating func steps() -> [String] {
      var words: [String] = []
      while let step = engine.next(at: now) {
        words.append(word(step))
        switch step {
        case .write: return words
        case .sync(let place, _):
          self.place = place
          return words
        default: break
        }
      }
      return words
    }

    private func word(_ step: EngineStep) -> String {
      switch step {
      case .tell(.transition(let line)): "\(line.event.kind.word) \(plan.nameString(line.task))"
      case .tell(.open): "open"
      case .tell(.worker): "worker"
      case .tell(.close): "close"
      case .tell(.resume): "resume"
      case .tell(.request(let request)): "request \(request.id.text)"
      case .tell(.extend(let entry)): "extend \(entry.id.text)"
      case .tell(.retract(let entry)): "withdraw \(entry.requests)"
      case .tell(.stop(let stop)): "stop by \(stop.signal)"
      case .tell(.node(let node)): "site \(node.node.rawValue) \(node.state.rawValue)"
      case .answer(_, let id, let answer): "answer \(id.text) \(answer)"
      case .began(let task, _): "began \(plan.nameString(task))"
      case .launch: "launch"
      case .slot: "seat"
      case .retract: "withdraw"
      case .discard: "discard"
      case .write: "write"
      case .sync(_, let kind): "sync \(kind)"
      case .send(_, .run(let task, _)): "run \(plan.nameString(task))"
      case .send(_, .stop(let task, _, _)): "stop \(plan.nameString(task))"
      case .send(_, let message): "\(message)"
      case .dismiss: "dismiss"
      case .finish(let entry): "finish \(entry.exitCode)"
      case .passOn(let held): "pass on \(held.map { plan.nameString($0.service) })"
      }
    }

    /// Answers whatever is to be answered, until there is nothing to do.

    mutating func startFirst() -> [String] {
      var all: [String] = []
      while true {
        let next = steps()
        all += next
        if next.last == "write" {
          handle(.wrote)
        } else if next.last?.hasPrefix("sync") == true {
          takeSync()
        } else {
          return all
        }
      }
    }
  }

  private static func one(_ maker: inout PlanMaker) { maker.add("a") }

  @Test func `nothing is launched before the first lines are written`() throws {
    var host = try Host(.group, Self.one)
    #expect(host.steps() == ["open", "write"])
    host.handle(.wrote)
    #expect(host.steps() == ["launch", "sync first"])
  }

  @Test func `a task starts once its line is written and the beginning is on the disk`() throws {
    var host = try Host(.group, Self.one)
    _ = host.steps()
    host.handle(.wrote)
    _ = host.steps()
    // The worker is quicker than the disk.
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    #expect(host.steps() == ["start a", "write"])
    host.handle(.wrote)
    #expect(host.steps() == [])
    host.takeSync()
    #expect(host.steps() == ["run a"])
  }

  @Test func `with each no message goes before its line is synced`() throws {
    var host = try Host(.each, Self.one)
    _ = host.startFirst()
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    #expect(host.steps() == ["start a", "write"])
    host.handle(.wrote)
    #expect(host.steps() == ["sync grouped"])
    #expect(host.steps() == [])
    host.takeSync()
    #expect(host.steps() == ["run a"])
  }

  @Test func `the start of a task that must not run twice is synced at once, others are not`()
    throws
  {
    var host = try Host(.group) {
      $0.add("a") { $0.flags.insert(.failWhenInterrupted) }
      $0.add("b")
    }
    _ = host.startFirst()
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    host.handle(.scheduler(.workerReady(WorkerID(1))))
    #expect(host.steps() == ["start a", "start b", "write"])
    host.handle(.wrote)
    #expect(host.steps() == ["run b", "sync grouped"])
    host.takeSync()
    #expect(host.steps() == ["run a"])
  }

  @Test func `with group a sync is due ten milliseconds after a line that none covers`() throws {
    var host = try Host(.group, Self.one)
    _ = host.startFirst()
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    _ = host.steps()
    host.now = host.now.advanced(byMilliseconds: 5)
    host.handle(.wrote)
    #expect(host.steps() == ["run a"])
    #expect(host.own.nextWake == host.now.advanced(byMilliseconds: 10))
    host.now = host.now.advanced(byMilliseconds: 10)
    #expect(host.steps() == ["sync grouped"])
    // No other while one is under way.
    host.now = host.now.advanced(byMilliseconds: 50)
    #expect(host.steps() == [])
  }

  @Test func `the workers are dismissed while the last line goes to the disk`() throws {
    var host = try Host(.group, Self.one)
    _ = host.startFirst()
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    _ = host.startFirst()
    let end = Outcome(status: .success)
    host.handle(.scheduler(.ended(WorkerID(0), TaskID(0), attempt: 1, end)))
    #expect(host.steps() == ["success a", "close", "write"])
    host.handle(.wrote)
    #expect(host.steps() == ["dismiss", "sync last"])
    host.takeSync()
    #expect(host.steps() == ["finish 0"])
    #expect(host.steps() == [])
    #expect(host.own.nextWake == nil)
  }

  @Test func `what was not sent when a write fails is taken back, and nothing starts`() throws {
    var host = try Host(.none) {
      $0.add("a")
      $0.add("b", needs: ["a"])
    }
    _ = host.startFirst()
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    #expect(host.steps() == ["start a", "write"])
    host.handle(.journalFailed)
    #expect(host.steps() == ["interrupt a", "close", "dismiss", "finish 74"])
    #expect(host.own.unwritten.isEmpty)
  }

  @Test func `a block that has its end before its start is written is not taken back as well`()
    throws
  {
    var host = try Host(.none) { $0.add("a") { $0.kind = .block } }
    _ = host.startFirst()
    host.handle(.scheduler(.block(ClientID(1), .joined)))
    host.handle(.scheduler(.block(ClientID(1), .offers(TaskID(0)))))
    #expect(host.steps() == ["seat", "start a", "write"])
    host.handle(.scheduler(.kill))
    host.handle(.scheduler(.timer))
    host.handle(.journalFailed)
    #expect(host.steps() == ["cancel a", "close", "dismiss", "finish 74"])
  }

  @Test func `successes that the journal may lack are counted once it fails`() throws {
    var host = try Host(.none) {
      $0.add("a")
      $0.add("b", needs: ["a"])
    }
    _ = host.startFirst()
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    _ = host.startFirst()
    let end = Outcome(status: .success)
    host.handle(.scheduler(.ended(WorkerID(0), TaskID(0), attempt: 1, end)))
    #expect(host.steps() == ["success a", "start b", "write"])
    host.handle(.wrote)
    #expect(host.steps() == ["run b"])
    host.handle(.scheduler(.ended(WorkerID(0), TaskID(1), attempt: 1, end)))
    #expect(host.steps() == ["success b", "close", "write"])
    #expect(host.own.unrecordedSuccesses == 0)
    host.handle(.journalFailed)
    #expect(host.own.unrecordedSuccesses == 1)
    #expect(host.steps() == ["dismiss", "finish 74"])
  }

  @Test func `what runs when a sync fails is stopped`() throws {
    var host = try Host(.group, Self.one)
    _ = host.startFirst()
    host.handle(.scheduler(.workerReady(WorkerID(0))))
    _ = host.startFirst()
    host.handle(.journalFailed)
    #expect(host.steps() == ["stop a"])
    let end = Outcome(status: .signal(15), reason: .stopped(.signal))
    host.handle(.scheduler(.ended(WorkerID(0), TaskID(0), attempt: 1, end)))
    #expect(host.steps() == ["cancel a", "close", "dismiss", "finish 74"])
  }

  @Test func `a signal that comes before the first lines are written starts nothing`() throws {
    var host = try Host(.group, Self.one)
    #expect(host.steps() == ["open", "write"])
    host.handle(.scheduler(.stop(.signal(2))))
    host.handle(.wrote)
    #expect(host.startFirst().last == "finish 130")
    #expect(host.own.state(TaskID(0)) == .ready)
  }

  @Test func `a session whose first lines cannot be written launches nothing`() throws {
    var host = try Host(.group, Self.one)
    #expect(host.steps() == ["open", "write"])
    host.handle(.journalFailed)
    #expect(host.steps() == ["close", "dismiss", "finish 74"])
  }
}
