// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class GraphFuzzTest extends ReaderFuzz {
    GraphFuzzTest() {
        super(Reader.GRAPH);
    }
}
