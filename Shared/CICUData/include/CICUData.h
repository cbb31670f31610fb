#ifndef CICUDATA_H
#define CICUDATA_H

/// True if this build links an empty ICU data package in place of the whole one (release builds).
int attribution_icu_data_is_empty(void);

#endif
