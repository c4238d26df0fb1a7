#include "CPage.h"

// The parts are one function: a later one uses the names of those before.
const unsigned char *cpage_script(void) {
  static const unsigned char text[] = {
#embed "page/data.js" suffix(, )
#embed "page/words.js" suffix(, )
#embed "page/detail.js" suffix(, )
#embed "page/time.js" suffix(, )
#embed "page/lanes.js" suffix(, )
#embed "page/use.js" suffix(, )
#embed "page/table.js" suffix(, )
#embed "page/graph.js" suffix(, )
#embed "page/layout.js" suffix(, )
#embed "page/graph-view.js" suffix(, )
#embed "page/start.js" suffix(, )
      0};
  return text;
}

const unsigned char *cpage_style(void) {
  static const unsigned char text[] = {
#embed "page/style.css" suffix(, )
      0};
  return text;
}

const unsigned char *cpage_time(void) {
  static const unsigned char text[] = {
#embed "page/time.html" suffix(, )
      0};
  return text;
}

const unsigned char *cpage_views(void) {
  static const unsigned char text[] = {
#embed "page/views.html" suffix(, )
      0};
  return text;
}
