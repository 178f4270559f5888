// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class ToolchainFuzzTest extends ReaderFuzz {
    ToolchainFuzzTest() {
        super(Reader.TOOLCHAIN);
    }
}
