// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class ElfFuzzTest extends ReaderFuzz {
    ElfFuzzTest() {
        super(Reader.ELF);
    }
}
