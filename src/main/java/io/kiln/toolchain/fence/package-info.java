/** The small languages against which untrusted code is checked: preprocessed C, and linker scripts. Pure text processing, starts no process. */
package io.kiln.toolchain.fence;
