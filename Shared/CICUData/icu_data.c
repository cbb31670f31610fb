// Yams imports all of Foundation, and Foundation's ICU adds its large locale data (`icudt76_dat`) to each executable. No service formats
// text for a locale. ICU is only used for regular expressions in Yams, and their tables are part of ICU's code. ICU supports an empty data
// package ("stub data"). This file defines one in the format of ICU's common data (unicode/udata.h: UDataInfo, and a table of contents of
// the type "ToCP" without entries). The linker finds this symbol first and leaves out the archive's member.
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

// The number in the name is the version of Foundation's ICU. If a toolchain has another version, the whole data is linked again, which is
// visible in the size of the images.
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
