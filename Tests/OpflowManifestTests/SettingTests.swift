import OpflowManifest
import OpflowPlan
import Testing

/// Rules of tasks in the plan: `defaults`, policies, resources, flags.
struct SettingTests {
  @Test func `a task without rules has opflow's own`() throws {
    let plan = try plan("tasks: { a: { run: x } }")
    let policy = plan.policy(try plan.id("a"))
    #expect(policy == TaskPolicy())
    #expect(policy.retryMax == 0)
    #expect(policy.stopSignal == 15)
    #expect(try plan.demandTexts("a") == ["cpu=1"])
    #expect(plan.flags(try plan.id("a")) == [])
    #expect(plan.manifest.maxFailures == 1)
    #expect(plan.manifest.maxParallel == 0)
    #expect(plan.manifest.keepRuns == 50)
    #expect(plan.resources.map { plan.string($0.name) } == ["cpu", "memory", "download"])
    #expect(plan.resources.map(\.capacity) == [0, 0, 0])
  }

  @Test func `a manifest says how many of its runs are kept`() throws {
    #expect(try plan("keep_runs: 7\ntasks: { a: { run: x } }").manifest.keepRuns == 7)
  }

  @Test func `a manifest says which runs are a group`() throws {
    let group = try plan(
      """
      vars: { to: x }
      concurrency: deploy-${{ vars.to }}
      if_running: wait
      tasks: { a: { run: x } }
      """
    )
    #expect(group.concurrency == RunConcurrency(name: "deploy-x", ifRunning: .wait))
    #expect(try plan("tasks: { a: { run: x } }").concurrency == RunConcurrency())
  }

  @Test func `all rules are read`() throws {
    let plan = try plan(
      """
      tasks:
        a:
          run: x
          timeout: 1h30m
          retry: { max: 2, delay: 500ms, backoff: 1.5, max_delay: 1m, jitter: 0.25, exit_codes: [75, 1] }
          stop: { signal: SIGINT, grace: 1.5s }
          priority: very_high
          allow_failure: [2, 3]
          finally: true
          on_interrupted: fail
          desc: what it does
          tags: [slow, net]
      """)
    let task = try plan.id("a")
    let policy = plan.policy(task)
    #expect(policy.timeoutMilliseconds == 5_400_000)
    #expect(policy.retryMax == 2)
    #expect(policy.retryDelayMilliseconds == 500)
    #expect(policy.retryBackoffPermille == 1500)
    #expect(policy.retryMaxDelayMilliseconds == 60_000)
    #expect(policy.retryJitterPermille == 250)
    #expect(Array(plan.codeList(policy.retryCodes)) == [75, 1])
    #expect(policy.stopSignal == 2)
    #expect(policy.stopGraceMilliseconds == 1500)
    #expect(plan.priority[task.index] == 8)
    #expect(Array(plan.codeList(plan.record(task).allowedCodes)) == [2, 3])
    #expect(plan.flags(task) == [.finally, .failWhenInterrupted])
    #expect(plan.description(of: task) == "what it does")
    let tags: [String] = plan.texts(.tags, of: task).map { plan.string($0) }
    #expect(tags == ["slow", "net"])
  }

  @Test(arguments: [
    ("{ delay: 1h }", 3_600_000), ("{ delay: 2s }", 60_000),
    ("{ delay: 1h, max_delay: 5m }", 300_000),
  ])
  func `the default limit does not cut a longer first delay`(retry: String, most: UInt32) throws {
    let plan = try plan("tasks: { a: { run: x, retry: \(retry) } }")
    #expect(plan.policy(try plan.id("a")).retryMaxDelayMilliseconds == most)
  }

  @Test func `maps in defaults and a task merge key by key`() throws {
    let plan = try plan(
      """
      resources: { net: 2 }
      defaults:
        retry: { max: 5, delay: 3s, exit_codes: [75] }
        stop: { signal: INT, grace: 9s }
        resources: { net: 1 }
        timeout: 10s
        priority: low
        on_interrupted: fail
      tasks:
        a: { run: x, retry: 1, stop: { grace: 1s }, resources: { cpu: 2 } }
        b: { run: x, retry: { delay: 1s }, resources: { net: 0 }, timeout: 0, on_interrupted: rerun }
        c: { run: x }
      """)
    let a = plan.policy(try plan.id("a"))
    #expect(a.retryMax == 1)
    #expect(a.retryDelayMilliseconds == 3000)
    #expect(Array(plan.codeList(a.retryCodes)) == [75])
    #expect(a.stopSignal == 2)
    #expect(a.stopGraceMilliseconds == 1000)
    #expect(a.timeoutMilliseconds == 10_000)
    #expect(try plan.demandTexts("a") == ["cpu=2", "net=1"])
    let b = plan.policy(try plan.id("b"))
    #expect(b.retryMax == 5)
    #expect(b.retryDelayMilliseconds == 1000)
    #expect(b.timeoutMilliseconds == 0)
    #expect(try plan.demandTexts("b") == ["cpu=1"])
    #expect(plan.flags(try plan.id("b")) == [])
    #expect(try plan.demandTexts("c") == ["cpu=1", "net=1"])
    #expect(plan.flags(try plan.id("c")) == [.failWhenInterrupted])
    #expect(Array(plan.priority) == [-4, -4, -4])
  }

