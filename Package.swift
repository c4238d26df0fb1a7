// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // Without this flag, generic types are looked up by their mangled names at run time: the
  // coordinator needs 9 percent more instructions for a run of 1,000 short tasks.
  .unsafeFlags(
    ["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"],
    .when(configuration: .release)),
]

// Static executables start twice as fast as those with only a static standard library. Only in
// release, since static debug builds break `swift test` and the sanitizers. lld makes fewer pages
// than the system's linker, and a short run waits for each page.
let staticExecutable: [LinkerSetting] = [
  .unsafeFlags(["-static-executable", "-use-ld=lld"], .when(configuration: .release))
]

// libcurl is a shared library, so only the runtimes of Swift, C++ and the compiler can be static.
let staticRuntime: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-static-stdlib", "-Xclang-linker", "-static-libgcc",
      "-L\(Context.packageDirectory)/Sources/CTransfer/link",
    ], .when(configuration: .release))
]

// The fuzzer links only with libFuzzer, for which scripts/stress makes a separate build.
let fuzzer: [Target] =
  Context.environment["OPFLOW_FUZZ"] == nil
  ? []
  : [
    .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
    .executableTarget(
      name: "Fuzz", dependencies: ["FuzzEntries", "CFuzzer"], path: "Tests/Fuzz/Runner",
      swiftSettings: swiftSettings),
  ]

// The examples in the library's documentation. Tests run them.
let examples: [Target] = ["Blocks", "Download", "Graph", "Observed", "Serial", "Steering"].map {
  name in
  .executableTarget(
    name: "Example\(name)", dependencies: ["Opflow"], path: "Tests/Examples/\(name)",
    swiftSettings: swiftSettings)
}

// Modules without system calls: each depends on those before it. Base and Plan declare functions of
// hot loops `public`, since the compiler inlines these into other modules, but not `package` ones.
// No product contains these modules.
let base: [Target.Dependency] = ["OpflowBase"]
let plan = base + ["OpflowPlan"]
let wire = plan + ["OpflowWire"]
let journal = wire + ["OpflowJournal"]
let engine = journal + ["OpflowEngine"]

