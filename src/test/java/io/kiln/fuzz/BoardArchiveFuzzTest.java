// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class BoardArchiveFuzzTest extends ReaderFuzz {
    BoardArchiveFuzzTest() {
        super(Reader.BOARD_ARCHIVE);
    }
}
