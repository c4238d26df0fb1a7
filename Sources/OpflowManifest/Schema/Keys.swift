// The keys of every map in a manifest with a fixed set of them: the one place where a key has its word
// and its owner.

enum ManifestKey: Int, SchemaKey {
  /// What has these keys, as mistakes call it.
  static let owner: StaticString = "the manifest"

  case version, name, desc, maxParallel, maxFailures, vars, env, resources, defaults, include
  case envFile, secrets, keepRuns, concurrency, ifRunning
  case tasks

  var name: StaticString {
    switch self {
    case .version: "version"
    case .name: "name"
    case .desc: "desc"
    case .maxParallel: "max_parallel"
    case .maxFailures: "max_failures"
    case .vars: "vars"
    case .env: "env"
    case .resources: "resources"
    case .defaults: "defaults"
    case .include: "include"
    case .envFile: "env_file"
    case .secrets: "secrets"
    case .keepRuns: "keep_runs"
    case .concurrency: "concurrency"
    case .ifRunning: "if_running"
    case .tasks: "tasks"
    }
  }

  /// Those that are about the whole run, and so stand in no included file.
  static let ofRootOnly: [ManifestKey] = [
    .maxParallel, .maxFailures, .resources, .secrets, .keepRuns, .concurrency, .ifRunning,
  ]
}

enum TaskKey: Int, SchemaKey {
  /// What has these keys, as mistakes call it.
  static let owner: StaticString = "a task"

  case run, download, needs, priority, env, dir, shell, timeout, retry, stop, allowFailure
  case resources, condition, matrix, inputs, outputs, finally, onInterrupted, secrets, desc, tags
  case manual, interactive, control, approve, cache, service, jobserver, memoryLimit, local, block

  var name: StaticString {
    switch self {
    case .run: "run"
    case .download: "download"
    case .needs: "needs"
    case .priority: "priority"
    case .env: "env"
    case .dir: "dir"
    case .shell: "shell"
    case .timeout: "timeout"
    case .retry: "retry"
    case .stop: "stop"
    case .allowFailure: "allow_failure"
    case .resources: "resources"
    case .condition: "if"
    case .matrix: "matrix"
    case .inputs: "inputs"
    case .outputs: "outputs"
    case .finally: "finally"
    case .onInterrupted: "on_interrupted"
    case .secrets: "secrets"
    case .desc: "desc"
    case .tags: "tags"
    case .manual: "manual"
    case .interactive: "interactive"
    case .control: "control"
    case .approve: "approve"
    case .cache: "cache"
    case .service: "service"
    case .jobserver: "jobserver"
    case .memoryLimit: "memory_limit"
    case .local: "local"
    case .block: "block"
    }
  }

  /// Those that say what a task does: it has one of them.
  static let actions: [TaskKey] = [.run, .download, .approve, .block]

  /// Those of a task without an action, which is a name for the tasks that it needs.
  static let ofNames: [TaskKey] = [
    .needs, .desc, .tags, .manual, .condition, .priority, .matrix, .finally,
  ]

  /// Those that say nothing of a question.
  static let notOfGates: [TaskKey] = [
    .env, .dir, .shell, .retry, .stop, .resources, .inputs, .outputs, .finally, .onInterrupted,
    .secrets, .interactive, .control, .cache, .jobserver, .memoryLimit,
  ]

  /// Those that say nothing of what a program does that offers it.
  static let notOfBlocks: [TaskKey] = [
    .env, .dir, .shell, .inputs, .outputs, .finally, .secrets, .interactive, .control, .cache,
    .jobserver, .memoryLimit,
  ]

  /// Those that say nothing of what does not end by itself.
  static let notOfServices: [TaskKey] = [
    .timeout, .retry, .inputs, .outputs, .cache, .finally, .allowFailure, .onInterrupted,
    .interactive, .jobserver,
  ]

  /// Those that `defaults` may set for all tasks, in the order in which they are offered.
  static let ofDefaults: [TaskKey] = [
    .shell, .dir, .env, .timeout, .retry, .stop, .priority, .resources, .onInterrupted,
  ]
}

enum RetryKey: Int, SchemaKey {
  case max, delay, backoff, maxDelay, jitter, exitCodes

  var name: StaticString {
    switch self {
    case .max: "max"
    case .delay: "delay"
    case .backoff: "backoff"
    case .maxDelay: "max_delay"
    case .jitter: "jitter"
    case .exitCodes: "exit_codes"
    }
  }
}

enum StopKey: Int, SchemaKey {
  case signal, grace

  var name: StaticString {
    switch self {
    case .signal: "signal"
    case .grace: "grace"
    }
  }
}

enum CacheKey: Int, SchemaKey {
  case secrets

  var name: StaticString { "secrets" }
}

enum ServiceKey: Int, SchemaKey {
  case ready, restart, ports

  var name: StaticString {
    switch self {
    case .ready: "ready"
    case .restart: "restart"
    case .ports: "ports"
    }
  }
}

/// What makes a service ready.
enum ReadyKey: Int, SchemaKey {
  case port, http, log, exec, file, timeout, every

  var name: StaticString {
    switch self {
    case .port: "port"
    case .http: "http"
    case .log: "log"
    case .exec: "exec"
    case .file: "file"
    case .timeout: "timeout"
    case .every: "every"
    }
  }

  static let probes: [ReadyKey] = [.port, .http, .log, .exec, .file]
}

enum NeedKey: Int, SchemaKey {
  case task, on

  var name: StaticString {
    switch self {
    case .task: "task"
    case .on: "on"
    }
  }
}

enum IncludeKey: Int, SchemaKey {
  case path, prefix, vars

  /// What has these keys, as mistakes call it.
  static let owner: StaticString = "an item of `include`"

  var name: StaticString {
    switch self {
    case .path: "path"
    case .prefix: "as"
    case .vars: "vars"
    }
  }
}

enum SecretKey: Int, SchemaKey {
  /// What has these keys, as mistakes call it.
  static let owner: StaticString = "a secret"

  case env, file, run

  var name: StaticString {
    switch self {
    case .env: "env"
    case .file: "file"
    case .run: "run"
    }
  }
}

/// Keys of an item of `inputs` that is no path.
enum InputKey: Int, SchemaKey {
  case env, run

  var name: StaticString {
    switch self {
    case .env: "env"
    case .run: "run"
    }
  }
}

enum DownloadKey: Int, SchemaKey {
  case url, mirrors, to, sha256, sha512, size, headers, mode, resume, maxSpeed

  var name: StaticString {
    switch self {
    case .url: "url"
    case .mirrors: "mirrors"
    case .to: "to"
    case .sha256: "sha256"
    case .sha512: "sha512"
    case .size: "size"
    case .headers: "headers"
    case .mode: "mode"
    case .resume: "resume"
    case .maxSpeed: "max_speed"
    }
  }
}

/// Keys of a `matrix` that name no axis.
enum MatrixKey: Int, SchemaKey {
  case rows, exclude, include

  var name: StaticString {
    switch self {
    case .rows: "rows"
    case .exclude: "exclude"
    case .include: "include"
    }
  }
}

/// Keys of an axis, or of `rows`, that is no list.
enum AxisKey: Int, SchemaKey {
  case range, glob, lines, file, after

  var name: StaticString {
    switch self {
    case .range: "range"
    case .glob: "glob"
    case .lines: "lines"
    case .file: "file"
    case .after: "after"
    }
  }

  static let ofAxes: [AxisKey] = [.range, .glob, .lines, .after]
  static let ofRows: [AxisKey] = [.file, .after]
}
