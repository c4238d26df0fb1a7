/// Commands about retention, and about opflow itself.
extension CommandRow {
  static var clean: CommandRow {
    CommandRow(
      group: .managing, isCommon: true, words: .nothing,
      flags: [.keep, .olderThan, .showRemoval, .color, .directory, .stateDirectory],
      summary: "Remove old runs and their logs",
      examples: [
        ("opflow clean -n", "Show the runs that would be removed"),
        ("opflow clean --keep 10", "Keep the newest 10 runs of each manifest"),
        ("opflow clean --older-than 30d", "Remove all runs that ended 30 days ago or earlier"),
      ],
      details: """
        By default, opflow keeps the newest runs of each manifest: as many as its `keep_runs`, or 50. The
        end of each run does the same for its manifest. With --older-than, opflow removes only older runs;
        without --keep, it removes all of them.

        opflow never removes live runs and runs that it cannot read. Without --older-than, it keeps a run
        that did not succeed for a week, unless a newer run has the same values and tasks.
        """)
  }

  static var initialize: CommandRow {
    CommandRow(
      group: .managing, isCommon: true, words: .nothing, flags: [.newFile, .directory],
      summary: "Write a first manifest that runs as it is",
      examples: [
        ("opflow init", "Write opflow.yaml"),
        ("opflow init -C docs", "Write docs/opflow.yaml"),
        ("opflow init -f -", "Print the manifest"),
      ],
      details: "opflow does not overwrite a file: if there is one, it exits with 2.")
  }

  static var schema: CommandRow {
    CommandRow(
      group: .managing, words: .nothing,
      summary: "Print the JSON Schema of manifests, for editors",
      examples: [
        ("opflow schema", "Print the schema (draft 7)"),
        ("opflow schema > opflow.schema.json", "Write the schema to a file"),
        ("opflow schema | jq .definitions.task", "Print the part about tasks"),
      ],
      details: """
        An editor with the schema completes keys and values, explains them and marks errors. For
        yaml-language-server, name the schema in the first line of a manifest:

          # yaml-language-server: $schema=opflow.schema.json

        The schema accepts every correct manifest. It cannot find errors that need the whole manifest, such
        as an unknown task under `needs`; `opflow check` finds those, too.
        """)
  }

  static var completion: CommandRow {
    CommandRow(
      group: .managing, words: .shell,
      summary: "Print a script that completes command lines in a shell",
      examples: [
        ("eval \"$(opflow completion bash)\"", "For bash: in ~/.bashrc"),
        ("eval \"$(opflow completion zsh)\"", "For zsh: in ~/.zshrc, after compinit"),
        ("opflow completion fish | source", "For fish: in config.fish"),
      ],
      details: """
        The Tab key then completes commands, flags and their values, manifests, files, tasks, tags and runs.
        The shell asks opflow each time, so the answers are never stale.
        """)
  }

  static var version: CommandRow {
    CommandRow(
      group: .managing, words: .nothing,
      summary: "Print the version of opflow",
      examples: [
        ("opflow version", "Print the version"),
        ("opflow --version", "Do the same"),
        ("opflow -V", "Do the same"),
      ])
  }

  static var help: CommandRow {
    CommandRow(
      group: .managing, isCommon: true, words: .topic, flags: [.all],
      summary: "Explain a command, a flag, a manifest key or a term",
      examples: [
        ("opflow help run -v", "Explain `run` with all its flags"),
        ("opflow help manifest retry", "Explain the manifest key `retry`"),
        ("opflow help --rerun", "Explain a flag"),
      ],
      details: """
        `opflow help control` lists the commands that control a live run, `opflow help manifest` all keys of
        a manifest. WORD can also be a term, such as `session` or `up to date`.
        """)
  }
}
