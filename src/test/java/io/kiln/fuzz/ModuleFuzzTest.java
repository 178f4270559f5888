// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class ModuleFuzzTest extends ReaderFuzz {
    ModuleFuzzTest() {
        super(Reader.MODULES);
    }
}
