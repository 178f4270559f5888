// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class ArchiveFuzzTest extends ReaderFuzz {
    ArchiveFuzzTest() {
        super(Reader.ARCHIVE);
    }
}
