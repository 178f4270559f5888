// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class BoardFuzzTest extends ReaderFuzz {
    BoardFuzzTest() {
        super(Reader.BOARD);
    }
}
