import Testing

/// GPUs of tasks. The tests need no GPU, because opflow only passes names.
@Suite struct DeviceTests {
  @Test
  func `each task gets its own GPUs in CUDA_VISIBLE_DEVICES, by the names given to the run`() throws
  {
    let place = try Workplace(
      """
      tasks:
        a: { resources: { gpu: 1 }, run: 'echo "$CUDA_VISIBLE_DEVICES" > a; until [ -e b ]; do sleep 0.01; done' }
        b: { resources: { gpu: 1 }, run: 'echo "$CUDA_VISIBLE_DEVICES" > b.new; mv b.new b; until [ -e a ]; do sleep 0.01; done' }
        both: { needs: [a, b], resources: { gpu: 2 }, env: { CUDA_VISIBLE_DEVICES: mine }, run: 'echo "$CUDA_VISIBLE_DEVICES" > both' }
        none: { run: 'echo "${CUDA_VISIBLE_DEVICES-unset}" > none' }
        own: { env: { CUDA_VISIBLE_DEVICES: '0' }, run: 'echo "$CUDA_VISIBLE_DEVICES" > own' }
      """)
    try place.opflow("run", "-j", "4", environment: ["CUDA_VISIBLE_DEVICES": "7,GPU-x"])
    let own = try [place.text("a"), place.text("b")]
    #expect(own.sorted() == ["7\n", "GPU-x\n"])
    #expect(try place.text("both") == "7,GPU-x\n")
    // A task without GPUs sees none, unless it sets the variable itself.
    #expect(try place.text("none") == "\n")
    #expect(try place.text("own") == "0\n")
  }

  @Test func `a task that needs more GPUs than the machine has is an error before the run`() throws
  {
    let place = try Workplace(
      """
      tasks:
        first: { run: touch first }
        train: { needs: [first], resources: { gpu: 2 }, run: 'true' }
      """)
    for devices in ["", "0"] {
      let run = try place.opflow(
        "run", status: 3, environment: ["CUDA_VISIBLE_DEVICES": devices])
      let count = devices.isEmpty ? "none" : "1"
      #expect(
        run.errors
          == "opflow: task train needs 2 GPUs; this machine has \(count) (opflow looked at"
          + " CUDA_VISIBLE_DEVICES, SLURM_STEP_GPUS and /dev/nvidia*)\n")
    }
    #expect(!place.exists("first"))
    // A skipped task needs no GPU.
    try place.opflow("run", "--skip", "train", environment: ["CUDA_VISIBLE_DEVICES": ""])
    try place.opflow("run", environment: ["CUDA_VISIBLE_DEVICES": "0,1"])
    try place.opflow("plan", environment: ["CUDA_VISIBLE_DEVICES": ""])
  }

  @Test func `a check warns of a task that needs more GPUs than this machine has`() throws {
    let place = try Workplace(
      """
      tasks:
        few: { resources: { gpu: 1 }, run: 'true' }
        train: { resources: { gpu: 2 }, run: 'true' }
      """)
    for task in ["", "train"] {
      func check(_ devices: String) throws -> String {
        try place.shell(
          """
          CUDA_VISIBLE_DEVICES=\(devices) "$opflow" check \
          \(task.isEmpty ? "" : "opflow.yaml \(task)") 2>&1
          """
        ).output
      }
      let told = try check("0")
      #expect(
        told.contains("warning: task train needs 2 GPUs; this machine has 1 (opflow looked at"),
        "\(told)")
      #expect(try !check("0,1").contains("warning"))
    }
  }

  @Test func `without tasks that need GPUs, tasks inherit CUDA_VISIBLE_DEVICES`() throws {
    let place = try Workplace(
      "tasks:\n  a: { run: 'echo \"${CUDA_VISIBLE_DEVICES-unset}\" >> a' }\n")
    try place.opflow("run", environment: ["CUDA_VISIBLE_DEVICES": "7"])
    #expect(try place.text("a") == "7\n")
  }

  @Test func `a manifest can declare the resource gpu itself`() throws {
    let place = try Workplace(
      """
      resources: { gpu: 1 }
      tasks:
        a: { resources: { gpu: 0.5 }, run: 'echo "$CUDA_VISIBLE_DEVICES" > a' }
      """)
    try place.opflow("run", environment: ["CUDA_VISIBLE_DEVICES": "3"])
    #expect(try place.text("a") == "3\n")
  }
}
