import Testing

@Suite(.whereSlurmIs, .serialized, .onSlurmCluster(gpus: 2))
struct SlurmDeviceTests {
  @Test func `each task has a GPU of its node for itself`() throws {
    let place = try Workplace(
      """
      tasks:
        t:
          matrix: { n: { range: [1, 24] } }
          shell: bash
          resources: { gpu: 1 }
          run: |
            exec 9> "locks/$SLURMD_NODENAME-$CUDA_VISIBLE_DEVICES"
            flock -n 9 || echo "$OPFLOW_TASK" >> twice
            echo "$SLURMD_NODENAME $CUDA_VISIBLE_DEVICES" >> trace
            sleep 0.1
      """)
    try place.shell("mkdir locks")
    let cluster = try #require(SlurmCluster.current)
    try place.opflow(
      "run", "--on", "slurm:-N 2 -c 4 --gres=gpu:2", environment: cluster.environment)
    #expect(place.lines().count == 24)
    #expect(Set(place.lines()) == ["n1 0", "n1 1", "n2 0", "n2 1"])
    #expect(place.lines("twice") == [])
    try place.waitForEmptyQueue()
  }

  @Test func `a batch job's first node counts its GPUs once, for its agent and for the script`()
    throws
  {
    let place = try Workplace(
      DeviceTasks.manifest(machine: "$SLURMD_NODENAME-", mark: "$SLURMD_NODENAME", seconds: 0.1))
    try place.shell("mkdir locks")
    try place.write(
      "night.sh",
      """
      #!/bin/bash
      #SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=4 --gres=gpu:2 --time=5
      exec $opflow run --output line --on slurm
      """)
    let cluster = try #require(SlurmCluster.current)
    try place.shell("sbatch -W -o night.txt night.sh", environment: cluster.environment)
    #expect(place.lines().count == 24)
    #expect(Set(place.lines()) == ["n1", "n2"])
    #expect(place.lines("twice") == [])
    try place.waitForEmptyQueue()
  }

  @Test func `only the GPUs that Slurm gives are used`() throws {
    let place = try Workplace(
      """
      tasks:
        t:
          matrix: { n: { range: [1, 6] } }
          resources: { gpu: 1 }
          run: echo "$CUDA_VISIBLE_DEVICES" >> trace
      """)
    let cluster = try #require(SlurmCluster.current)
    try place.opflow(
      "run", "--on", "slurm:-N 1 -c 4 --gres=gpu:1", environment: cluster.environment)
    #expect(place.lines() == Array(repeating: "0", count: 6))
    try place.waitForEmptyQueue()
  }
}
