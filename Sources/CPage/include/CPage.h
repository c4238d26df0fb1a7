#pragma once

// The constant parts of the HTML report, from the files in `page`. Each text ends with a zero byte.

/// The page's script without the function around it.
const unsigned char *cpage_script(void);

const unsigned char *cpage_style(void);

/// The section of the time chart, which the script fills.
const unsigned char *cpage_time(void);

/// The sections of the graph and of the table, which the script fills.
const unsigned char *cpage_views(void);
