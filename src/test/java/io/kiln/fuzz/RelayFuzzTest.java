// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class RelayFuzzTest extends ReaderFuzz {
    RelayFuzzTest() {
        super(Reader.RELAY);
    }
}
