/// The example of `opflow init`.
package enum FirstManifest {
  package static let text = """
    # Tasks of this project, in dependency order.
    #
    #   opflow run            all tasks
    #   opflow run test       this task and its dependencies
    #   opflow plan           show the order of tasks, run nothing
    #   opflow resume         continue after a failure, Ctrl-C or a crash
    #   opflow help manifest  list all keys

    tasks:
      build:
        desc: replace this with your build command
        run: |
          echo "building"

      test:
        desc: runs after build has succeeded
        needs: [build]
        timeout: 10m
        run: |
          echo "testing"

      lint:
        desc: runs in parallel with build
        run: |
          echo "checking the style"

    """
}
