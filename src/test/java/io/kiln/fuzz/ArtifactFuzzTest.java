// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class ArtifactFuzzTest extends ReaderFuzz {
    ArtifactFuzzTest() {
        super(Reader.ARTIFACTS);
    }
}
