#ifndef CBUILDINFORMATION_H
#define CBUILDINFORMATION_H

/// The commit of the build, as Package.swift determined it; `unknown` if it found none.
const char *attribution_build_commit(void);

#endif