  @Test func `a demand of zero overrides the default`() throws {
    let plan = try plan("tasks: { a: { run: x, resources: { cpu: 0 } } }")
    #expect(try plan.demandTexts("a") == [])
  }

  @Test func `defaults may use the task ID`() throws {
    let plan = try plan(
      """
      defaults: { dir: "work/${{ task.id }}", env: { ME: "${{ task.id }}" }, timeout: 5s }
      tasks:
        a: { run: x }
        b: { run: x, env: { OTHER: "1" } }
      """)
    #expect(try plan.directoryText("a") == "/data/project/work/a")
    #expect(try plan.directoryText("b") == "/data/project/work/b")
    #expect(try plan.environmentTexts("a") == ["ME=a"])
    #expect(try plan.environmentTexts("b") == ["ME=b", "OTHER=1"])
    #expect(plan.policy(try plan.id("b")).timeoutMilliseconds == 5000)
  }

  @Test func `the top level goes into the plan`() throws {
    let plan = try plan(
      """
      version: 1
      name: release
      desc: build it
      max_parallel: 3
      max_failures: 0
      resources: { memory: 4GiB, net: 2, disk: 1.5GB, download: 9 }
      tasks: { a: { run: x, resources: { memory: 2GiB, disk: 500MB } } }
      """)
    #expect(plan.string(plan.manifest.name) == "release")
    #expect(plan.string(plan.manifest.description) == "build it")
    #expect(plan.string(plan.manifest.folder) == "/data/project")
    #expect(plan.manifest.maxParallel == 3)
    #expect(plan.manifest.maxFailures == 0)
    #expect(
      plan.resources.map { "\(plan.string($0.name))=\($0.capacity)" }
        == ["cpu=0", "memory=4294967296", "download=9", "net=2000", "disk=1500000000000"])
    #expect(try plan.demandTexts("a") == ["cpu=1", "memory=2147483648", "disk=500000000"])
  }

  @Test func `a resource of the manifest's own is counted in thousandths`() throws {
    let plan = try plan(
      """
      resources: { gpu: 1.5, tiny: 0.001, disk: 16PiB }
      tasks:
        a: { run: x, resources: { gpu: 0.5, tiny: 0.001, disk: 1B } }
        b: { run: x, resources: { gpu: 1.125 } }
        c: { run: x, resources: { gpu: 1.50 } }
        d: { run: x, resources: { gpu: 0.0 } }
      """)
    let capacities: [UInt64] = [1500, 1, (16 << 50) * 1000]
    #expect(plan.resources.suffix(3).map(\.capacity) == capacities)
    #expect(try plan.demandTexts("a") == ["cpu=1", "gpu=0.5", "tiny=0.001", "disk=1"])
    #expect(try plan.demandTexts("b") == ["cpu=1", "gpu=1.125"])
    #expect(try plan.demandTexts("c") == ["cpu=1", "gpu=1.5"])
    #expect(try plan.demandTexts("d") == ["cpu=1"])
  }

  @Test func `the file's name replaces a missing name`() throws {
    let plan = try plan("tasks: { a: { run: x } }")
    #expect(plan.string(plan.manifest.name) == "m")
  }

  @Test func `a demand above the limit of cpu or memory is kept, with a warning`() throws {
    let compiled = try compile(
      """
      tasks:
        a: { run: x, resources: { cpu: 64, memory: 1TiB } }
        b: { run: x, resources: { cpu: 8 } }

      """
    )
    #expect(
      compiled.warnings.map { "\($0.line):\($0.column): \($0.message)" } == [
        "2:34: `cpu: 64` is more than the limit of 8; the task will run alone",
        "2:46: `memory: 1TiB` is more than the limit of 16GiB; the task will run alone",
      ])
    let plan = try Plan(copying: compiled.planBytes)
    #expect(try plan.demandTexts("a") == ["cpu=64", "memory=1099511627776"])
  }

  @Test func `-j sets the limit of cpu for the warning`() throws {
    let text = "max_parallel: 4\ntasks: { a: { run: x, resources: { cpu: 6 } } }"
    #expect(try compile(text).warnings.count == 1)
    #expect(try compile(text, maxParallel: 6).warnings.isEmpty)
    #expect(try compile("tasks: { a: { run: x, resources: { cpu: 6 } } }").warnings.isEmpty)
  }
}
