#ifndef CHIREDIS_H
#define CHIREDIS_H
#include <hiredis/hiredis.h>
#include <hiredis/read.h>
#endif
