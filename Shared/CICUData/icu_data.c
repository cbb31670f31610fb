// Yams imports all of Foundation, and Foundation's ICU brings 34 MB of locale data (`icudt76_dat`) into each executable. No service formats
// text for a locale: what is used of ICU, regular expressions in Yams, works on tables that are part of its code. ICU provides for an empty
// data package ("stub data"); this is one, in the format of ICU's common data (unicode/udata.h, UDataInfo; "CmnD"/"ToCP" table of contents
// with no entries). The linker finds this symbol first and leaves the archive's member out.
#include "CICUData.h"

#include <stdint.h>

#ifdef ATTRIBUTION_EMPTY_ICU_DATA

struct common_data {
  uint16_t header_size;
  uint8_t magic1, magic2;
  struct {
    uint16_t size, reserved;
    uint8_t is_big_endian, charset_family, size_of_uchar, reserved_byte;
    uint8_t data_format[4], format_version[4], data_version[4];
  } information;
  uint8_t padding[8];
  uint32_t entries, reserved[3];
};

// The name's number is that of Foundation's ICU. Where it changes, the whole package is linked again, and the size of the images tells.
__attribute__((aligned(16))) const struct common_data icudt76_dat = {
    .header_size = 32,
    .magic1 = 0xda,
    .magic2 = 0x27,
    .information = {.size = 20,
                    .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                    .size_of_uchar = 2,
                    .data_format = {'T', 'o', 'C', 'P'},
                    .format_version = {1}},
};

int attribution_icu_data_is_empty(void) { return icudt76_dat.entries == 0; }

#else

int attribution_icu_data_is_empty(void) { return 0; }

#endif
