#ifndef CICUDATA_H
#define CICUDATA_H

/// True if this build links an empty ICU data package instead of the whole one, as release builds do.
int attribution_icu_data_is_empty(void);

#endif
