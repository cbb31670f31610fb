#ifndef CBUILDINFORMATION_H
#define CBUILDINFORMATION_H

/// The commit that was built, as Package.swift found it; `unknown` where it found none.
const char *attribution_build_commit(void);

#endif
