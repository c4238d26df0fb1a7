// The keys of services: their only definition.

enum ServiceKey: Int, SchemaKey {
  case ready, restart, ports

  var name: StaticString {
    switch self {
    case .ready: "ready"
    case .restart: "restart"
    case .ports: "ports"
    }
  }

  var row: KeyRow {
    switch self {
    case .ready:
      KeyRow(
        .map(.ready), standard: "ready as soon as it has started",
        "what tells that it is ready: what needs it starts then",
        example: "ready: { port: 5432, timeout: 2m }")
    case .restart:
      KeyRow(
        .integer(KeyBounds.retries), standard: "0",
        "how often it starts again when it ends by itself after it was ready",
        example: "restart: 2")
    case .ports:
      KeyRow(
        .list(.name(.identifier), mayBeEmpty: false),
        "names of ports: for each a free one is found at every start, of which it and what needs "
          + "it find the number in `OPFLOW_PORT_NAME`",
        example: "ports: [http]\nready: { http: \"http://127.0.0.1:$OPFLOW_PORT_HTTP/\" }")
    }
  }
}

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

  var row: KeyRow {
    switch self {
    case .port:
      KeyRow(
        .either([.integer(KeyBounds.port), .name(.identifier)]),
        "somebody listens on that TCP port of this machine; or on the one of that name of `ports`",
        example: "port: 5432")
    case .http:
      KeyRow(
        .address, "a GET of that URL of this machine is answered by a status of 200 to 399",
        example: "http: http://127.0.0.1:8080/health")
    case .log:
      KeyRow(
        .text, "a line of its output has that in it, a pattern with `*` and `?`",
        example: "log: ready to accept connections")
    case .exec:
      KeyRow(
        .command, "that command ends with exit code 0; it runs in the service's folder",
        example: "exec: [pg_isready, -q]")
    case .file:
      KeyRow(
        .text, "that file is there, made or changed since the start", example: "file: run/pid")
    case .timeout:
      KeyRow(
        .duration, standard: "60s", "how long it may take to be ready",
        example: "port: 5432\ntimeout: 2m")
    case .every:
      KeyRow(
        .duration, standard: "200ms", "from one look to the next", example: "port: 5432\nevery: 1s")
    }
  }
}
