/** The small languages that code of strangers is held against: C as the preprocessor leaves it, and linker scripts. Pure text; nothing is started here. */
package io.kiln.toolchain.fence;
