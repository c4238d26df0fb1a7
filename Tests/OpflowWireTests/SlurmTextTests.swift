import Testing

@testable import OpflowWire

@Suite("What Slurm's programs say")
struct SlurmTextTests {
  @Test(arguments: [
    ("n1", ["n1"]),
    ("n[1-3]", ["n1", "n2", "n3"]),
    ("n[1-2,07,09-11]", ["n1", "n2", "n07", "n09", "n10", "n11"]),
    ("a,b[8-10]-x,c", ["a", "b8-x", "b9-x", "b10-x", "c"]),
    ("r[0-1]n[08-09]", ["r0n08", "r0n09", "r1n08", "r1n09"]),
    ("node-1.cluster.example", ["node-1.cluster.example"]),
  ])
  func `a list of nodes stands for their names, in its order`(_ text: String, _ names: [String]) {
    #expect(NodeList.names(text) == names)
  }

  @Test(arguments: [
    "", ",", "a,", "n[", "n[]", "n[1", "n]", "n[1-]", "n[-1]", "n[3-1]", "n[a]", "n[1-2-3]",
    "n[1,,2]", "n[0-99999999999999999999]", "n[0-65536]", "a[0-999]b[0-999]", "a b", "(null)[",
  ])
  func `what is no list of nodes stands for none`(_ text: String) {
    #expect(NodeList.names(text) == nil)
  }

  @Test func `counts are one a node`() {
    #expect(NodeList.counts("4(x3),2") == [4, 4, 4, 2])
    #expect(NodeList.counts("16") == [16])
    for text in ["", "4(x0)", "4(x", "4(3)", "(x3)", "4,", "x", "4(x99999999)", "-1(x2)"] {
      #expect(NodeList.counts(text) == nil, "\(text)")
    }
  }

  @Test func `a job has as many counts as nodes`() throws {
    let job = try #require(SlurmJob(id: 7, nodes: "n[1-2],m", cpus: "4(x2),16"))
    #expect(job.nodes.map(\.name) == ["n1", "n2", "m"])
    #expect(job.nodes.map(\.cpus) == [4, 4, 16])
    #expect(SlurmJob(id: 7, nodes: "n[1-2]", cpus: "4") == nil)
    #expect(SlurmJob(id: 7, nodes: "n1", cpus: "0") == nil)
    #expect(SlurmJob(id: 0, nodes: "n1", cpus: "4") == nil)
    let words = job.transport(to: job.nodes[2])
    #expect(words.contains("--nodelist=m"))
    #expect(words.contains("--cpus-per-task=16"))
    #expect(words.contains("--jobid=7"))
  }

  @Test func `an agent is ended by its step alone, and never all of a job`() throws {
    let job = try #require(SlurmJob(id: 7, nodes: "n1", cpus: "4"))
    #expect(job.killWords(job: "7", step: "3") == ["scancel", "--signal=KILL", "7.3"])
    for (said, step) in [
      ("7", ""), ("", "3"), ("", ""), ("8", "3"), ("7", "3 8"), ("7", "batch"), ("7", "-1"),
      ("7", "3.1"), ("7_1", "3"),
    ] {
      #expect(job.killWords(job: said, step: step) == nil, "\(said).\(step)")
    }
  }

  @Test(
    arguments: [
      ("4:39", 279), ("0:00", 0), ("1:00:00", 3600), ("2-01:00:05", 176_405),
      ("UNLIMITED", nil), ("NOT_SET", nil), ("INVALID", nil), ("", nil), ("5", nil),
      ("1:2:3:4", nil),
      ("-1:00", nil), ("x-1:00", nil), ("1-", nil), ("99999999999999999999:00", nil),
    ] as [(String, Int64?)])
  func `the time left is read as squeue writes it`(_ text: String, _ seconds: Int64?) {
    #expect(SlurmQuery.answer("RUNNING|\(text)|None")?.secondsLeft == seconds)
  }

  @Test func `a job's state and the reason for it are read`() throws {
    let pending = try #require(SlurmQuery.answer("PENDING|5:00|Resources"))
    #expect(pending.state == .pending)
    #expect(pending.reason == "Resources")
    let running = try #require(SlurmQuery.answer("RUNNING|4:39|None"))
    #expect(running.state == .running)
    #expect(running.reason == nil)
    #expect(SlurmQuery.answer("TIMEOUT|0:00|TimeLimit")?.state == .over)
    #expect(SlurmQuery.answer("COMPLETING|0:00|None")?.state == .over)
    #expect(SlurmQuery.answer("") == nil)
    #expect(SlurmQuery.answer("slurm_load_jobs error: Invalid job id specified") == nil)
  }

  @Test func `salloc's words give the job, the facts and the complaints`() throws {
    #expect(SlurmAsking.job("salloc: Pending job allocation 23") == 23)
    #expect(SlurmAsking.job("salloc: Granted job allocation 24") == 24)
    #expect(SlurmAsking.job("salloc: job 23 queued and waiting for resources") == nil)
    let facts = try #require(SlurmAsking.facts("opflow-allocation\t24\tn[1-2]\t4(x2)"))
    #expect(facts == (24, "n[1-2]", "4(x2)"))
    #expect(SlurmAsking.facts("welcome to the cluster") == nil)
    #expect(SlurmAsking.facts("opflow-allocation\tx\tn1\t4") == nil)
    #expect(
      SlurmAsking.complaint(
        "salloc: error: Job submit/allocate failed: Invalid partition name specified")
        == "Job submit/allocate failed: Invalid partition name specified")
    #expect(
      SlurmAsking.complaint("salloc: Job allocation 46 has been revoked.")
        == "Job allocation 46 has been revoked.")
    for line in [
      "salloc: Pending job allocation 23", "salloc: job 23 queued and waiting for resources",
      "salloc: job 23 has been allocated resources", "salloc: Nodes n1 are ready for job", "",
      "salloc: Relinquishing job allocation 23",
    ] {
      #expect(SlurmAsking.complaint(line) == nil, "\(line)")
    }
  }

  @Test func `an option is salloc's as it stands`() {
    let words = SlurmAsking.words(options: ["-N", "4", "--comment=a b"])
    #expect(words.prefix(5) == ["salloc", "--kill-command=KILL", "-N", "4", "--comment=a b"])
  }
}
