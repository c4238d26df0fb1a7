import OpflowSystem
import Testing

@Suite struct GraphicsProcessorsTests {
  @Test(
    arguments: [
      ("", []), ("0", ["0"]), ("2,3", ["2", "3"]), (" 1 , 0 ", ["1", "0"]), ("NoDevFiles", []),
      ("0,-1,1", ["0"]), ("GPU-8932f937,MIG-GPU-1/2/3", ["GPU-8932f937", "MIG-GPU-1/2/3"]),
      ("0,,1", ["0"]),
    ] as [(String, [String])])
  func `what the environment names counts, up to the first that is none`(
    _ variable: String, _ names: [String]
  ) {
    #expect(
      GraphicsProcessors.names(variable: variable, devices: { ["nvidia0", "nvidia1"] }) == names)
  }

  @Test func `else each device file counts, from 0 on`() {
    let devices = ["null", "nvidia1", "nvidia3", "nvidiactl", "nvidia", "nvidia-uvm", "nvidia1x"]
    #expect(GraphicsProcessors.names(variable: nil, devices: { devices }) == ["0", "1"])
    #expect(GraphicsProcessors.names(variable: nil, devices: { [] }) == [])
  }
}