let package = Package(
  name: "opflow",
  products: [
    .executable(name: "opflow", targets: ["opflow"]),
    .executable(name: "opflow-download", targets: ["opflow-download"]),
    .library(name: "Opflow", targets: ["Opflow"]),
  ],
  targets: [
    .target(
      name: "CHash", cSettings: [.unsafeFlags(["-O2"])],
      linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "CLinux", cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra"])]),
    // Embeds the script, style and markup of the HTML report.
    .target(name: "CPage", exclude: ["page"], cSettings: [.unsafeFlags(["-std=c23", "-Wall"])]),
    .target(
      name: "CYAML", cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra"])],
      linkerSettings: [.linkedLibrary("yaml")]),

    .target(name: "OpflowBase", dependencies: ["CHash"], swiftSettings: swiftSettings),
    .target(name: "OpflowPlan", dependencies: base, swiftSettings: swiftSettings),
    .target(name: "OpflowWire", dependencies: plan, swiftSettings: swiftSettings),
    .target(name: "OpflowJournal", dependencies: wire, swiftSettings: swiftSettings),
    .target(name: "OpflowEngine", dependencies: journal, swiftSettings: swiftSettings),
    .target(name: "OpflowViews", dependencies: engine, swiftSettings: swiftSettings),
    .target(
      name: "OpflowReports", dependencies: engine + ["OpflowViews", "CPage"],
      swiftSettings: swiftSettings),
    .target(name: "OpflowDownload", dependencies: wire, swiftSettings: swiftSettings),
    .target(
      name: "OpflowManifest", dependencies: plan + ["CYAML"], swiftSettings: swiftSettings),
    .target(
      name: "OpflowCommandLine", dependencies: wire, swiftSettings: swiftSettings),
    .target(name: "OpflowSystem", dependencies: ["CLinux"], swiftSettings: swiftSettings),
    .target(
      name: "OpflowWorker", dependencies: wire + ["OpflowSystem"],
      swiftSettings: swiftSettings),
    .target(
      name: "OpflowRuntime",
      dependencies: engine + [
        "OpflowReports", "OpflowViews", "OpflowWorker", "OpflowManifest", "OpflowSystem",
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "Opflow",
      dependencies: engine + ["OpflowRuntime", "OpflowManifest", "OpflowSystem"],
      swiftSettings: swiftSettings),
    .target(
      name: "CTransfer", exclude: ["link"], cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra"])],
      linkerSettings: [
        .linkedLibrary("curl"), .linkedLibrary("ssl"), .linkedLibrary("crypto"),
        .linkedLibrary("z"),
      ]),
    .executableTarget(
      name: "opflow-download",
      dependencies: journal + ["OpflowWorker", "OpflowDownload", "OpflowSystem", "CTransfer"],
      swiftSettings: swiftSettings, linkerSettings: staticRuntime),
    .executableTarget(
      name: "opflow",
      dependencies: engine + [
        "OpflowRuntime", "OpflowWorker", "OpflowReports", "OpflowViews", "OpflowManifest",
        "OpflowCommandLine", "OpflowSystem",
      ],
      swiftSettings: swiftSettings, linkerSettings: staticExecutable),

    .testTarget(
      name: "OpflowBaseTests", dependencies: base,
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowPlanTests", dependencies: wire + ["Fixtures"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowWireTests", dependencies: journal + ["Fixtures"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowJournalTests", dependencies: journal + ["Fixtures"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowEngineTests", dependencies: engine + ["Fixtures"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowViewsTests", dependencies: engine + ["OpflowViews", "Fixtures", "Screen"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowReportsTests",
      dependencies: journal + ["OpflowReports", "OpflowViews", "Fixtures"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowWorkerTests", dependencies: plan + ["OpflowWorker"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowDownloadTests", dependencies: wire + ["OpflowDownload"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowManifestTests", dependencies: plan + ["OpflowManifest"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowCommandLineTests", dependencies: plan + ["OpflowCommandLine"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowSystemTests", dependencies: ["OpflowSystem"], swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowRuntimeTests",
      dependencies: engine + ["OpflowRuntime", "OpflowWorker", "OpflowManifest", "OpflowSystem"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "OpflowTests",
      dependencies: plan + ["Opflow", "OpflowRuntime", "OpflowManifest"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "DownloadTests",
      dependencies: journal + [
        "OpflowDownload", "OpflowSystem", "CTransfer", "opflow-download", "Drill",
      ],
      exclude: ["Server"], swiftSettings: swiftSettings),
    // Plans, journals and views that several test modules share.
    .target(
      name: "Fixtures", dependencies: journal + ["OpflowReports", "OpflowViews", "Screen"],
      path: "Tests/Fixtures",
      swiftSettings: swiftSettings),
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    // A simulated terminal for tests of the user interface.
    .target(name: "Screen", path: "Tests/Screen", swiftSettings: swiftSettings),
    // Clients of the library: a benchmark, one that drills kill, one with unusual requests, and one
    // with child processes.
    .executableTarget(
      name: "LibraryBench", dependencies: ["Opflow"], path: "Tests/LibraryBench",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "DrillHost", dependencies: ["Opflow"], path: "Tests/DrillHost",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "ProbeHost", dependencies: ["Opflow"], path: "Tests/ProbeHost",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "QuietHost", dependencies: ["Opflow"], path: "Tests/QuietHost",
      swiftSettings: swiftSettings),
    .testTarget(
      name: "EndToEndTests", dependencies: ["CTestSupport", "Drill", "Injector", "Screen"],
      swiftSettings: swiftSettings),
    // Simulates whole runs: thousands in tests, millions in scripts/stress. Optimised in debug
    // builds, too, for the tests.
    .target(
      name: "Simulation", dependencies: engine + ["OpflowWorker", "OpflowDownload"],
      path: "Tests/Simulation",
      swiftSettings: swiftSettings + [.unsafeFlags(["-O"])]),
    .testTarget(
      name: "SimulationTests", dependencies: ["Simulation"], swiftSettings: swiftSettings),
    // Makes system calls of a run fail.
    .executableTarget(
      name: "Injector", path: "Tests/Injector",
      cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra"])]),
    // Disturbs and kills real runs.
    .target(
      name: "Drill", dependencies: ["CTestSupport"], path: "Tests/Drill",
      swiftSettings: swiftSettings),
    // Properties of all readers of untrusted bytes. Optimised in debug builds, too.
    .target(
      name: "FuzzEntries",
      dependencies: engine + ["OpflowDownload", "OpflowManifest", "OpflowViews"],
      path: "Tests/Fuzz/Entries", swiftSettings: swiftSettings + [.unsafeFlags(["-O"])]),
    .testTarget(
      name: "FuzzTests", dependencies: ["FuzzEntries", "OpflowManifest"],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "Stress", dependencies: engine + ["Simulation", "Drill", "FuzzEntries"],
      path: "Tests/Stress",
      swiftSettings: swiftSettings),
  ] + examples + fuzzer
)
