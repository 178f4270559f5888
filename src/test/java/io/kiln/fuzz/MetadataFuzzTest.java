// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class MetadataFuzzTest extends ReaderFuzz {
    MetadataFuzzTest() {
        super(Reader.METADATA);
    }
}
