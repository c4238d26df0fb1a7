import OpflowWire
import Testing

@testable import OpflowRuntime

@Suite struct AgentMachineTests {
  private func hello(host: String, boot: String, gpus: [String]) -> AgentHello {
    var hello = AgentHello(planKey: "", pid: 1, cores: 1, memoryBytes: 1, host: host)
    hello.bootID = boot
    hello.gpus = gpus
    return hello
  }

  @Test func `GPUs of one name are the same where an agent is on this machine, and else none is`() {
    let machine = AgentMachine { $0 == "SLURMD_NODENAME" ? "n1" : nil }
    func devices(host: String = "n1", boot: String = "b", _ gpus: [String]) -> [Int?] {
      machine.devices(
        alsoOf: hello(host: host, boot: boot, gpus: gpus), bootID: "b", names: ["0", "1", "GPU-x"])
    }
    #expect(devices(["0", "1", "GPU-x"]) == [0, 1, 2])
    #expect(devices(["3", "1"]) == [nil, 1])
    #expect(devices(["3"]) == [])
    #expect(devices(host: "n2", ["0"]) == [])
    #expect(devices(boot: "c", ["0"]) == [])
    #expect(
      machine.devices(alsoOf: hello(host: "n1", boot: "", gpus: ["0"]), bootID: "", names: ["0"])
        == [])
  }
}
