// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class TfliteFuzzTest extends ReaderFuzz {
    TfliteFuzzTest() {
        super(Reader.TFLITE);
    }
}
