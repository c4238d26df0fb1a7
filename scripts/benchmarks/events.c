// The lower limit for reading a manifest: parses the file with libyaml and ignores the events.
#include <stdio.h>
#include <yaml.h>

int main(int argc, char **argv) {
  yaml_parser_t parser;
  yaml_event_t event;
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file || !yaml_parser_initialize(&parser)) return 2;
  yaml_parser_set_input_file(&parser, file);
  for (int done = 0; !done; yaml_event_delete(&event)) {
    if (!yaml_parser_parse(&parser, &event)) return 1;
    done = event.type == YAML_STREAM_END_EVENT;
  }
  return 0;
}
