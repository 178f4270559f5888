// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class OnnxFuzzTest extends ReaderFuzz {
    OnnxFuzzTest() {
        super(Reader.ONNX);
    }
}
